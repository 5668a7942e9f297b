package audit

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"straggler/table"
)

// Pair is the difference between any two runs.
type Pair struct {
	A           RunName      `json:"a"`
	B           RunName      `json:"b"`
	Method      string       `json:"method"`
	Differences []Difference `json:"differences"` // of what both have, largest evidence first
	OnlyA       []string     `json:"stages_only_in_a"`
	OnlyB       []string     `json:"stages_only_in_b"`
	Machines    []string     `json:"machines"` // that are slow or flaky in one of the two
}

// RunName says which run it is.
type RunName struct {
	Group string `json:"application"`
	ID    string `json:"run"`
	Start string `json:"start"`
}

// Difference is one thing compared between two runs.
type Difference struct {
	Rule   string     `json:"rule"`
	Stage  *Signature `json:"stage,omitempty"`
	Cause  string     `json:"cause,omitempty"`
	Unit   string     `json:"unit"`
	A      *float64   `json:"a"`
	B      *float64   `json:"b"`
	Change *float64   `json:"change"`  // fraction of a
	P      *float64   `json:"p_value"` // two-sided, by the variance between tasks; null where tasks say nothing
	Q      *float64   `json:"q_value"`
}

// PairMethod says what a comparison of two runs can and cannot say.
const PairMethod = "differences of lost time and of shares are tested against the variance between tasks (as if the slow tasks were drawn by lot each time), " +
	"false discovery rates are over those tests (Benjamini and Hochberg); how much runs differ anyway cannot be told from two, so the other differences have no test"

// Compare lines up two runs.
func Compare(a, b *Run, cfg *Config) *Pair {
	p := &Pair{A: RunName{a.Group, a.ID, a.Start}, B: RunName{b.Group, b.ID, b.Start}, Method: PairMethod, Differences: []Difference{}, OnlyA: []string{}, OnlyB: []string{}, Machines: []string{}}
	var ps []float64
	var tested []int
	for _, c := range compare(b, []*Run{a}, cfg, func(string, *Run) bool { return false }) {
		was, is := c.rule.of(c.before(a), c.scale), c.rule.of(c.tonight, c.scale)
		d := Difference{Rule: c.rule.Name, Unit: c.rule.Unit, A: number(was.value), B: number(is.value)}
		if was.value > 0 {
			d.Change = number(is.value/was.value - 1)
		}
		if c.stage != nil {
			sig := c.sig
			d.Stage = &sig
		} else {
			d.Cause = c.what
		}
		if was.w < 1 && is.w < 1 && was.value+is.value > 0 {
			x := math.Abs(is.y-was.y) / math.Sqrt(is.w+was.w)
			pv := min(1, 2*distuv.UnitNormal.Survival(x))
			d.P = number(pv)
			ps, tested = append(ps, pv), append(tested, len(p.Differences))
		}
		p.Differences = append(p.Differences, d)
	}
	for i, q := range discoveries(ps) {
		p.Differences[tested[i]].Q = number(q)
	}
	p.missing(a, b)
	slices.SortStableFunc(p.Differences, func(x, y Difference) int { return cmp.Compare(y.strength(), x.strength()) })
	return p
}

// before is what the other run has for the same thing.
func (c *comparison) before(a *Run) Values {
	switch {
	case c.rule.by == perCause:
		return Values{"seconds": a.Causes[c.what]}
	case c.stage != nil:
		return a.stage(c.sig).Values
	}
	return a.Values
}

// strength orders differences: the application before its stages, then by the factor.
func (d *Difference) strength() float64 {
	s := 0.0
	if d.A != nil && d.B != nil && *d.A > 0 && *d.B > 0 {
		s = math.Min(100, math.Abs(math.Log(*d.B / *d.A)))
	} else if d.A != nil && d.B != nil && *d.A != *d.B {
		s = 100
	}
	if d.Stage == nil && d.Cause == "" {
		s += 1000
	}
	return s
}

func (p *Pair) missing(a, b *Run) {
	for i := range a.Stages {
		if b.stage(a.Stages[i].Signature) == nil {
			p.OnlyA = append(p.OnlyA, a.Stages[i].Signature.String())
		}
	}
	for i := range b.Stages {
		if a.stage(b.Stages[i].Signature) == nil {
			p.OnlyB = append(p.OnlyB, b.Stages[i].Signature.String())
		}
	}
	for _, name := range sortedKeys(a.Machines) {
		m := a.Machines[name]
		if _, ok := b.Machines[name]; !ok {
			p.Machines = append(p.Machines, fmt.Sprintf("%s: %s in a only, %.2f × the time of the others", name, m.Verdict, m.Factor))
		} else {
			p.Machines = append(p.Machines, fmt.Sprintf("%s: %s in both, %.2f × and %.2f × the time of the others", name, m.Verdict, m.Factor, b.Machines[name].Factor))
		}
	}
	for _, name := range sortedKeys(b.Machines) {
		if m, ok := b.Machines[name]; ok {
			if _, in := a.Machines[name]; !in {
				p.Machines = append(p.Machines, fmt.Sprintf("%s: %s in b only, %.2f × the time of the others", name, m.Verdict, m.Factor))
			}
		}
	}
}

// Rows gives the differences as a table.
func (p *Pair) Rows() table.Rows {
	t := table.NewFixed("measure", "about", "unit", "a DOUBLE", "b DOUBLE", "change_percent DOUBLE", "false_discovery_rate DOUBLE")
	for i := range p.Differences {
		d := &p.Differences[i]
		t.Add(d.Rule, d.about(), d.Unit, value(d.A), value(d.B), percent(d.Change), value(d.Q))
	}
	return t
}

func (d *Difference) about() string {
	switch {
	case d.Stage != nil:
		return d.Stage.String()
	case d.Cause != "":
		return d.Cause
	}
	return "application"
}

func value(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

func percent(x *float64) any {
	if x == nil {
		return nil
	}
	return math.Round(1000**x) / 10
}

func (r RunName) String() string { return fmt.Sprintf("%s (%s, %s)", r.Group, r.ID, r.Start) }

// PairText writes the differences for a terminal.
func PairText(w io.Writer, p *Pair, width int) error {
	fmt.Fprintf(w, "a  %s\nb  %s\n\n", safe(p.A.String()), safe(p.B.String()))
	if _, err := table.Encodings()[0].Write(w, p.Rows(), table.Options{MaxWidth: width, Terminal: true}); err != nil {
		return err
	}
	return p.rest(w, safe, "\n%s:\n", "  %s\n")
}

// PairMarkdown writes the differences as Markdown.
func PairMarkdown(w io.Writer, p *Pair) error {
	md := func(s string) string { return table.Markdown(safe(s)) }
	fmt.Fprintf(w, "## What differs between two runs\n\n- a: %s\n- b: %s\n\n", md(p.A.String()), md(p.B.String()))
	enc, _ := table.Named("md")
	if _, err := enc.Write(w, p.Rows(), table.Options{}); err != nil {
		return err
	}
	return p.rest(w, md, "\n%s:\n\n", "- %s\n")
}

// rest writes what is no table.
func (p *Pair) rest(w io.Writer, escape func(string) string, head, item string) error {
	out := bufio.NewWriter(w)
	for _, list := range p.lists() {
		if len(list.Lines) > 0 {
			fmt.Fprintf(out, head, list.Title)
			for _, l := range list.Lines {
				fmt.Fprintf(out, item, escape(l))
			}
		}
	}
	fmt.Fprintf(out, "\n%s.\n", p.Method)
	return out.Flush()
}

type pairList struct {
	Title string
	Lines []string
}

func (p *Pair) lists() []pairList {
	return []pairList{{"Machines", p.Machines}, {"Stages of a only", p.OnlyA}, {"Stages of b only", p.OnlyB}}
}

//go:embed pair.html.tmpl
var pairPage string

// PairHTML writes the differences as one page that needs nothing else.
func PairHTML(w io.Writer, p *Pair) error {
	type row struct{ Rule, About, A, B, Change, Q string }
	var rows []row
	for i := range p.Differences {
		d := &p.Differences[i]
		r := row{Rule: d.Rule, About: safe(d.about()), A: figure(d.A, d.Unit), B: figure(d.B, d.Unit)}
		if d.Change != nil {
			r.Change = fmt.Sprintf("%+.1f %%", 100**d.Change)
		}
		if d.Q != nil {
			r.Q = fmt.Sprintf("%.2g", *d.Q)
		}
		rows = append(rows, r)
	}
	t, err := template.New("pair").Parse(pairPage)
	if err != nil {
		return err
	}
	lists := p.lists()
	for i := range lists {
		lists[i].Lines = slices.Clone(lists[i].Lines)
		for k := range lists[i].Lines {
			lists[i].Lines[k] = safe(lists[i].Lines[k])
		}
	}
	return t.Execute(w, map[string]any{"A": safe(p.A.String()), "B": safe(p.B.String()), "Rows": rows, "Lists": lists, "Method": p.Method})
}

// PairJSON writes the differences as one object.
func PairJSON(w io.Writer, p *Pair) error { return encode(w, p) }

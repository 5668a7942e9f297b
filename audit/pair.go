package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"straggler/audit/measure"
	"straggler/stats"
)

// Pair is the difference between any two runs.
type Pair struct {
	A           RunName      `json:"a"`
	B           RunName      `json:"b"`
	Method      string       `json:"method"`
	FDR         float64      `json:"fdr"`         // q-values up to it are called differences that chance does not explain
	Differences []Difference `json:"differences"` // of what both have, largest evidence first
	OnlyA       []string     `json:"stages_only_in_a"`
	OnlyB       []string     `json:"stages_only_in_b"`
	Machines    []string     `json:"machines"`      // that are slow or flaky in one of the two
	Plans       []string     `json:"plans_changed"` // queries that b ran by another plan than a
}

// RunName identifies a run.
type RunName struct {
	Group string `json:"application"`
	ID    string `json:"run"`
	Start string `json:"start"`
}

func (r RunName) String() string { return fmt.Sprintf("%s (%s, %s)", r.Group, r.ID, r.Start) }

// Difference is one measure compared between two runs.
type Difference struct {
	Rule   string             `json:"rule"`
	Stage  *measure.Signature `json:"stage,omitempty"`
	Cause  string             `json:"cause,omitempty"`
	Unit   string             `json:"unit"`
	A      *float64           `json:"a"`
	B      *float64           `json:"b"`
	Change *float64           `json:"change"`  // fraction of a
	P      *float64           `json:"p_value"` // two-sided, by the variance between tasks; null where there is no test
	Q      *float64           `json:"q_value"`
}

// pairMethod explains what a comparison of two runs can and cannot show.
const pairMethod = "Differences of lost time and of shares are tested against the variance between tasks, as if the slow tasks were a random sample each time; " +
	"false discovery rates are over those tests (Benjamini and Hochberg). Two runs do not show how much runs differ anyway, so the other differences have no test"

// Compare compares two runs.
func Compare(a, b *measure.Run, cfg *Config) *Pair {
	p := &Pair{A: RunName{a.Group, a.ID, a.Start}, B: RunName{b.Group, b.ID, b.Start}, Method: pairMethod, FDR: cfg.FDR,
		Differences: []Difference{}, Machines: []string{}, Plans: []string{}}
	matches := measure.Match(b, []*measure.Run{a})
	var ps []float64
	var tested []int
	for _, c := range compare(b, []*measure.Run{a}, matches, cfg, func(string, *measure.Run) bool { return false }) {
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
			pv := min(1, 2*stats.NormalSurvival(x))
			d.P = number(pv)
			ps, tested = append(ps, pv), append(tested, len(p.Differences))
		}
		p.Differences = append(p.Differences, d)
	}
	for i, q := range discoveries(ps) {
		p.Differences[tested[i]].Q = number(q)
	}
	p.missing(a, b)
	for i := range b.Plans {
		if change := planChange(planBefore(&b.Plans[i], []*measure.Run{a}, func(*measure.Run) bool { return false }), &b.Plans[i]); change != "" {
			p.Plans = append(p.Plans, change)
		}
	}
	slices.SortStableFunc(p.Differences, func(x, y Difference) int { return cmp.Compare(y.strength(), x.strength()) })
	return p
}

// before returns the values of the other run.
func (c *comparison) before(a *measure.Run) measure.Values {
	switch {
	case c.rule.By == PerCause:
		return measure.Values{"seconds": a.Causes[c.what]}
	case c.stage != nil:
		return c.matches.Stage(a, c.stage).Values
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

// onlyIn returns the stages of a that b does not have.
func onlyIn(a, b *measure.Run) []string {
	only, matches := []string{}, measure.Match(a, []*measure.Run{b})
	for i := range a.Stages {
		if s := &a.Stages[i]; matches.Stage(b, s) == nil {
			only = append(only, s.Signature.String())
		}
	}
	return only
}

func (p *Pair) missing(a, b *measure.Run) {
	p.OnlyA, p.OnlyB = onlyIn(a, b), onlyIn(b, a)
	for _, name := range sortedKeys(a.Machines) {
		m := a.Machines[name]
		if _, ok := b.Machines[name]; !ok {
			p.Machines = append(p.Machines, fmt.Sprintf("%s: %s in a only, %.2f× the time of the others", name, m.Verdict, m.Factor))
		} else {
			p.Machines = append(p.Machines,
				fmt.Sprintf("%s: %s in both, %.2f× and %.2f× the time of the others", name, m.Verdict, m.Factor, b.Machines[name].Factor))
		}
	}
	for _, name := range sortedKeys(b.Machines) {
		if m, ok := b.Machines[name]; ok {
			if _, in := a.Machines[name]; !in {
				p.Machines = append(p.Machines, fmt.Sprintf("%s: %s in b only, %.2f× the time of the others", name, m.Verdict, m.Factor))
			}
		}
	}
}

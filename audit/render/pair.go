package render

import (
	"bufio"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"

	"straggler/audit"
	"straggler/table"
)

// PairText writes the differences for a terminal.
func PairText(w io.Writer, p *audit.Pair, width int) error {
	fmt.Fprintf(w, "a  %s\nb  %s\n\n", safe(p.A.String()), safe(p.B.String()))
	if _, err := table.Encodings()[0].Write(w, pairRows(p), table.Options{MaxWidth: width, Terminal: true}); err != nil {
		return err
	}
	return writeLists(p, w, safe, "\n%s:\n", "  %s\n")
}

// PairMarkdown writes the differences as Markdown.
func PairMarkdown(w io.Writer, p *audit.Pair) error {
	md := func(s string) string { return table.Markdown(safe(s)) }
	fmt.Fprintf(w, "## What differs between two runs\n\n- a: %s\n- b: %s\n\n", md(p.A.String()), md(p.B.String()))
	enc, _ := table.Named("md")
	if _, err := enc.Write(w, pairRows(p), table.Options{}); err != nil {
		return err
	}
	return writeLists(p, w, md, "\n%s:\n\n", "- %s\n")
}

// rest writes what is no table.
func writeLists(p *audit.Pair, w io.Writer, escape func(string) string, head, item string) error {
	out := bufio.NewWriter(w)
	for _, list := range pairLists(p) {
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

// Rows gives the differences as a table.
func pairRows(p *audit.Pair) table.Rows {
	t := table.NewFixed("measure", "about", "unit", "a DOUBLE", "b DOUBLE", "change_percent DOUBLE", "false_discovery_rate DOUBLE")
	for i := range p.Differences {
		d := &p.Differences[i]
		t.Add(d.Rule, about(d), d.Unit, value(d.A), value(d.B), percent(d.Change), value(d.Q))
	}
	return t
}

// PairHTML writes the differences as one page that needs nothing else.
func PairHTML(w io.Writer, p *audit.Pair) error {
	type row struct{ Rule, About, A, B, Change, Q string }
	var rows []row
	for i := range p.Differences {
		d := &p.Differences[i]
		r := row{Rule: d.Rule, About: safe(about(d)), A: figure(d.A, d.Unit), B: figure(d.B, d.Unit)}
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
	lists := pairLists(p)
	for i := range lists {
		lists[i].Lines = slices.Clone(lists[i].Lines)
		for k := range lists[i].Lines {
			lists[i].Lines[k] = safe(lists[i].Lines[k])
		}
	}
	return t.Execute(w, map[string]any{"A": safe(p.A.String()), "B": safe(p.B.String()), "Rows": rows, "Lists": lists, "Method": p.Method})
}

//go:embed pair.html.tmpl
var pairPage string

// PairJSON writes the differences as one object.
func PairJSON(w io.Writer, p *audit.Pair) error { return encode(w, p) }

func pairLists(p *audit.Pair) []pairList {
	return []pairList{{"Plans that changed", p.Plans}, {"Machines", p.Machines}, {"Stages of a only", p.OnlyA}, {"Stages of b only", p.OnlyB}}
}

type pairList struct {
	Title string
	Lines []string
}

func about(d *audit.Difference) string {
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

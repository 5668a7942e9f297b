package render

import (
	"bufio"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"straggler/audit"
	"straggler/table"
)

// pairLines is the number of differences in a text; Markdown, HTML and JSON have all of them.
const pairLines = 25

// PairText writes the differences for a terminal.
func PairText(w io.Writer, p *audit.Pair, width int) error {
	d := differencesOf(p)
	fmt.Fprintf(w, "a  %s\nb  %s\n\n", safe(p.A.String()), safe(p.B.String()))
	for _, s := range d.sentences(p) {
		fmt.Fprintf(w, "%s\n", safe(s))
	}
	if len(d.rows) > 0 {
		fmt.Fprintln(w)
		if _, err := table.Encodings()[0].Write(w, d.table(pairLines), table.Options{MaxWidth: width, Terminal: true}); err != nil {
			return err
		}
	}
	if more := len(d.rows) - pairLines; more > 0 {
		fmt.Fprintf(w, "… and %s; -o compare.html or --as json has all\n", plural(more, "smaller difference"))
	}
	return writeLists(p, w, safe, "\n%s:\n", "  %s\n")
}

// PairMarkdown writes the differences as Markdown.
func PairMarkdown(w io.Writer, p *audit.Pair) error {
	md := func(s string) string { return table.Markdown(safe(s)) }
	d := differencesOf(p)
	fmt.Fprintf(w, "## What differs between two runs\n\n- a: %s\n- b: %s\n\n", md(p.A.String()), md(p.B.String()))
	for _, s := range d.sentences(p) {
		fmt.Fprintf(w, "%s\n", md(s))
	}
	if len(d.rows) > 0 {
		fmt.Fprintln(w)
		enc, _ := table.Named("md")
		if _, err := enc.Write(w, d.table(len(d.rows)), table.Options{}); err != nil {
			return err
		}
	}
	return writeLists(p, w, md, "\n%s:\n\n", "- %s\n")
}

// writeLists writes everything but the table.
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

// differences are the measures that differ by more than the last digit shown.
type differences struct {
	rows           []pairRow
	same, unknown  int // measures that do not differ; that a log, or both, do not say
	tested, beyond int // by chance between tasks; larger than that explains
}

type pairRow struct{ Rule, About, A, B, Change, Q string }

func differencesOf(p *audit.Pair) differences {
	var out differences
	for i := range p.Differences {
		d := &p.Differences[i]
		r := pairRow{Rule: d.Rule, About: safe(about(d)), A: figure(d.A, d.Unit), B: figure(d.B, d.Unit)}
		if d.Q != nil {
			out.tested++
			r.Q = fmt.Sprintf("%.2g", *d.Q)
			if *d.Q <= p.FDR {
				out.beyond++
			}
		}
		switch {
		case d.A == nil || d.B == nil:
			out.unknown++
			continue
		case r.A == r.B:
			out.same++
			continue
		}
		if d.Change != nil {
			r.Change = percentWords(*d.Change)
		}
		out.rows = append(out.rows, r)
	}
	return out
}

func percentWords(change float64) string { return signed("%+.1f %%", 100*change) }

// sentences returns the summary, most important first.
func (d *differences) sentences(p *audit.Pair) (out []string) {
	for i := range p.Differences {
		x := &p.Differences[i]
		if x.Stage != nil || x.Cause != "" {
			continue
		}
		words := map[string]string{"run_time": "The run took", "lost_time": "Slow tasks took, beyond the medians of their stages,"}[x.Rule]
		switch {
		case words == "":
			continue
		case x.A == nil || x.B == nil:
			out = append(out, fmt.Sprintf("%s %s in a and %s in b.", words, figure(x.A, x.Unit), figure(x.B, x.Unit)))
		case figure(x.A, x.Unit) == figure(x.B, x.Unit):
			out = append(out, fmt.Sprintf("%s %s in both.", words, figure(x.A, x.Unit)))
		case x.Change == nil:
			out = append(out, fmt.Sprintf("%s %s in a and %s in b.", words, figure(x.A, x.Unit), figure(x.B, x.Unit)))
		default:
			out = append(out, fmt.Sprintf("%s %s in a and %s in b (%s).", words, figure(x.A, x.Unit), figure(x.B, x.Unit), percentWords(*x.Change)))
		}
	}
	line := plural(len(d.rows), "measure") + " differ"
	if len(d.rows) == 1 {
		line = "1 measure differs"
	}
	if d.same > 0 {
		line += fmt.Sprintf(", %d are the same", d.same)
	}
	if d.unknown > 0 {
		line += fmt.Sprintf(", of %d a log does not say enough", d.unknown)
	}
	if d.tested > 0 {
		line += fmt.Sprintf("; of %d that are tested, %d differ by more than chance between tasks explains", d.tested, d.beyond)
	}
	return append(out, line+".")
}

// table returns the first of the differences.
func (d *differences) table(most int) table.Rows {
	t := table.NewFixed("measure", "of", "a", "b", "change", "false_discovery_rate")
	for _, r := range d.rows[:min(most, len(d.rows))] {
		t.Add(r.Rule, r.About, r.A, r.B, r.Change, r.Q)
	}
	return t
}

// PairHTML writes the differences as one page that loads nothing else.
func PairHTML(w io.Writer, p *audit.Pair) error {
	d := differencesOf(p)
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
	sentences := d.sentences(p)
	for i := range sentences {
		sentences[i] = safe(sentences[i])
	}
	return t.Execute(w, map[string]any{"A": safe(p.A.String()), "B": safe(p.B.String()), "Sentences": sentences, "Rows": d.rows,
		"Lists": lists, "Method": p.Method})
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

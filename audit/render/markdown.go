package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"straggler/audit"
	"straggler/table"
)

// Markdown writes the night for a step summary or a merge request.
func Markdown(w io.Writer, n *audit.Night) error {
	out := bufio.NewWriter(w)
	md := func(s string) string { return table.Markdown(safe(s)) }
	fmt.Fprintf(out, "## straggler audit of %s: %s\n\n", n.Date, md(verdictOf(n)))
	for i := range n.Runs {
		j := &n.Runs[i]
		fmt.Fprintf(out, "### %s\n\n%s: %s.\n\n", md(j.Group), md(j.Run), md(judgedBy(j)))
		for _, line := range against(j.Slowness) {
			fmt.Fprintf(out, "%s\n\n", md(line))
		}
		if len(j.Findings) > 0 {
			out.WriteString("| severity | status | finding | tonight | normal | change | likely cause | first seen |\n|---|---|---|---:|---:|---:|---|---|\n")
		}
		for k := range j.Findings {
			f := &j.Findings[k]
			what := f.Rule + ": " + f.Subject()
			if f.Detail != "" {
				what += ": " + f.Detail
			}
			change := ""
			if f.Change != nil {
				change = fmt.Sprintf("%+.0f %%", 100**f.Change)
			}
			value, normal := "", ""
			if f.Value != nil {
				value, normal = figure(f.Value, f.Unit), figure(f.Normal, f.Unit)
			}
			fmt.Fprintf(out, "| %s | %s | %s (%s) | %s | %s | %s | %s | %s |\n", f.Severity, f.Status, md(what), f.ID, value,
				normal, change, md(f.Likely), md(f.First))
		}
		if len(j.Findings) > 0 {
			out.WriteString("\n")
		}
		evidence(out, j, md)
		for _, list := range []struct {
			what  string
			names []string
		}{{"New stages", j.NewStages}, {"Stages that are gone", j.GoneStages}} {
			if len(list.names) > 0 {
				shown := list.names[:min(len(list.names), 10)]
				fmt.Fprintf(out, "%s (%d): %s\n\n", list.what, len(list.names), md(strings.Join(shown, "; ")))
			}
		}
	}
	for _, d := range n.Accepted {
		fmt.Fprintf(out, "Accepted %s: %s\n\n", md(d.ID), md(d.Subject))
	}
	for _, e := range n.Expired {
		fmt.Fprintf(out, "A suppression has expired: %s\n\n", md(e))
	}
	fmt.Fprintf(out, "False discovery rate %g. How it is judged: %s.\n", n.FDR, n.Method)
	return out.Flush()
}

// evidence writes the figures of each finding as a collapsed section under its title.
func evidence(out *bufio.Writer, j *audit.Judgement, md func(string) string) {
	for k := range j.Findings {
		f := &j.Findings[k]
		if f.Status == audit.Fixed || f.SQL == "" {
			continue
		}
		fmt.Fprintf(out, "<details><summary>%s</summary>\n\n", md(title(f)))
		for _, e := range evidenceOf(f) {
			fmt.Fprintf(out, "- %s\n", md(e))
		}
		fmt.Fprintf(out, "\n```sql\n%s\n```\n\n</details>\n\n", f.SQL) // built from constants and integers
	}
}

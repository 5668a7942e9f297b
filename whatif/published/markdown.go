package published

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Markdown writes a run with a table for each paper.
func Markdown(w io.Writer, rows []Row) error {
	b := bufio.NewWriter(w)
	s := newSheet(rows, nil)
	fmt.Fprintf(b, "# The papers' numbers, rebuilt\n\n%s %s\n", s.Verdict, s.Rest)
	fmt.Fprintln(b)
	for _, v := range s.Verdicts {
		fmt.Fprintf(b, "- %s: %s\n", v.Verdict, v.Text)
	}
	if len(s.Lost) > 0 {
		fmt.Fprint(b, "\nMet before, and not any more:\n\n")
		for _, l := range s.Lost {
			fmt.Fprintf(b, "- %s\n", l)
		}
	}
	for _, p := range s.Papers {
		t := p.Tally
		fmt.Fprintf(b, "\n## %s\n\n%s. %d met, %d missed, %d inside our band, %d in a wide one, %d inconclusive, %d outside, %d baselines, "+
			"%d not tried.\n",
			p.Name, p.Title, t.Met, t.Missed, t.Inside, t.Wide, t.Inconclusive, t.Outside, t.Baselines, t.NotTried)
		for _, g := range p.Groups {
			fmt.Fprintf(b, "\n### %s\n\n%s\n\n| section | quantity | published | ours | ± | doing nothing | without the rule | verdict | seconds | note |\n|---|---|--:|--:|--:|--:|--:|---|--:|---|\n", g.Title, g.About)
			for _, r := range g.Rows {
				note := r.Note
				for _, n := range r.Assumptions {
					note = strings.TrimSpace(fmt.Sprintf("%s (%d)", note, n))
				}
				fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", cell(r.Section), cell(r.Quantity), r.Published, r.Ours, r.Tolerance, r.NoAction, r.WithoutRule, r.Verdict, r.Seconds, cell(note))
			}
		}
		for n, text := range p.Assumptions {
			fmt.Fprintf(b, "\n(%d) %s\n", n+1, text)
		}
	}
	return b.Flush()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

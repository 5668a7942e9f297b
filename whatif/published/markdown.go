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
	if len(s.Lost) > 0 {
		fmt.Fprint(b, "\nMet before, and not any more:\n\n")
		for _, l := range s.Lost {
			fmt.Fprintf(b, "- %s\n", l)
		}
	}
	for _, p := range s.Papers {
		t := p.Tally
		fmt.Fprintf(b, "\n## %s\n\n%s. %d met, %d missed, %d inside a band, %d in a wide one, %d in one that does not tell, %d outside, %d baselines, "+
			"%d not tried.\n",
			p.Name, p.Title, t.Met, t.Missed, t.Inside, t.Wide, t.Untold, t.Outside, t.Baselines, t.NotTried)
		for _, g := range p.Groups {
			fmt.Fprintf(b, "\n### %s\n\n%s\n\n| section | quantity | published | ours | ± | doing nothing | without the rule | verdict | seconds | note |\n|---|---|--:|--:|--:|--:|--:|---|--:|---|\n", g.Title, g.About)
			for _, r := range g.Rows {
				note := r.Note
				if r.Numbered > 0 {
					note = strings.TrimSpace(fmt.Sprintf("%s (%d)", note, r.Numbered))
				}
				fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", cell(r.Section), cell(r.Quantity), r.Published, r.Ours, r.Tolerance, r.NoAction, r.WithoutRule, r.Verdict, r.Seconds, cell(note))
			}
		}
		for n, note := range p.Notes {
			fmt.Fprintf(b, "\n(%d) %s\n", n+1, note)
		}
	}
	return b.Flush()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

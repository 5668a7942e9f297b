package serve

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"time"

	"straggler/audit"
	"straggler/audit/baseline"
	"straggler/report/prose"
)

// auditPage says what got worse in the latest run of each program than in its earlier runs in the store.
func (s *Server) auditPage(w http.ResponseWriter, r *http.Request) {
	s.write(w, r, page{Title: "Audit", Here: "/audit"}, func(ctx context.Context, w io.Writer) error {
		fmt.Fprint(w, "<h1 class=\"title\">What got worse</h1>")
		runs, current, err := s.c.Runs(ctx)
		if err != nil {
			return err
		}
		writeAge(w, current)
		night, err := audit.Judge(runs, &baseline.Baseline{}, audit.DefaultConfig(), audit.Options{Now: time.Now()})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "<p class=\"lead\">The latest run of each program is compared with its earlier runs in this store, of which a judgement needs %d; straggler audit does the same with a baseline that a team keeps. Method: %s.</p>",
			night.MinRuns, template.HTMLEscapeString(night.Method))
		l := &listing{ID: "programs", Caption: "Programs, as their latest runs were judged", Empty: "There is no finished run.", Columns: []column{{Title: "Program"}, {Title: "Latest run"}, {Title: "Compared with", Doc: "earlier runs", Number: true}, {Title: "Findings", Number: true}}}
		f := &listing{ID: "findings", Caption: "Findings, over all programs", Empty: "Nothing got worse by more than runs differ anyway, as far as can be told from the runs in this store.",
			Columns: []column{{Title: "Program"}, {Title: "What"}, {Title: "Where"}, {Title: "Was", Number: true}, {Title: "Is", Number: true}, {Title: "Change", Number: true}, {Title: "q", Doc: "false discovery rate", Number: true}, {Title: "Status"}}}
		count := map[string]int64{}
		for _, x := range night.Findings() {
			count[x.Group]++
			if len(f.Rows) == mostChoices {
				continue
			}
			where := prose.Clean(x.Machine, prose.NameRunes)
			if x.Stage != nil {
				where = prose.Clean(x.Stage.String(), prose.NameRunes)
			}
			value := func(v *float64) cell {
				return figure(nullOf(v), func(n float64) string { return prose.Clean(fmt.Sprintf("%.4g %s", n, x.Unit), 40) }, "there was none")
			}
			f.Rows = append(f.Rows, []cell{{Text: prose.Name(x.Group)}, {Text: x.Rule}, {Text: where, Sub: prose.Clean(x.Cause, 40)}, value(x.Normal), value(x.Value), figure(nullOf(x.Change), prose.Percent, "it was 0"),
				figure(nullOf(x.Q), func(n float64) string { return fmt.Sprintf("%.2g", n) }, "there is no test"), {Text: string(x.Status)}})
		}
		for _, j := range night.Runs {
			if len(l.Rows) < mostChoices {
				l.Rows = append(l.Rows, []cell{{Text: prose.Name(j.Group)}, {Text: prose.Name(j.Run), Sub: prose.Clean(j.Start, 40)}, {Text: prose.Count(int64(j.History))}, {Text: prose.Count(count[j.Group])}})
			}
		}
		f.label()
		l.label()
		if err := writeSection(w, "findings", "Findings", f); err != nil {
			return err
		}
		return writeSection(w, "programs", "Programs", l)
	})
}

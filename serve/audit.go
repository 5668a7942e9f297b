package serve

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"straggler/audit"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
	"straggler/serve/catalog"
)

// auditPage shows what got worse in the latest run of each program compared with its earlier runs in the store, and the
// findings of each night.
func (s *Server) auditPage(w http.ResponseWriter, r *http.Request) {
	s.write(w, r, page{Title: "Audit", Here: "/audit"}, func(ctx context.Context, w io.Writer) error {
		writeTitle(w, "What got worse")
		night, current, err := s.c.Night(ctx)
		if errors.Is(err, catalog.ErrBuilding) {
			_, err = fmt.Fprint(w, "<p class=\"trust weak\">The runs are compared when outliers and causes of their logs have been found.</p>")
			return err
		}
		if err != nil {
			return err
		}
		writeAge(w, current)
		writeLead(w, fmt.Sprintf("The latest run of each program is compared with its earlier runs in this store, of which at least %d are needed; straggler audit does the same with a baseline file that a team keeps.", night.MinRuns))
		fmt.Fprintf(w, "<details><summary>Method</summary><p>%s.</p></details>", template.HTMLEscapeString(prose.Upper(night.Method)))
		if err := s.writeNight(w, night, "latest runs"); err != nil {
			return err
		}
		return s.writeNights(ctx, w)
	})
}

// writeNight lists the findings of an audit and the runs that it judged.
func (s *Server) writeNight(w io.Writer, night *audit.Night, judged string) error {
	l := &listing{ID: "programs", Caption: "Programs, as their " + judged + " were judged", Empty: "There is no finished run.", Columns: []column{
		{Title: "Program"}, {Title: "Run"},
		{Title: "Compared with", Doc: "earlier runs", Number: true},
		{Title: "Findings", Number: true},
	}}
	f := newFindings()
	runs := s.runAddresses()
	count := map[string]int64{}
	for _, x := range night.Findings() {
		count[x.Group]++
		if len(f.Rows) == mostChoices {
			continue
		}
		f.Rows = append(f.Rows, findingRow(&x, runs[x.Run]))
	}
	if len(night.Runs) > 0 && !slices.ContainsFunc(night.Runs, func(j audit.Judgement) bool { return j.History >= night.MinRuns }) {
		f.Empty = fmt.Sprintf("There is nothing to compare with yet: no program has %d earlier runs in this store.", night.MinRuns)
	}
	for _, j := range night.Runs {
		if len(l.Rows) < mostChoices {
			l.Rows = append(l.Rows, []cell{{Text: prose.Name(j.Group)},
				{Text: prose.Name(j.Run), Href: runs[j.Run], Sub: prose.Clean(startOf(&j), 40)},
				{Text: prose.Count(int64(j.History))}, {Text: prose.Count(count[j.Group])}})
		}
	}
	f.label()
	l.label()
	if err := writeSection(w, "findings", "Findings", f); err != nil {
		return err
	}
	return writeSection(w, "programs", "Programs", l)
}

// startOf returns when a run started, as shown on pages.
func startOf(j *audit.Judgement) string {
	at, err := time.Parse(time.RFC3339, j.Start)
	if err != nil {
		return j.Start
	}
	return prose.Instant(schema.Time(at.UnixMicro()), "epoch")
}

// runAddresses maps the framework's id of each application to the address of its page, or of the list of the applications that
// share the id.
func (s *Server) runAddresses() map[string]string {
	apps, _ := s.c.Applications()
	out := make(map[string]string, len(apps))
	for i := range apps {
		if id := apps[i].NativeID; out[id] == "" {
			out[id] = applicationAddress(apps[i].ApplicationID)
		} else {
			out[id] = historyAddress(id)
		}
	}
	return out
}

// newFindings returns an empty list of findings.
func newFindings() *listing {
	return &listing{ID: "findings", Caption: "Findings, over all programs",
		Empty: "Nothing got worse by more than runs differ anyway, as far as can be told from the runs in this store.",
		Columns: []column{
			{Title: "Program"},
			{Title: "What", Doc: "with the query that shows what is behind it"},
			{Title: "Where"}, {Title: "Was", Number: true}, {Title: "Is", Number: true}, {Title: "Change", Number: true},
			{Title: "q", Doc: "false discovery rate", Number: true},
			{Title: "Status"},
		}}
}

func findingRow(x *audit.Finding, run string) []cell {
	where := cell{Text: prose.Clean(x.Machine, prose.NameRunes), Sub: prose.Clean(x.Cause, 40)}
	if x.Rack != "" {
		where.Text = "rack " + prose.Clean(x.Rack, prose.NameRunes)
	}
	if x.Shared {
		where.Text = "nearly all machines"
	}
	if x.Machine != "" {
		where.Href = address(view.Ref{Kind: view.ToMachine, Name: x.Machine})
	}
	if x.Stage != nil {
		where.Text, where.Href = prose.Clean(x.Stage.String(), prose.NameRunes), ""
	}
	value := func(v *float64) cell {
		return figure(nullOf(v), func(n float64) string { return prose.Measured(n, x.Unit) }, "there was none")
	}
	what := cell{Text: strings.ReplaceAll(x.Rule, "_", " "), Sub: prose.Clean(x.Detail, prose.TextRunes)}
	if x.SQL != "" {
		what.Href = newQuery("finding", x.SQL).Run
	}
	status := cell{Text: string(x.Status)}
	if x.First != "" && x.Status != audit.New {
		status.Sub = "since " + prose.Clean(x.First, len(time.DateOnly))
	}
	return []cell{{Text: prose.Name(x.Group), Href: run}, what, where, value(x.Normal), value(x.Value), figure(nullOf(x.Change), prose.Percent, "it was 0"),
		figure(nullOf(x.Q), func(n float64) string { return fmt.Sprintf("%.2g", n) }, "there is no test"), status}
}

// writeMachineFindings lists the audit's findings about a machine. It writes nothing if there are none.
func (s *Server) writeMachineFindings(ctx context.Context, w io.Writer, name string) error {
	night, current, err := catalog.Soon(ctx, s.c.Night)
	if errors.Is(err, catalog.ErrBuilding) {
		_, err = fmt.Fprint(w, "<p class=\"trust weak\">What the audit found of it is still being added up.</p>")
		return err
	}
	if err != nil {
		return err
	}
	f, runs := newFindings(), s.runAddresses()
	f.Caption = "Findings about it in the latest run of each program"
	for _, x := range night.Findings() {
		if x.Machine == name && len(f.Rows) < mostChoices {
			f.Rows = append(f.Rows, findingRow(&x, runs[x.Run]))
		}
	}
	if len(f.Rows) == 0 {
		return nil
	}
	f.label()
	writeAge(w, current)
	return writeSection(w, "findings", "What the audit found", f)
}

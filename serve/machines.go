package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"straggler/engine/sqltext"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
	"straggler/serve/catalog"
)

// machinesPage compares the machines over all applications.
func (s *Server) machinesPage(w http.ResponseWriter, r *http.Request) {
	s.write(w, r, page{Title: "Machines", Here: "/machines"}, func(ctx context.Context, w io.Writer) error {
		d, current, err := s.c.Overview(ctx)
		if err != nil {
			return err
		}
		for _, section := range view.Sections(d) {
			if section.ID == "health" {
				writeTitle(w, "Machines over all applications")
				writeAge(w, current)
				if err := s.writeHistory(ctx, w); err != nil {
					return err
				}
				return sections(w, section)
			}
		}
		writeTitle(w, "Machines")
		return writeLead(w, d.Machines.List.Note)
	})
}

type windowRow struct {
	WindowStart schema.Time          `col:"window_start"`
	WindowEnd   schema.Time          `col:"window_end"`
	Attempts    int64                `col:"attempts"`
	Phases      int64                `col:"phases"`
	Factor      schema.Null[float64] `col:"factor"`
	FactorLow   schema.Null[float64] `col:"factor_low"`
	FactorHigh  schema.Null[float64] `col:"factor_high"`
	OutlierRate schema.Null[float64] `col:"outlier_rate"`
	Losses      int64                `col:"losses"`
	Verdict     string               `col:"verdict"`
	Note        schema.Null[string]  `col:"note"`
}

// machinePage shows the windows of a machine and its outliers.
func (s *Server) machinePage(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	title := "Machine " + prose.Name(name)
	s.write(w, r, page{Title: title, Here: "/machines", Crumbs: []link{{"Machines", "/machines"}}}, func(ctx context.Context, w io.Writer) error {
		writeTitle(w, title)
		sql := sqlNamed("machine_windows", name)
		windows, err := catalog.Read[windowRow](ctx, s.c, sql)
		if err != nil {
			return err
		}
		l := &listing{ID: "windows", Caption: "Its health by window of time", Empty: "The store judges no machine of this name.", Query: newQuery("list", sql),
			Columns: []column{{Title: "Window"}, {Title: "Verdict"},
				{Title: "Factor", Doc: "time relative to prediction: 1 = like the others", Number: true}, {Title: "95 % interval", Number: true},
				{Title: "Attempts", Number: true}, {Title: "Phases", Number: true},
				{Title: "Outliers", Doc: "share of its attempts", Number: true}, {Title: "Outputs lost", Number: true}, {Title: "Why"}}}
		for _, h := range windows {
			l.Rows = append(l.Rows, []cell{{Text: prose.Instant(h.WindowStart, "epoch"), Sub: "for " +
				prose.Seconds(h.WindowEnd.Sub(h.WindowStart))}, {Text: h.Verdict}, figure(h.Factor, prose.Times, "too few attempts to say"),
				{Text: prose.Interval(h.FactorLow, h.FactorHigh, prose.Times)}, {Text: prose.Count(h.Attempts)},
				{Text: prose.Count(h.Phases)}, figure(h.OutlierRate, prose.Percent, "not counted"), {Text: prose.Count(h.Losses)},
				{Text: prose.Clean(h.Note.V, prose.TextRunes)}})
		}
		l.finish(r, order{}, 0)
		if err := s.writeMachineHistory(ctx, w, r, name); err != nil {
			return err
		}
		if err := writeSection(w, "windows", "Health", l); err != nil {
			return err
		}
		if err := s.writeMachineFindings(ctx, w, name); err != nil {
			return err
		}
		slow := attemptRows(0)
		slow.id, slow.title, slow.caption, slow.empty = "slow", "Its outliers", "Outliers on this machine", "No attempt on it is an outlier."
		slow.first, slow.sql = "excess_s", sqlNamed("machine_attempts", name)
		if worst, current, err := catalog.Soon(ctx, s.worst); err == nil {
			if slow.kept = worst.page(name); slow.kept != nil {
				writeAge(w, current)
			}
		}
		return writeRows(ctx, s, w, r, slow)
	})
}

// worstOutliers maps the names of machines to the first page of their outliers.
type worstOutliers map[string][]attemptRow

// mostWorst bounds worstOutliers to about 20 MB. With so many machines that whole pages would exceed it, fewer outliers of each
// are kept, and a machine that has more is queried when its page is requested.
const mostWorst = 50_000

// page returns the first page of a machine's outliers, or nil if not all of it is known.
func (w worstOutliers) page(name string) []attemptRow {
	if rows := w[name]; len(rows) > 0 && (len(rows) == pageRows || int64(len(rows)) == rows[0].Total) {
		return rows
	}
	return nil
}

// outliersByMachine reads the outliers of all machines at once, since scanning all attempts for one machine takes as long.
func (s *Server) outliersByMachine(ctx context.Context) (worstOutliers, error) {
	machines, err := catalog.Read[struct {
		N int64 `col:"n"`
	}](ctx, s.c, "SELECT count(DISTINCT machine) AS n FROM machine_health")
	if err != nil {
		return nil, err
	}
	most := min(pageRows, mostWorst/max(1, machines[0].N))
	w := worstOutliers{}
	err = catalog.Each(ctx, s.c, strings.ReplaceAll(sqlOf("machines_worst", 0), "{most}", strconv.FormatInt(most, 10)), func(r *attemptRow) error {
		w[r.Machine.V] = append(w[r.Machine.V], *r)
		return nil
	})
	return w, err
}

// sqlNamed returns the query in a file, with {name} replaced by a name from a log.
func sqlNamed(file, name string) string {
	return strings.ReplaceAll(sqlOf(file, 0), "{name}", printableText(name))
}

// printableText returns an SQL expression for a text. It can be shown and copied: runes that a browser does not display, or
// that would change the display of others, are written as their numbers.
func printableText(s string) string {
	var parts []string
	plain := ""
	flush := func() {
		if plain != "" {
			parts, plain = append(parts, sqltext.DuckDB.QuoteText(plain)), ""
		}
	}
	for _, r := range s {
		if prose.Clean(string(r), 1) == string(r) {
			plain += string(r)
			continue
		}
		flush()
		parts = append(parts, fmt.Sprintf("chr(%d)", r))
	}
	if flush(); len(parts) == 0 {
		return "''"
	}
	return strings.Join(parts, " || ")
}

package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"

	"straggler/engine"
	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
	"straggler/serve/catalog"
	"straggler/table"
)

// rowList is a paged list of all rows of one kind that belong to an application, a job or a phase, whose document shows only the
// worst of them.
type rowList[R counted] struct {
	id, title, caption, empty string
	columns                   []column // By is a column of the query
	first                     string   // what they are sorted by at first, falling
	sql                       string   // without its order
	kept                      []R      // the first page as it is sorted at first, where it is known without asking
	row                       func(R) []cell
}

// counted is a row that contains the number of all rows of its query.
type counted interface{ count() int64 }

// writeRows writes the requested page of a list.
func writeRows[R counted](ctx context.Context, s *Server, w io.Writer, r *http.Request, list rowList[R]) error {
	l := &listing{ID: list.id, Caption: list.caption, Columns: slices.Clone(list.columns), Empty: list.empty}
	o := orderOf(r, l.Columns, list.first, true)
	all := list.sql + "\nORDER BY " + o.By + map[bool]string{true: " DESC", false: ""}[o.Falling] + " NULLS LAST, id"
	rows := list.kept
	if rows == nil || o != (order{By: list.first, Falling: true}) {
		var err error
		if rows, err = catalog.Read[R](ctx, s.c, fmt.Sprintf("%s\nLIMIT %d OFFSET %d", all, pageRows, o.From)); err != nil {
			return err
		}
	}
	total := 0
	for _, row := range rows {
		total = int(row.count())
		l.Rows = append(l.Rows, list.row(row))
	}
	l.Query = newQuery("list", all)
	l.finish(r, o, total)
	return writeSection(w, list.id, list.title, l)
}

// writeSection writes a list under a heading.
func writeSection(w io.Writer, id, title string, l *listing) error {
	fmt.Fprintf(w, "<section aria-labelledby=\"%s-title\"><h2 id=\"%[1]s-title\">%s</h2>", id, title) // both are our own
	if err := l.write(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "</section>")
	return err
}

type jobRow struct {
	Total    int64                `col:"total"`
	ID       schema.Key           `col:"id"`
	NativeID string               `col:"native_id"`
	Name     schema.Null[string]  `col:"name"`
	Status   string               `col:"status"`
	TookS    schema.Null[float64] `col:"took_s"`
	Phases   schema.Null[int64]   `col:"phases"`
	LostS    schema.Null[float64] `col:"lost_s"`
	Outliers schema.Null[int64]   `col:"outliers"`
}

func (r jobRow) count() int64 { return r.Total }

// jobRows lists the jobs that satisfy a condition on j.
func jobRows(condition string) rowList[jobRow] {
	return rowList[jobRow]{id: "all-jobs", title: "All its jobs", caption: "Jobs", empty: "It has no jobs.", first: "took_s",
		sql: sqlOf("jobs", 0) + "\nWHERE " + condition,
		columns: []column{{Title: "Job", By: "id"}, {Title: "Name", By: "name"},
			{Title: "Took", Doc: "submission to finish", By: "took_s", Number: true, Falling: true},
			{Title: "Phases", Doc: "that ran", By: "phases", Number: true, Falling: true},
			{Title: "Phases lost", Doc: "sum of what its phases lost; the job lost at most that", By: "lost_s", Number: true, Falling: true},
			{Title: "Outliers", By: "outliers", Number: true, Falling: true}, {Title: "Ended", By: "status"}},
		row: func(r jobRow) []cell {
			return []cell{{Text: prose.Upper(report.JobTitle(r.NativeID)), Href: address(view.Ref{Kind: view.ToJob, Key: r.ID})},
				{Text: prose.MaybeName(r.Name)},
				figure(r.TookS, prose.Seconds, "the log does not say"), number(r.Phases, "no phase ran"),
				figure(r.LostS, prose.Seconds, "too few tasks"), number(r.Outliers, "no phase was judged"), {Text: r.Status}}
		}}
}

type queryRow struct {
	Total    int64                `col:"total"`
	ID       schema.Key           `col:"id"`
	NativeID string               `col:"native_id"`
	Name     schema.Null[string]  `col:"name"`
	Status   string               `col:"status"`
	TookS    schema.Null[float64] `col:"took_s"`
	Jobs     schema.Null[int64]   `col:"jobs"`
	LostS    schema.Null[float64] `col:"lost_s"`
	Outliers schema.Null[int64]   `col:"outliers"`
}

func (r queryRow) count() int64 { return r.Total }

// queryRows lists the queries of an application.
func queryRows(app schema.Key) rowList[queryRow] {
	return rowList[queryRow]{id: "all-queries", title: "All its queries", caption: "Queries", empty: "It has no queries.",
		first: "took_s", sql: sqlOf("queries_of_application", app),
		columns: []column{{Title: "Query", By: "id"}, {Title: "Name", By: "name"},
			{Title: "Took", By: "took_s", Number: true, Falling: true}, {Title: "Jobs", By: "jobs", Number: true, Falling: true},
			{Title: "Phases lost", Doc: "sum of what the phases of its jobs lost; the query lost at most that", By: "lost_s",
				Number: true, Falling: true}, {Title: "Outliers", By: "outliers", Number: true, Falling: true}, {Title: "Ended", By: "status"}},
		row: func(r queryRow) []cell {
			return []cell{{Text: "Query " + prose.Clean(r.NativeID, 24), Href: address(view.Ref{Kind: view.ToQuery, Key: r.ID})},
				{Text: prose.MaybeName(r.Name)}, figure(r.TookS, prose.Seconds, "the log does not say"),
				number(r.Jobs, "it ran none"), figure(r.LostS, prose.Seconds, "too few tasks"), number(r.Outliers, "no phase was judged"), {Text: r.Status}}
		}}
}

type phaseRow struct {
	Total    int64                `col:"total"`
	ID       schema.Key           `col:"id"`
	NativeID string               `col:"native_id"`
	Attempt  int32                `col:"attempt"`
	Name     schema.Null[string]  `col:"name"`
	Status   string               `col:"status"`
	TookS    schema.Null[float64] `col:"took_s"`
	Tasks    schema.Null[int64]   `col:"tasks"`
	MedianS  schema.Null[float64] `col:"median_s"`
	MaxS     schema.Null[float64] `col:"max_s"`
	LostS    schema.Null[float64] `col:"lost_s"`
	Outliers schema.Null[int64]   `col:"outliers"`
}

func (r phaseRow) count() int64 { return r.Total }

// phaseRows lists the phases of a job.
func phaseRows(job schema.Key) rowList[phaseRow] {
	return rowList[phaseRow]{id: "all-phases", title: "All its phases", caption: "Phases", empty: "It has no phases.",
		first: "lost_s", sql: sqlOf("phases_of_job", job),
		columns: []column{{Title: "Phase", By: "id"}, {Title: "Name", By: "name"},
			{Title: "Took", By: "took_s", Number: true, Falling: true}, {Title: "Tasks", By: "tasks", Number: true, Falling: true},
			{Title: "Median", By: "median_s", Number: true, Falling: true}, {Title: "Slowest", By: "max_s", Number: true, Falling: true},
			{Title: "Lost", Doc: "how much earlier it would have ended had no task taken longer than the median", By: "lost_s",
				Number: true, Falling: true}, {Title: "Outliers", By: "outliers", Number: true, Falling: true},
			{Title: "Ended", By: "status"}},
		row: func(r phaseRow) []cell {
			return []cell{{Text: prose.Upper(report.PhaseTitle(r.NativeID, r.Attempt)),
				Href: address(view.Ref{Kind: view.ToPhase, Key: r.ID})}, {Text: prose.MaybeName(r.Name)},
				figure(r.TookS, prose.Seconds, "the log does not say"), number(r.Tasks, "it was not judged"),
				figure(r.MedianS, prose.Seconds, "too few tasks"), figure(r.MaxS, prose.Seconds, "too few tasks"),
				figure(r.LostS, prose.Seconds, "too few tasks"), number(r.Outliers, "it was not judged"), {Text: r.Status}}
		}}
}

type attemptRow struct {
	Total      int64                     `col:"total"`
	ID         schema.Key                `col:"id"`
	NativeID   string                    `col:"native_id"`
	Task       int64                     `col:"task"`
	Number     int32                     `col:"number"`
	Status     string                    `col:"status"`
	TookS      schema.Null[float64]      `col:"took_s"`
	Machine    schema.Null[string]       `col:"machine"`
	InputBytes schema.Null[int64]        `col:"input_bytes"`
	StartTime  schema.Null[schema.Time]  `col:"start_time"`
	ExcessS    schema.Null[float64]      `col:"excess_s"`
	Cause      schema.Null[schema.Cause] `col:"cause"`
	TimeOrigin string                    `col:"time_origin"`
}

func (r attemptRow) count() int64 { return r.Total }

// attemptRows lists the attempts of a phase.
func attemptRows(phase schema.Key) rowList[attemptRow] {
	return rowList[attemptRow]{id: "all-attempts", title: "All its attempts", caption: "Attempts", empty: "It has no attempts.",
		first: "took_s", sql: sqlOf("attempts_of_phase", phase),
		columns: []column{{Title: "Task", By: "task"}, {Title: "Took", By: "took_s", Number: true, Falling: true},
			{Title: "Excess", Doc: "over the median of the phase, of outliers", By: "excess_s", Number: true, Falling: true},
			{Title: "Cause", Doc: "of outliers", By: "cause"}, {Title: "Machine", By: "machine"},
			{Title: "Started", By: "start_time"}, {Title: "Input", By: "input_bytes", Number: true, Falling: true}, {Title: "Ended", By: "status"}},
		row: func(r attemptRow) []cell {
			var cause cell
			if r.Cause.OK {
				cause = causeCell(r.Cause.V)
			}
			machine := cell{Text: prose.MaybeName(r.Machine)}
			if machine.Text != "" {
				machine.Href = address(view.Ref{Kind: view.ToMachine, Name: r.Machine.V})
			}
			input := cell{Text: prose.Dash, Note: "the log does not say"}
			if r.InputBytes.OK {
				input = cell{Text: prose.Bytes(float64(r.InputBytes.V))}
			}
			return []cell{{Text: fmt.Sprintf("Task %d.%d", r.Task, r.Number),
				Href: address(view.Ref{Kind: view.ToAttempt, Key: r.ID}), Sub: "id " + prose.Name(r.NativeID)},
				figure(r.TookS, prose.Seconds, "the log does not say when it ended"), figure(r.ExcessS, prose.Seconds, "no outlier"), cause, machine,
				{Text: prose.OrDash(r.StartTime, func(t schema.Time) string { return prose.Instant(t, r.TimeOrigin) })}, input, {Text: r.Status}}
		}}
}

func number(v schema.Null[int64], note string) cell {
	if !v.OK {
		return cell{Text: prose.Dash, Note: note}
	}
	return cell{Text: prose.Count(v.V)}
}

// writeFields writes all columns of an attempt.
func (s *Server) writeFields(ctx context.Context, w io.Writer, r *http.Request, attempt schema.Key) error {
	sql := sqlOf("attempt", attempt)
	l := &listing{ID: "fields", Caption: "Columns of the table attempts", Columns: []column{
		{Title: "Column"}, {Title: "Value"}, {Title: "Meaning"},
	}, Query: newQuery("row", sql)}
	attempts := schema.TableOf[schema.Attempt]()
	err := s.c.Lookup(ctx, sql, func(rows *engine.Rows) error {
		for rows.Next() {
			for i, c := range rows.Columns() {
				if known := attempts.Column(c.Name); known != nil && rows.Value(i) != nil {
					l.Rows = append(l.Rows,
						[]cell{{Text: c.Name}, {Text: prose.Clean(table.Text(rows.Value(i)), prose.TextRunes), Sub: known.Unit}, {Text: known.Doc}})
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.finish(r, order{}, 0)
	return writeSection(w, "fields", "What the log says about it", l)
}

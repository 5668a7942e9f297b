package report

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"

	"straggler/schema"
	"straggler/store"
)

//go:embed sql/*.sql
var queries embed.FS

// Options say what a report is about.
type Options struct {
	Store string // directory of the store, for the commands that the report shows; empty where it is temporary
	App   string // native id or name of the application to report on; empty for all
	Top   int    // outliers listed; 0 is 50, at most 200

	Replayed *Replayed     // a job before and after a policy, for a picture; nil for none
	Papers   []PaperFigure // the papers' figures, to be shown at the end; nil for none
}

// ErrNoApplication says that no application has the id or name that was asked for.
var ErrNoApplication = errors.New("no such application")

// How many rows of each kind a document holds. They bound the size of every rendering.
const (
	topOutliers  = 50
	mostOutliers = 200
	topPhases    = 20
	topJobs      = 40
	topApps      = 12
	topMachines  = 60
	topTimelines = 5
)

// Build makes the document from the tables of a store, of which detect and causes have written theirs. It keeps
// session tables in the engine, all named report_…, so an engine serves one Build at a time.
func Build(ctx context.Context, eng store.Engine, o Options) (*Document, error) {
	if o.Top <= 0 {
		o.Top = topOutliers
	}
	o.Top = min(o.Top, mostOutliers)
	b := &builder{ctx: ctx, eng: eng, o: o, doc: &Document{Store: o.Store, Papers: o.Papers}}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"choosing applications", b.choose}, {"adding up losses", b.losses}, {"what was read", b.trust}, {"jobs", b.jobs}, {"phases", b.phases},
		{"outliers", b.outliers}, {"machines", b.machines}, {"what comes back", b.repeats}, {"timelines", b.timelines}, {"replays of policies", b.whatif}, {"settings", b.settings},
	} {
		if err := step.do(); err != nil {
			return nil, fmt.Errorf("report: %s: %w", step.what, err)
		}
	}
	b.words()
	return b.doc, nil
}

// builder holds what the steps of Build hand on.
type builder struct {
	ctx   context.Context
	eng   store.Engine
	o     Options
	doc   *Document
	sums  *sums
	facts facts
}

// facts is what advice is based on beside the document.
type facts struct {
	settings     map[string]schema.Null[string] // NULL where applications differ
	losses       []machineLosses                // most first
	copies, wins int64                          // speculative copies, and those that finished first
	causes       map[schema.Cause]*causeFacts
}

// causeFacts is about the verdicts for one cause.
type causeFacts struct {
	n, rated   int64
	confidence float64 // sum
	seconds    float64
	machine    string // the one with the most seconds
	most       float64
	machines   int64
}

type machineLosses struct {
	Machine string `col:"machine"`
	Losses  int64  `col:"losses"`
}

// read runs one of the .sql files.
func read[R any](b *builder, file string, each func(*R) error) error {
	sql, err := queries.ReadFile("sql/" + file + ".sql")
	if err != nil {
		return err
	}
	for r, err := range store.ReadParts[R](b.ctx, b.eng, "report_"+file, string(sql)) {
		if err != nil {
			return fmt.Errorf("%s.sql: %w", file, err)
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// collect is read into a slice.
func collect[R any](b *builder, file string) ([]R, error) {
	var rows []R
	err := read(b, file, func(r *R) error { rows = append(rows, *r); return nil })
	return rows, err
}

// keep makes a session table of one of the .sql files.
func (b *builder) keep(table, file string) error {
	sql, err := queries.ReadFile("sql/" + file + ".sql")
	if err != nil {
		return err
	}
	return b.eng.Materialize(b.ctx, table, string(sql))
}

// pick makes a session table of keys.
func (b *builder) pick(table, column string, keys []schema.Key) error {
	var s strings.Builder
	s.WriteString("SELECT CAST(key AS BIGINT) AS " + column + " FROM (VALUES ")
	for i, k := range keys {
		if i > 0 {
			s.WriteString(", ")
		}
		fmt.Fprintf(&s, "(%d)", k)
	}
	if len(keys) == 0 {
		s.WriteString("(0)")
	}
	s.WriteString(") t(key)")
	if len(keys) == 0 {
		s.WriteString(" WHERE false")
	}
	return b.eng.Materialize(b.ctx, table, s.String())
}

// choose makes report_apps. The name is compared here and not in SQL: engines differ in how they read a quoted text.
func (b *builder) choose() error {
	if b.o.App == "" {
		return b.eng.Materialize(b.ctx, "report_apps", "SELECT application_id FROM applications")
	}
	var keys []schema.Key
	for a, err := range store.Read[struct {
		ApplicationID schema.Key          `col:"application_id"`
		NativeID      string              `col:"native_id"`
		Name          schema.Null[string] `col:"name"`
	}](b.ctx, b.eng, "SELECT application_id, native_id, name FROM applications ORDER BY application_id NULLS LAST") {
		if err != nil {
			return err
		}
		if a.NativeID == b.o.App || a.Name.OK && a.Name.V == b.o.App {
			keys = append(keys, a.ApplicationID)
		}
	}
	if len(keys) == 0 {
		return fmt.Errorf("%q: %w; straggler sql --store DIR 'SELECT native_id, name FROM applications' lists them", clean(b.o.App, nameRunes), ErrNoApplication)
	}
	return b.pick("report_apps", "application_id", keys)
}

func (b *builder) trust() error {
	t := &b.doc.Trust
	if err := read(b, "counts", func(c *Counts) error { t.Counts = *c; return nil }); err != nil {
		return err
	}
	ingests, err := collect[Ingest](b, "ingests")
	if err != nil {
		return err
	}
	t.Ingests = List[Ingest]{Total: int64(len(ingests)), Rows: ingests[max(0, len(ingests)-10):], SQL: "SELECT * FROM ingests ORDER BY ingest_id NULLS LAST"}
	if err := b.applications(); err != nil {
		return err
	}
	t.Caveats.SQL = "SELECT * FROM caveats ORDER BY count DESC NULLS LAST"
	err = read(b, "caveats", func(c *struct {
		Code         string             `col:"code"`
		Applications int64              `col:"applications"`
		Count        schema.Null[int64] `col:"count"`
		Detail       string             `col:"detail"`
		Total        int64              `col:"total"`
	}) error {
		t.Caveats.Total = c.Total
		t.Caveats.Rows = append(t.Caveats.Rows, Caveat{c.Code, c.Applications, c.Count, c.Detail})
		return nil
	})
	if err != nil {
		return err
	}
	t.Rejects = List[schema.Reject]{Total: t.Counts.Rejects, SQL: "SELECT * FROM rejects ORDER BY source_file NULLS LAST, byte_offset NULLS LAST"}
	t.Rejects.Rows, err = collect[schema.Reject](b, "rejects")
	return err
}

// applications lists those that lost most.
func (b *builder) applications() error {
	l := &b.doc.Trust.Applications
	l.Total, l.SQL = int64(len(b.sums.apps)), "SELECT * FROM applications ORDER BY start_time NULLS LAST"
	l.Note = "No application was read."
	keys := b.sums.worst(b.sums.apps, topApps)
	if err := b.pick("report_picked_apps", "application_id", keys); err != nil {
		return err
	}
	rows, err := collect[ApplicationRow](b, "applications")
	if err != nil {
		return err
	}
	byKey := indexBy(rows, func(r *ApplicationRow) schema.Key { return r.ApplicationID })
	for _, k := range keys {
		if i, ok := byKey[k]; ok {
			l.Rows = append(l.Rows, Application{ApplicationRow: rows[i], Loss: b.sums.apps[k].loss(b.sums)})
		}
	}
	return nil
}

func (b *builder) jobs() error {
	c := &b.doc.Cost
	c.Loss, c.Causes = b.sums.all.loss(b.sums), b.sums.causes()
	c.Jobs = List[Job]{Total: int64(len(b.sums.jobs)), Note: "No job was read.",
		SQL: "SELECT j.job_id, max(j.native_id) AS native_id, sum(s.lost_s) AS phases_lost_s\nFROM jobs j JOIN phases p ON p.job_id = j.job_id JOIN phase_stats s ON s.phase_id = p.phase_id\nGROUP BY j.job_id ORDER BY phases_lost_s DESC NULLS LAST"}
	keys := b.sums.worst(b.sums.jobs, topJobs)
	if err := b.pick("report_picked_jobs", "job_id", keys); err != nil {
		return err
	}
	rows, err := collect[JobRow](b, "jobs")
	if err != nil {
		return err
	}
	byKey := indexBy(rows, func(r *JobRow) schema.Key { return r.JobID })
	for _, k := range keys {
		if i, ok := byKey[k]; ok {
			c.Jobs.Rows = append(c.Jobs.Rows, Job{JobRow: rows[i], Loss: b.sums.jobs[k].loss(b.sums)})
		}
	}
	return nil
}

func (b *builder) phases() error {
	l := &b.doc.Phases
	*l = List[Phase]{Total: b.sums.phaseCount, SQL: "SELECT p.native_id, p.attempt, p.name, s.*\nFROM phase_stats s JOIN phases p ON p.phase_id = s.phase_id\nORDER BY s.lost_s DESC NULLS LAST", Note: "No phase has statistics: run straggler detect on the store."}
	picked := b.sums.phases.sorted()
	var keys []schema.Key
	for _, p := range picked {
		keys = append(keys, p.key)
	}
	if err := b.pick("report_picked_phases", "phase_id", keys); err != nil {
		return err
	}
	rows, err := collect[PhaseRow](b, "phases")
	if err != nil {
		return err
	}
	spreads, err := b.spreads()
	if err != nil {
		return err
	}
	byKey := indexBy(rows, func(r *PhaseRow) schema.Key { return r.PhaseID })
	for _, p := range picked {
		i, ok := byKey[p.key]
		if !ok {
			continue
		}
		phase := Phase{PhaseRow: rows[i], CostS: schema.Some(p.cost), Critical: p.critical}
		if s := spreads[p.key]; s != nil {
			phase.Spread = *s
		}
		if q := b.sums.phaseParts[p.key]; q != nil {
			phase.Parts = q.list()
		}
		l.Rows = append(l.Rows, phase)
	}
	return nil
}

func (b *builder) settings() error {
	b.facts.settings = map[string]schema.Null[string]{}
	var err error
	b.facts.causes = map[schema.Cause]*causeFacts{}
	if err := read(b, "verdicts", func(r *struct {
		Cause      schema.Cause `col:"cause"`
		Machine    string       `col:"machine"`
		N          int64        `col:"n"`
		Rated      int64        `col:"rated"`
		Seconds    float64      `col:"seconds"`
		Confidence float64      `col:"confidence"`
	}) error {
		f := b.facts.causes[r.Cause]
		if f == nil {
			f = &causeFacts{machine: r.Machine, most: r.Seconds}
			b.facts.causes[r.Cause] = f
		}
		f.n, f.rated, f.machines = f.n+r.N, f.rated+r.Rated, f.machines+1
		f.seconds += r.Seconds
		f.confidence += r.Confidence
		return nil
	}); err != nil {
		return err
	}
	if b.facts.losses, err = collect[machineLosses](b, "losses"); err != nil {
		return err
	}
	if err := read(b, "copies", func(r *struct {
		Copies int64 `col:"copies"`
		Wins   int64 `col:"wins"`
	}) error {
		b.facts.copies, b.facts.wins = r.Copies, r.Wins
		return nil
	}); err != nil {
		return err
	}
	return read(b, "settings", func(s *struct {
		Name  string `col:"name"`
		Value string `col:"value"`
		N     int64  `col:"n"`
	}) error {
		if len(b.facts.settings) < 10000 {
			b.facts.settings[s.Name] = schema.Null[string]{V: s.Value, OK: s.N == 1}
		}
		return nil
	})
}

func indexBy[R any](rows []R, key func(*R) schema.Key) map[schema.Key]int {
	m := make(map[schema.Key]int, len(rows))
	for i := range rows {
		m[key(&rows[i])] = i
	}
	return m
}

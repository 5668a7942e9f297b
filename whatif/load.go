package whatif

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"straggler/engine"
	"straggler/schema"
	"straggler/selection"
	"straggler/whatif/workload"
)

// Load reads what a replay needs from the tables of a store.
func Load(ctx context.Context, eng engine.Engine) (*workload.Rows, error) {
	l, err := newLoader(ctx, eng, selection.Applications{})
	if err == nil {
		err = l.attempts(ctx, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("whatif: reading the store: %w", err)
	}
	return l.rows, nil
}

// loader reads a store.
type loader struct {
	tables
	meant map[schema.Key]bool // selected applications; nil: all
	rows  *workload.Rows
	count map[schema.Key]int64 // attempts by application
	total int64
	may   int64 // memory limit of this process in bytes; 0: unknown

	builder *workload.Builder // of the last divide
	batches []workload.Batch
	whole   *workload.Workload // of the only batch; nil where there are several
}

// newLoader reads everything except attempts and their progress reports, for the selected applications and those that share
// slots with them.
func newLoader(ctx context.Context, eng engine.Engine, apps selection.Applications) (*loader, error) {
	l := emptyLoader(eng)
	return l, first(func() error { return l.applications(ctx) }, func() error { return l.choose(ctx, apps) }, func() error { return l.theirs(ctx) })
}

// newPoolLoader does the same for whole pools, given all of their applications.
func newPoolLoader(ctx context.Context, eng engine.Engine, applications []schema.Key) (*loader, error) {
	l := emptyLoader(eng)
	l.tables.only(applications)
	return l, first(func() error { return l.applications(ctx) }, func() error { return l.theirs(ctx) })
}

func emptyLoader(eng engine.Engine) *loader {
	return &loader{tables: tables{eng: eng}, rows: &workload.Rows{}, count: map[schema.Key]int64{}, may: engine.Memory()}
}

// applications reads the applications and their machines.
func (l *loader) applications(ctx context.Context) error {
	return first(
		func() error { return collect(ctx, l.tables, &l.rows.Applications, query("applications")) },
		func() error { return collect(ctx, l.tables, &l.rows.Machines, query("machines")) },
	)
}

// theirs reads the rest.
func (l *loader) theirs(ctx context.Context) error {
	r := l.rows
	return first(
		func() error { return collect(ctx, l.tables, &r.Settings, query("settings")) },
		func() error { return collect(ctx, l.tables, &r.Jobs, query("jobs")) },
		func() error { return collect(ctx, l.tables, &r.Phases, query("phases")) },
		func() error { return collect(ctx, l.tables, &r.Edges, query("edges")) },
		func() error { return collect(ctx, l.tables, &r.Losses, query("losses")) },
		func() error { return l.counts(ctx) },
	)
}

// choose removes the applications that are not replayed, if not all are selected.
func (l *loader) choose(ctx context.Context, apps selection.Applications) error {
	if apps.All() {
		return nil
	}
	keys, err := apps.Keys(ctx, l.eng)
	if err != nil {
		return err
	}
	l.meant = map[schema.Key]bool{}
	for _, k := range keys {
		l.meant[k] = true
	}
	l.tables.only(l.rows.Share(keys))
	return nil
}

// batchAttempts is the number of attempts in memory at once, unless a single pool has more: 250 thousand take about 150 MB,
// including their replays.
const batchAttempts = 250_000

// attemptBytes is the memory per attempt of a pool while its log is read and replayed by two workers: a store with a million
// attempts in one pool takes 0.99 GB, up to 0.25 of it in DuckDB.
const attemptBytes = 750

// ErrMemory is wrapped by the error about applications that share slots and do not fit in memory together.
var ErrMemory = errors.New("the attempts of these applications do not fit in memory")

// fits returns an error if the attempts of a batch do not fit in memory, since a pool is replayed as a whole.
func (l *loader) fits(b workload.Batch) error {
	n := int64(0)
	for _, a := range b.Applications {
		n += l.count[a]
	}
	if l.may == 0 || n*attemptBytes <= l.may {
		return nil
	}
	return fmt.Errorf("%w: %d attempts of %d applications that share their slots (application_id %d among them) need about %.1f GB, and this machine has %.1f GB: replay them on a larger one, or logs of a shorter time in a store of their own",
		ErrMemory, n, len(b.Applications), b.Applications[0], float64(n)*attemptBytes/1e9, float64(l.may)/1e9)
}

// pass calls do with the pools of a store, batch by batch. do must not keep anything of a batch. pass may be called repeatedly.
type pass func(do func(*workload.Workload) error) error

// divide divides the pools into batches of at most so many attempts, unless a single pool has more.
func (l *loader) divide(most int64) {
	l.builder = workload.NewBuilder(l.rows)
	l.batches = l.builder.Batches(most, func(app schema.Key) int64 { return l.count[app] })
}

// observe reads the divided pools of the store once and passes them to survey. If there are several batches, those pools lack
// what is computed from the model.
func (l *loader) observe(ctx context.Context, survey func(*workload.Workload)) error {
	for _, x := range l.batches {
		if err := l.fits(x); err != nil {
			return err
		}
	}
	if len(l.batches) == 1 {
		if err := l.attempts(ctx, nil); err != nil {
			return fmt.Errorf("reading the store: %w", err)
		}
		l.whole = l.builder.Only(l.batches[0])
		l.rows.Attempts = nil
		survey(l.whole)
		return nil
	}
	return l.each(ctx, func(x workload.Batch) error {
		w, sums := l.builder.Observe(x)
		l.builder.Learn(sums)
		survey(w)
		return nil
	})
}

// pass returns a pass over the observed pools.
func (l *loader) pass(ctx context.Context) pass {
	if l.whole != nil {
		return only(l.whole)
	}
	return func(do func(*workload.Workload) error) error {
		return l.each(ctx, func(x workload.Batch) error { return do(l.builder.Build(x)) })
	}
}

// each reads the attempts batch by batch.
func (l *loader) each(ctx context.Context, do func(workload.Batch) error) error {
	for _, x := range l.batches {
		if err := l.attempts(ctx, x.Applications); err != nil {
			return fmt.Errorf("reading the store: %w", err)
		}
		if err := do(x); err != nil {
			return err
		}
	}
	return nil
}

// only returns a pass over one workload.
func only(w *workload.Workload) pass {
	return func(do func(*workload.Workload) error) error { return do(w) }
}

func (l *loader) counts(ctx context.Context) error {
	type count struct {
		Application schema.Null[schema.Key]  `col:"application_id"`
		N           int64                    `col:"n"`
		First       schema.Null[schema.Time] `col:"first_start"`
		Last        schema.Null[schema.Time] `col:"last_time"`
	}
	l.rows.First, l.rows.Last = workload.Forever, workload.NoTime
	for c, err := range read[count](ctx, l.tables, query("count")) {
		if err != nil {
			return err
		}
		l.count[c.Application.V] += c.N
		l.total += c.N
		if c.First.OK && c.Last.OK {
			l.rows.First, l.rows.Last = min(l.rows.First, int64(c.First.V)), max(l.rows.Last, int64(c.Last.V))
		}
	}
	return nil
}

// attempts reads the attempts of applications, or all attempts, replacing those read before.
func (l *loader) attempts(ctx context.Context, applications []schema.Key) error {
	l.rows.Forget()
	those, n := "TRUE", l.total
	if applications != nil {
		n = 0
		for _, a := range applications {
			n += l.count[a]
		}
		those = "application_id IN (" + schema.KeyList(applications) + ")"
	}
	l.rows.Attempts = slices.Grow(l.rows.Attempts, int(n))
	for row, err := range read[workload.AttemptRow](ctx, l.tables, strings.Replace(query("attempts"), "{those}", those, 1)) {
		if err != nil {
			return err
		}
		l.rows.Add(row)
	}
	return l.progress(ctx, those)
}

// progress reads the progress reports of the attempts, after these and in their order.
func (l *loader) progress(ctx context.Context, those string) error {
	type sample struct {
		AttemptID schema.Key  `col:"attempt_id"`
		Time      schema.Time `col:"time"`
		Progress  float64     `col:"progress"`
	}
	if those != "TRUE" {
		those = "EXISTS (SELECT 1 FROM attempts a WHERE a.attempt_id = p.attempt_id AND a." + those + ")"
	}
	for row, err := range read[sample](ctx, l.tables, strings.Replace(query("progress"), "{those}", those, 1)) {
		if err != nil {
			return err
		}
		l.rows.Report(row.AttemptID, int64(row.Time), row.Progress)
	}
	return nil
}

// tables are the tables of a store, possibly restricted to some applications.
type tables struct {
	eng  engine.Engine
	seen []engine.Seen
}

// tablesOf restricts the tables to the selected applications.
func tablesOf(ctx context.Context, eng engine.Engine, apps selection.Applications) (tables, error) {
	t := tables{eng: eng}
	if apps.All() {
		return t, nil
	}
	keys, err := apps.Keys(ctx, eng)
	t.only(keys)
	return t, err
}

// only restricts the tables to the rows of applications.
func (t *tables) only(applications []schema.Key) {
	own := " WHERE application_id IN (" + schema.KeyList(applications) + ")"
	phases := "SELECT phase_id FROM phases WHERE job_id IN (SELECT job_id FROM jobs" + own + ")"
	t.seen = nil
	for _, x := range []struct{ table, where string }{
		{"applications", own}, {"machines", own + " OR application_id IS NULL"}, {"jobs", own}, {"attempts", own}, {"settings", own},
		{"phases", " WHERE job_id IN (SELECT job_id FROM jobs" + own + ")"},
		{"edges", " WHERE job_id IN (SELECT job_id FROM jobs" + own + ")"},
		{"progress", " WHERE attempt_id IN (SELECT attempt_id FROM attempts" + own + ")"},
		{"losses", " WHERE phase_id IN (" + phases + ")"},
		{"attributions", " WHERE phase_id IN (" + phases + ")"},
	} {
		t.seen = append(t.seen, engine.Seen{Table: x.table, SQL: "SELECT * FROM " + x.table + x.where})
	}
}

// read is engine.Read with restricted tables.
func read[R any](ctx context.Context, from tables, sql string) iter.Seq2[*R, error] {
	return engine.ReadParts[R](ctx, from.eng, "whatif", sql, from.seen...)
}

func collect[R any](ctx context.Context, from tables, to *[]R, sql string) error {
	for row, err := range read[R](ctx, from, sql) {
		if err != nil {
			return err
		}
		*to = append(*to, *row)
	}
	return nil
}

func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// query returns a statement of sql/; those of Load give their rows in the order that replays take them.
func query(name string) string {
	text, err := queries.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err) // the files are part of the program
	}
	return string(text)
}

//go:embed sql/*.sql
var queries embed.FS

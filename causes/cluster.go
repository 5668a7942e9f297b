package causes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"straggler/causes/fit"
	"straggler/causes/model"
	"straggler/causes/wire"
	"straggler/engine"
	"straggler/engine/copies"
	"straggler/schema"
	"straggler/store"
)

// On an engine of many machines the phases do not come here: copies of this program work on them where they are, phase by
// phase. First they say what each tells of its stage and its machines (step observe); then, given the model, they write the
// attributions (step attribute). Each copy leaves a piece in the store (store.Piece): the attributions as a file of their table, and
// messages about its phases for this process, which takes them in the order of the phases, so that the sums are those of a
// run in one process to the last bit. Through the engine come only the names of the files. A copy may run twice on the same
// phases, when the cluster tries again or runs a speculative copy: the name of one piece comes, and the other is never committed.

// The steps of a copy.
const (
	stepObserve   = "observe" // followed by =, and the length of the windows in seconds
	stepAttribute = "attribute"
)

// spreadAttempts is how many attempts are given to copies by one statement, or a twentieth of all where that is more: while it
// runs, their rows lie on the disks of the cluster, 0.2 kB each.
const spreadAttempts = 50_000_000

// partAttempts is how many attempts a copy gets, about, or a ten-thousandth of all where that is more: each leaves a file.
const partAttempts = 200_000

// taskColumns are what a copy is given of an attempt, in the order in which taskRow.read reads them. Which attempts are outliers is said by rows of their
// own, without a task, whose duration is how long the attempt lasted at least: a join would move all attempts once more.
var taskColumns = []string{"phase_id", "attempt_id", "task", "machine", "start_us", "duration_s", "cold", "succeeded", "cut", "slow", "recompute", "excess_s", "timed", "beyond_s",
	"input_bytes", "remote_bytes", "input_records", "written_bytes", "spill_bytes", "cpu_s", "away", "fetch_wait_s", "gc_s", "scheduler_delay_s", "convert_s"}

// taskOrder puts the row of an outlier behind that of its attempt.
const taskOrder = "phase_id, attempt_id, task NULLS LAST"

// attributedSQL are the phases that step attribute reads: those with outliers, and those that are compared with earlier runs of their stage.
const attributedSQL = `SELECT phase_id, max(timed) AS timed FROM (
  SELECT phase_id, 0 AS timed FROM causes_outliers WHERE again IS NOT NULL UNION ALL SELECT phase_id, 1 FROM stage_history WHERE usual_s IS NOT NULL
) AS p GROUP BY phase_id`

// observeOnCopies is learn on an engine of many machines.
func (r *run) observeOnCopies(ctx context.Context, eng engine.RemoteRunner, tx *store.Tx) error {
	step := stepObserve + "=" + strconv.FormatFloat(r.o.WindowS, 'g', -1, 64)
	return r.spread(ctx, eng, tx, step, nil, func(p *phaseRow, found []byte) error {
		var o model.Observation
		if err := wire.Decode(found, &o); err != nil {
			return err
		}
		r.application(p.Application).sums.Add(p.signature, &o)
		return nil
	})
}

// attributeOnCopies is attribute on an engine of many machines.
func (r *run) attributeOnCopies(ctx context.Context, eng engine.RemoteRunner, tx *store.Tx) error {
	if _, err := eng.StoreAddress(); err != nil {
		return err
	}
	runs, err := r.openRuns(ctx, tx)
	if err != nil {
		return err
	}
	if err := engine.MaterializeParts(ctx, eng, "causes_attributed", attributedSQL, r.seen...); err != nil {
		return err
	}
	k := instructions{model: r.model, losses: r.losses, collections: r.collections, signatures: map[schema.Key]uint64{}, inputs: map[schema.Key]schema.Key{}}
	for i := range r.phases {
		p := &r.phases[i]
		if !p.outliers {
			continue
		}
		if p.signature != 0 {
			k.signatures[p.ID] = p.signature
		}
		if input := r.part.inputOf("phases", p.ID); input != 0 {
			k.inputs[p.ID] = input
		}
	}
	err = r.spread(ctx, eng, tx, stepAttribute, wire.Encode(&k), func(p *phaseRow, found []byte) error {
		var x attributed
		if err := wire.Decode(found, &x); err != nil {
			return err
		}
		if err := r.keep(tx, p, &x); err != nil {
			return err
		}
		return runs.take(p, &x.times)
	})
	if err != nil {
		return err
	}
	r.runsJudged = true
	return eng.Drop(ctx, "causes_attributed")
}

// spread has copies do a step for all phases, or those that have outliers. Their rows go into the transaction; what else they
// found is taken in the order of the phases.
func (r *run) spread(ctx context.Context, eng engine.RemoteRunner, tx *store.Tx, step string, file []byte, each func(p *phaseRow, found []byte) error) error {
	all := int64(0)
	for i := range r.phases {
		all += r.phases[i].Attempts
	}
	at := 0
	for _, c := range r.chunks(step == stepAttribute, max(spreadAttempts, all/20)) {
		w := engine.RemoteJob{SQL: r.spreadSQL(&c, step), Columns: taskColumns, Order: taskOrder, Partitions: int(c.attempts/max(partAttempts, all/10_000)) + 2,
			Verb: []string{"copy", step, "--version", r.o.Tool}, File: file}
		err := copies.Run(ctx, tx, eng, w, func(phase schema.Key, found []byte) error {
			for at < len(r.phases) && r.phases[at].ID < phase {
				at++
			}
			if at == len(r.phases) || r.phases[at].ID != phase {
				return nil // of no job
			}
			return each(&r.phases[at], found)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// spreadSQL gives the attempts of a chunk as copies read them, and its outliers where these are to be attributed.
func (r *run) spreadSQL(c *chunk, step string) string {
	low, high := c.phases[0].ID, c.phases[len(c.phases)-1].ID
	columns := slices.Clone(taskColumns)
	columns[slices.Index(columns, "start_us")] = "unix_micros(start_time) AS start_us"
	tasks := taskRange{attempts: r.attempts(), low: low, high: high}
	if step != stepAttribute {
		return "SELECT " + strings.Join(columns, ", ") + " FROM (" + tasks.sql() + ") AS t"
	}
	tasks.unended, tasks.timed = true, r.history
	for i, name := range columns {
		switch name {
		case "phase_id":
			columns[i] = "t.phase_id"
		case "timed":
			columns[i] = "t.timed AND p.timed = 1 AS timed"
		}
	}
	outlier := make([]string, len(taskColumns))
	for i, name := range taskColumns {
		outlier[i] = cmp.Or(outlierColumns[name], "NULL")
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM (" + tasks.sql() + ") AS t JOIN causes_attributed p ON p.phase_id = t.phase_id" +
		" UNION ALL SELECT " + strings.Join(outlier, ", ") + fmt.Sprintf(" FROM causes_outliers WHERE phase_id BETWEEN %d AND %d", low, high)
}

// outlierColumns are the columns of the row of an outlier; the others are NULL.
var outlierColumns = map[string]string{"phase_id": "phase_id", "attempt_id": "attempt_id", "duration_s": "lasted_s", "slow": "coalesce(again, 1) = 0",
	"recompute": "coalesce(again, 0) = 1", "excess_s": "excess_s", "beyond_s": "beyond_s"}

// Copy does a step for the phases whose attempts it reads, and writes what it finds. It runs on the cluster's machines.
func Copy(ctx context.Context, step, pieces, file string, in io.Reader, out io.Writer) error {
	w := copies.NewWriter(ctx, pieces)
	return w.Close(out, work(ctx, w, step, file, in))
}

func work(ctx context.Context, w *copies.Writer, step, file string, in io.Reader) error {
	do, err := worker(ctx, step, file)
	if err != nil {
		return err
	}
	p := &fit.Phase{}
	flush := func() error {
		p.Tasks = slices.DeleteFunc(p.Tasks, func(t fit.Task) bool { return !lasted(t.Duration) })
		if len(p.Tasks) == 0 {
			return nil
		}
		err := do(p, w)
		p.Tasks = p.Tasks[:0]
		return errors.Join(err, ctx.Err())
	}
	err = engine.ReadRemoteRows(in, len(taskColumns), func(fields []engine.RemoteField) error {
		var row taskRow
		if err := row.read(fields); err != nil {
			return err
		}
		if row.Phase != p.ID {
			if err := flush(); err != nil {
				return err
			}
			p.ID = row.Phase
		}
		if row.outlier {
			row.mark(p.Tasks)
		} else {
			p.Tasks = append(p.Tasks, row.Task)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// worker is what a step does with a phase.
func worker(ctx context.Context, step, file string) (func(*fit.Phase, *copies.Writer) error, error) {
	if window, ok := strings.CutPrefix(step, stepObserve+"="); ok {
		seconds, err := strconv.ParseFloat(window, 64)
		if err != nil {
			return nil, fmt.Errorf("causes: the windows of step %q: %w", step, err)
		}
		f := model.Fitter{WindowS: seconds}
		return func(p *fit.Phase, w *copies.Writer) error {
			if o, ok := f.Fit(p); ok {
				return w.Message(p.ID, wire.Encode(&o))
			}
			return nil
		}, nil
	}
	if step != stepAttribute {
		return nil, fmt.Errorf("causes: a copy knows no step %q", step)
	}
	data, err := copies.ReadFile(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("causes: %w", err)
	}
	k := instructions{model: &model.Model{}, losses: &losses{}, collections: &collections{}}
	if err := wire.Decode(data, &k); err != nil {
		return nil, fmt.Errorf("causes: %s: %w", file, err)
	}
	a := NewAttributor(k.model)
	a.losses, a.collections = k.losses, k.collections
	var timer runTimer
	return func(p *fit.Phase, w *copies.Writer) error {
		p.Signature = k.signatures[p.ID]
		a.rows = a.rows[:0]
		x, rows := a.attribute(p)
		x.times = timer.times(p)
		if !slices.ContainsFunc(p.Tasks, func(t fit.Task) bool { return t.Outlier() }) && len(x.times.parts) == 0 && len(x.times.late) == 0 {
			return nil
		}
		if err := copies.Append(w, p.ID, k.inputs[p.ID], rows); err != nil {
			return err
		}
		return w.Message(p.ID, wire.Encode(x))
	}, nil
}

// lasted reports whether tasks.sql gives attempts of that duration.
func lasted(s float64) bool { return s >= 0 && s <= 1e15 }

// taskRow is a row of taskColumns.
type taskRow struct {
	fit.Task
	outlier bool // it says of the attempt's outlier, and nothing else
}

// mark says in the last of the tasks, if the row is about its attempt, that it is an outlier.
func (r *taskRow) mark(tasks []fit.Task) {
	if len(tasks) == 0 || tasks[len(tasks)-1].Attempt != r.Attempt {
		return
	}
	t := &tasks[len(tasks)-1]
	t.Slow, t.Recompute, t.Excess, t.Beyond = r.Slow, r.Recompute, r.Excess, r.Beyond
	if math.IsNaN(t.Duration) {
		t.Duration = r.Duration
	}
}

func (r *taskRow) read(fields []engine.RemoteField) (err error) {
	next := func() engine.RemoteField {
		f := fields[0]
		fields = fields[1:]
		return f
	}
	integer := func() int64 {
		n, e := next().Int()
		err = cmp.Or(err, e)
		return n
	}
	float := func() float64 {
		f := next()
		if !f.OK {
			return math.NaN()
		}
		x, e := f.Float()
		err = cmp.Or(err, e)
		return x
	}
	truth := func() bool {
		b, e := next().Bool()
		err = cmp.Or(err, e)
		return b
	}
	t := &r.Task
	t.Phase, t.Attempt = integer(), integer()
	if r.outlier = !fields[0].OK; r.outlier {
		fields = fields[3:] // up to the duration
		t.Duration = float()
		fields = fields[3:] // up to what kind of outlier it is
		t.Slow, t.Recompute, t.Excess = truth(), truth(), float()
		next()
		t.Beyond = float()
		return err
	}
	t.Index, t.Machine = integer(), integer()
	if f := next(); f.OK {
		us, e := f.Int()
		err = cmp.Or(err, e)
		t.Start = schema.Some(schema.Time(us))
	}
	t.Duration, t.Cold, t.Succeeded, t.Cut, t.Slow, t.Recompute, t.Excess, t.Timed, t.Beyond = float(), truth(), truth(), truth(), truth(), truth(), float(), truth(), float()
	t.Bytes, t.Remote, t.Records, t.Written, t.Spill, t.CPU, t.Away = float(), float(), float(), float(), float(), float(), float()
	t.Wait, t.GC, t.Delay, t.Convert = float(), float(), float(), float()
	return err
}

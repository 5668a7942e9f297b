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

// taskColumns are what a copy is given of an attempt, in the order in which readTask reads them.
var taskColumns = []string{"phase_id", "attempt_id", "task", "machine", "start_us", "duration_s", "cold", "succeeded", "cut", "slow", "recompute", "excess_s",
	"input_bytes", "remote_bytes", "input_records", "written_bytes", "spill_bytes", "cpu_s", "away", "fetch_wait_s", "gc_s", "scheduler_delay_s", "convert_s"}

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
	return r.spread(ctx, eng, tx, stepAttribute, wire.Encode(&k), func(p *phaseRow, found []byte) error {
		var x attributed
		if err := wire.Decode(found, &x); err != nil {
			return err
		}
		return r.keep(tx, p, &x)
	})
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
		w := engine.RemoteJob{SQL: r.spreadSQL(&c, step), Columns: taskColumns, Order: "phase_id, attempt_id", Partitions: int(c.attempts/max(partAttempts, all/10_000)) + 2,
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

// spreadSQL gives the attempts of a chunk as copies read them.
func (r *run) spreadSQL(c *chunk, step string) string {
	low, high := c.phases[0].ID, c.phases[len(c.phases)-1].ID
	columns := slices.Clone(taskColumns)
	columns[slices.Index(columns, "start_us")] = "unix_micros(start_time) AS start_us"
	sql := "SELECT " + strings.Join(columns, ", ") + " FROM (" + taskRange{attempts: r.attempts(), low: low, high: high, outliers: step == stepAttribute}.sql() + ") AS t"
	if step == stepAttribute {
		sql += " WHERE phase_id IN (SELECT phase_id FROM outliers WHERE rule IN ('high_runtime', 'recompute'))"
	}
	return sql
}

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
		if len(p.Tasks) == 0 {
			return nil
		}
		err := do(p, w)
		p.Tasks = p.Tasks[:0]
		return errors.Join(err, ctx.Err())
	}
	err = engine.ReadRemoteRows(in, len(taskColumns), func(fields []engine.RemoteField) error {
		t, err := readTask(fields)
		if err != nil {
			return err
		}
		if t.Phase != p.ID {
			if err := flush(); err != nil {
				return err
			}
			p.ID = t.Phase
		}
		p.Tasks = append(p.Tasks, t)
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
	return func(p *fit.Phase, w *copies.Writer) error {
		p.Signature = k.signatures[p.ID]
		if !slices.ContainsFunc(p.Tasks, func(t fit.Task) bool { return t.Outlier() }) {
			return nil
		}
		a.rows = a.rows[:0]
		x, rows := a.attribute(p)
		if err := copies.Append(w, p.ID, k.inputs[p.ID], rows); err != nil {
			return err
		}
		return w.Message(p.ID, wire.Encode(x))
	}, nil
}

// readTask reads a row of taskColumns.
func readTask(fields []engine.RemoteField) (t fit.Task, err error) {
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
	t.Phase, t.Attempt, t.Index, t.Machine = integer(), integer(), integer(), integer()
	if f := next(); f.OK {
		us, e := f.Int()
		err = cmp.Or(err, e)
		t.Start = schema.Some(schema.Time(us))
	}
	t.Duration, t.Cold, t.Succeeded, t.Cut, t.Slow, t.Recompute, t.Excess = float(), truth(), truth(), truth(), truth(), truth(), float()
	t.Bytes, t.Remote, t.Records, t.Written, t.Spill, t.CPU, t.Away = float(), float(), float(), float(), float(), float(), float()
	t.Wait, t.GC, t.Delay, t.Convert = float(), float(), float(), float()
	t.Beyond = math.NaN() // no copy is told
	return t, err
}

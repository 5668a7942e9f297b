package causes

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"straggler/engine"
	"straggler/schema"
)

// On an engine of many machines the phases do not come here: copies of this program work on them where they are, phase by
// phase, and send what they hear (step hear), and then, told the model, the attributions (step attribute). Both come back
// in the order of the phases, so that the sums are those of a run in one process to the last bit.

// The steps of a copy.
const (
	stepHear      = "hear"
	stepAttribute = "attribute"
)

// spreadAttempts is how many attempts are given to copies by one statement: what they find of them is held by one machine
// of the cluster before it comes here.
const spreadAttempts = 50_000_000

// partAttempts is how many attempts a copy gets, about.
const partAttempts = 200_000

// taskColumns are what a copy is given of an attempt, in the order in which readTask reads them.
var taskColumns = []string{"phase_id", "attempt_id", "task", "machine", "start_us", "duration_s", "succeeded", "cut", "slow", "recompute", "excess_s",
	"input_bytes", "remote_bytes", "input_records", "written_bytes", "spill_bytes", "cpu_s", "away", "fetch_wait_s", "gc_s", "scheduler_delay_s", "convert_s"}

// told is what a copy is told for step attribute.
type told struct {
	model      Model
	signatures map[schema.Key]uint64 // of the phases
}

// saying is what a phase says, with those of its tasks that it speaks of.
type saying struct {
	phase Phase
	heard heard
}

// attributed is a phase whose outliers have causes.
type attributed struct {
	phase  Phase // with its outliers only
	rows   []schema.Attribution
	saved  []saving
	ratios map[schema.Key]float64
}

// Copy does a step for the phases whose attempts it reads, and writes what it finds. It runs on the cluster's machines.
func Copy(ctx context.Context, step, file string, in io.Reader, out io.Writer) error {
	w := bufio.NewWriterSize(out, 1<<20)
	work := func(p *Phase) ([]byte, error) { return nil, fmt.Errorf("causes: a copy knows no step %q", step) }
	switch step {
	case stepHear:
		b := new(bench)
		work = func(p *Phase) ([]byte, error) { return b.say(p), nil }
	case stepAttribute:
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("causes: a copy on this machine can not read what it must know; does the machine see the store? %w", err)
		}
		var k told
		if err := decode(data, &k); err != nil {
			return fmt.Errorf("causes: %s: %w", file, err)
		}
		a := k.model.NewAttributor()
		work = func(p *Phase) ([]byte, error) {
			p.Signature = k.signatures[p.ID]
			return a.answer(p), nil
		}
	}
	p := &Phase{}
	flush := func() error {
		if len(p.Tasks) == 0 {
			return nil
		}
		found, err := work(p)
		if err == nil && found != nil {
			err = engine.WriteOutput(w, p.ID, found)
		}
		p.Tasks = p.Tasks[:0]
		return errors.Join(err, ctx.Err())
	}
	err := engine.ReadRemoteRows(in, len(taskColumns), func(fields []engine.RemoteField) error {
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
	if err == nil {
		err = flush()
	}
	if err == nil {
		err = w.Flush()
	}
	return err
}

// readTask reads a row of taskColumns.
func readTask(fields []engine.RemoteField) (t Task, err error) {
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
			return nan
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
	t.Duration, t.Succeeded, t.Cut, t.Slow, t.Recompute, t.Excess = float(), truth(), truth(), truth(), truth(), float()
	t.Bytes, t.Remote, t.Records, t.Written, t.Spill, t.CPU, t.Away = float(), float(), float(), float(), float(), float(), float()
	t.Wait, t.GC, t.Delay, t.Convert = float(), float(), float(), float()
	return t, err
}

// say hears a phase and keeps of its tasks only those that the Learner looks at.
func (b *bench) say(p *Phase) []byte {
	s := saying{phase: Phase{ID: p.ID}, heard: b.hear(p)}
	if !s.heard.ok {
		return nil
	}
	for i := range s.heard.machines {
		m := &s.heard.machines[i]
		s.phase.Tasks = append(s.phase.Tasks, p.Tasks[m.first])
		m.first = int32(i)
	}
	return encode(&s)
}

// answer attributes the outliers of a phase and keeps of its tasks only those.
func (a *Attributor) answer(p *Phase) []byte {
	if !slices.ContainsFunc(p.Tasks, func(t Task) bool { return t.Outlier() }) {
		return nil
	}
	x := attributed{phase: Phase{ID: p.ID}, rows: a.Attribute(p, nil)}
	x.ratios = a.inputRatios(x.rows)
	x.saved = a.saved.weigh(p, nil)
	for i := range p.Tasks {
		if p.Tasks[i].Outlier() {
			x.phase.Tasks = append(x.phase.Tasks, p.Tasks[i])
		}
	}
	return encode(&x)
}

// spreadHear is learn on an engine of many machines.
func (r *run) spreadHear(ctx context.Context, eng engine.RemoteRunner, l *Learner) error {
	return r.spread(ctx, eng, stepHear, nil, func(signature uint64, found []byte) error {
		var s saying
		if err := decode(found, &s); err != nil {
			return err
		}
		s.phase.Signature = signature
		l.add(&s.heard, &s.phase)
		return nil
	})
}

// spreadAttribute is attribute on an engine of many machines.
func (r *run) spreadAttribute(ctx context.Context, eng engine.RemoteRunner, keep func(*Phase, *attributed) error) error {
	k := told{model: *r.model, signatures: map[schema.Key]uint64{}}
	for i := range r.phases {
		if p := &r.phases[i]; p.Outliers > 0 && p.signature != 0 {
			k.signatures[p.ID] = p.signature
		}
	}
	return r.spread(ctx, eng, stepAttribute, encode(&k), func(signature uint64, found []byte) error {
		var x attributed
		if err := decode(found, &x); err != nil {
			return err
		}
		x.phase.Signature = signature
		return keep(&x.phase, &x)
	})
}

// spread has copies do a step for all phases, or those that have outliers, and hears what they found in the order of the
// phases.
func (r *run) spread(ctx context.Context, eng engine.RemoteRunner, step string, file []byte, each func(signature uint64, found []byte) error) error {
	at := 0
	for _, c := range r.chunks(step == stepAttribute, spreadAttempts) {
		w := engine.RemoteJob{SQL: spreadSQL(&c, step), Columns: taskColumns, Order: "phase_id, attempt_id", Partitions: int(c.attempts/partAttempts) + 2,
			Verb: []string{"copy", step, "--version", r.o.Tool}, File: file}
		rows, err := eng.RunRemote(ctx, w)
		if err != nil {
			return err
		}
		for rows.Next() {
			key, _ := rows.Value(0).(int64)
			for at < len(r.phases) && r.phases[at].ID < key {
				at++
			}
			if at == len(r.phases) || r.phases[at].ID != key {
				continue // of no job
			}
			text, _ := rows.Value(1).(string)
			found, err := engine.DecodeOutput(text)
			if err == nil {
				err = each(r.phases[at].signature, found)
			}
			if err != nil {
				return errors.Join(err, rows.Close())
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	return nil
}

// spreadSQL gives the attempts of a chunk as copies read them.
func spreadSQL(c *chunk, step string) string {
	low, high := c.phases[0].ID, c.phases[len(c.phases)-1].ID
	columns := slices.Clone(taskColumns)
	columns[slices.Index(columns, "start_us")] = "unix_micros(start_time) AS start_us"
	sql := "SELECT " + strings.Join(columns, ", ") + " FROM (" + rangeSQL(low, high, step == stepAttribute, nil) + ") AS t"
	if step == stepAttribute {
		sql += " WHERE phase_id IN (SELECT phase_id FROM outliers WHERE rule IN ('high_runtime', 'recompute'))"
	}
	return sql
}

package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"straggler/causes/model"
	"straggler/causes/wire"
	"straggler/engine"
	"straggler/engine/copies"
	"straggler/schema"
	"straggler/selection"
	"straggler/store"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// Copy does a step on the batches whose numbers it reads, and writes what that gives. It runs on the cluster's machines; open opens an
// engine over the store there.
func Copy(ctx context.Context, step, pieces, file string, in io.Reader, out io.Writer, open func(context.Context, *store.Store) (engine.Engine, error)) error {
	data, err := copies.ReadFile(ctx, file)
	if err != nil {
		return fmt.Errorf("whatif: %w", err)
	}
	var job copyJob
	if err := json.Unmarshal(data, &job); err != nil {
		return fmt.Errorf("whatif: %s: %w", file, err)
	}
	st, err := store.Open(ctx, job.Store, store.Options{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("whatif: this machine does not see the store: %w", err)
	}
	eng, err := open(ctx, st)
	if err != nil {
		return err
	}
	defer eng.Close()
	if state, err := st.State(ctx); err != nil || state != job.State {
		return errors.Join(err, errors.New("whatif: the store was changed meanwhile; try again"))
	}
	l, err := job.load(ctx, eng)
	var o Options
	if err == nil {
		o, err = job.options()
	}
	do := func(n int64, w *copies.Writer) error { return l.surveyBatch(ctx, n, o, w) }
	if err == nil && step == ReplayStep {
		var c *comparison
		c, err = job.comparison(ctx, l, o)
		do = func(n int64, w *copies.Writer) error { return c.replayBatch(ctx, l, n, w) }
	}
	if err != nil {
		return fmt.Errorf("whatif: %w", err)
	}
	return engine.ReadRemoteRows(in, 1, func(fields []engine.RemoteField) error {
		n, err := fields[0].Int()
		if err == nil && (n < 0 || n >= int64(len(l.batches))) {
			err = fmt.Errorf("whatif: the store has %d batches, and none of number %d", len(l.batches), n)
		}
		if err != nil {
			return err
		}
		w := copies.NewWriter(ctx, pieces)
		return w.Close(out, do(n, w))
	})
}

// load reads what a copy needs of a store besides attempts.
func (job *copyJob) load(ctx context.Context, eng engine.Engine) (*loader, error) {
	l, err := newLoader(ctx, eng, selection.Applications{})
	if err != nil {
		return nil, fmt.Errorf("reading the store: %w", err)
	}
	l.divide(job.Most)
	return l, nil
}

// options are those of the caller.
func (job *copyJob) options() (Options, error) {
	o := Options{Seeds: job.Seeds, Workers: 1} // the cluster runs as many copies as it has cores
	if job.Scheduler != "" {
		chosen, err := schedule.Choose([]string{job.Scheduler})
		if err != nil {
			return o, err
		}
		o.Scheduler = chosen[0]
	}
	for _, v := range job.Variants {
		p, err := v.policy()
		if err != nil {
			return o, err
		}
		o.Policies = append(o.Policies, p)
	}
	return o, nil
}

// surveyBatch observes a batch.
func (l *loader) surveyBatch(ctx context.Context, n int64, o Options, w *copies.Writer) error {
	if err := l.batch(ctx, n); err != nil {
		return err
	}
	pools, sums := l.builder.Observe(l.batches[n])
	f := newSurvey(&o)
	f.add(pools)
	return w.Message(n, wire.Encode(&surveyed{names: l.rows.Names, pools: sums, seen: *f}))
}

// batch reads the attempts of a batch.
func (l *loader) batch(ctx context.Context, n int64) error {
	if err := l.fits(l.batches[n]); err != nil {
		return err
	}
	if err := l.attempts(ctx, l.batches[n].Applications); err != nil {
		return fmt.Errorf("whatif: reading the store: %w", err)
	}
	return nil
}

// comparison compares the variants with what the caller knows of all batches.
func (job *copyJob) comparison(ctx context.Context, l *loader, o Options) (*comparison, error) {
	for _, name := range job.Names {
		l.rows.Intern(name)
	}
	m := &model.Model{}
	if err := wire.Decode(job.Model, m); err != nil {
		return nil, err
	}
	l.builder.UseModel(m)
	c := newComparison(&workload.Workload{}, o)
	c.variants = nil
	for i, v := range job.Variants {
		c.variants = append(c.variants, Variant{Policy: o.Policies[i], Error: v.Error, Scheduler: o.Scheduler})
	}
	blame, err := c.blames(ctx, l.tables, job.Analysed)
	c.blame = blame
	return c, err
}

// replayBatch replays a batch and writes its rows and what it gave in all.
func (c *comparison) replayBatch(ctx context.Context, l *loader, n int64, w *copies.Writer) error {
	if err := l.batch(ctx, n); err != nil {
		return err
	}
	d := c.over(l.builder.Build(l.batches[n]))
	if err := d.replayNone(ctx); err != nil {
		return err
	}
	out := &writer{to: keyed{w, n}}
	b, err := d.replayed(ctx, out, func() {})
	if err == nil {
		err = out.flush()
	}
	if err != nil {
		return err
	}
	return w.Message(n, wire.Encode(b))
}

// keyed writes rows about one batch.
type keyed struct {
	w     *copies.Writer
	batch schema.Key
}

func (k keyed) Append(input schema.Key, rows schema.Batch) error {
	return k.w.Append(k.batch, input, rows)
}

// surveyed is what a copy says of a batch.
type surveyed struct {
	names []string // of machines and executors, by the numbers that they have in pools
	pools []*model.Statistics
	seen  survey
}

// Fields lists the fields of a message.
func (s *surveyed) Fields(c *wire.Codec) {
	wire.Slice(c, &s.names, c.String)
	wire.Slice(c, &s.pools, func(p **model.Statistics) {
		if c.Reading() {
			*p = model.NewStatistics()
		}
		(*p).Fields(c)
	})
	s.seen.fields(c)
}

func (f *survey) fields(c *wire.Codec) {
	for _, n := range [...]*int{&f.notes.Attempts, &f.notes.Reported, &f.pools, &f.without} {
		c.Int(n)
	}
	c.String(&f.foreign)
	wire.Slice(c, &f.needs, func(u *unmet) {
		lacks := ""
		if u.lacks != nil {
			lacks = u.lacks.Error()
		}
		if c.String(&lacks); c.Reading() && lacks != "" {
			u.lacks = errors.New(lacks)
		}
		c.Bool(&u.can)
	})
}

// Fields lists the fields of a message.
func (b *batchResults) Fields(c *wire.Codec) {
	c.Int(&b.jobs)
	c.Float(&b.missed)
	c.Float(&b.observed)
	notes, err := json.Marshal(b.notes) // counts, and one duration
	if err != nil {
		panic(err)
	}
	text := string(notes)
	c.String(&text)
	if c.Reading() && json.Unmarshal([]byte(text), &b.notes) != nil {
		b.notes = workload.Notes{}
	}
	wire.Slice(c, &b.totals, func(t *total) { t.fields(c) })
}

func (t *total) fields(c *wire.Codec) {
	c.Int64(&t.best)
	c.Float(&t.most)
	for g := range t.groups {
		q := &t.groups[g]
		c.Bool(&q.varies)
		for _, x := range [...]*[]float64{&q.other, &q.before, &q.after} {
			wire.Slice(c, x, c.Float)
		}
		for _, x := range [...]*float64{&q.sum, &q.copies, &q.wins, &q.kills, &q.waste, &q.slots, &q.slotsPlain} {
			c.Float(x)
		}
	}
}

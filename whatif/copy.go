package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"straggler/causes/model"
	"straggler/causes/wire"
	"straggler/engine"
	"straggler/engine/copies"
	"straggler/schema"
	"straggler/store"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// Copy does a step on the batches whose rows it reads, and writes the results. It runs on the cluster's machines, where open
// opens an engine over the store.
func Copy(ctx context.Context, a copies.Assignment, open func(context.Context, *store.Store) (engine.Engine, error)) error {
	data, err := copies.ReadFile(ctx, a.File)
	if err != nil {
		return fmt.Errorf("whatif: %w", err)
	}
	var job copyJob
	if err := json.Unmarshal(data, &job); err != nil {
		return fmt.Errorf("whatif: %s: %w", a.File, err)
	}
	o, err := job.options()
	if err != nil {
		return fmt.Errorf("whatif: %w", err)
	}
	var eng engine.Engine // opened for the first batch: there are more copies than batches
	defer func() {
		if eng != nil {
			eng.Close()
		}
	}()
	return readBatches(a.In, func(b *copyBatch) (err error) {
		if eng == nil {
			if eng, err = job.open(ctx, open); err != nil {
				return err
			}
		}
		w := copies.NewWriter(ctx, a.Pieces)
		return w.Close(a.Out, job.work(ctx, eng, a.Step, o, b, w))
	})
}

// open opens the store as it was when the work began.
func (job *copyJob) open(ctx context.Context, open func(context.Context, *store.Store) (engine.Engine, error)) (engine.Engine, error) {
	st, err := store.Open(ctx, job.Store, store.Options{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("whatif: this machine does not see the store: %w", err)
	}
	eng, err := open(ctx, st)
	if err != nil {
		return nil, err
	}
	if state, err := st.State(ctx); err != nil || state != job.State {
		return nil, errors.Join(err, fmt.Errorf("whatif: %w; try again", store.ErrConflict), eng.Close())
	}
	return eng, nil
}

// copyBatch is a batch as a copy reads it.
type copyBatch struct {
	number       int64
	applications []schema.Key
}

// readBatches yields the batches whose rows it reads.
func readBatches(in io.Reader, do func(*copyBatch) error) error {
	var b *copyBatch
	err := engine.ReadRemoteRows(in, len(batchColumns), func(fields []engine.RemoteField) error {
		number, err := fields[0].Int()
		application, e := fields[1].Int()
		if err = errors.Join(err, e); err == nil && b != nil && b.number != number {
			err = do(b)
		}
		if err != nil {
			return err
		}
		if b == nil || b.number != number {
			b = &copyBatch{number: number}
		}
		b.applications = append(b.applications, application)
		return nil
	})
	if err != nil || b == nil {
		return err
	}
	return do(b)
}

// work does a step on a batch.
func (job *copyJob) work(ctx context.Context, eng engine.Engine, step string, o Options, b *copyBatch, w *copies.Writer) error {
	l, err := job.load(ctx, eng, b.applications)
	if err != nil {
		return fmt.Errorf("whatif: %w", err)
	}
	if step != ReplayStep {
		return l.surveyBatch(ctx, b.number, o, w)
	}
	c, err := job.comparison(ctx, l, o)
	if err != nil {
		return fmt.Errorf("whatif: %w", err)
	}
	return c.replayBatch(ctx, l, b.number, w)
}

// load reads the data of a batch, except attempts.
func (job *copyJob) load(ctx context.Context, eng engine.Engine, applications []schema.Key) (*loader, error) {
	l, err := newPoolLoader(ctx, eng, applications)
	if err != nil {
		return nil, fmt.Errorf("reading the store: %w", err)
	}
	l.rows.First, l.rows.Last = job.First, job.Last
	if l.divide(math.MaxInt64); len(l.batches) != 1 || len(l.batches[0].Applications) != len(applications) {
		return nil, fmt.Errorf("%d applications of a batch are not there as they were", len(applications))
	}
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
	if err := l.batch(ctx); err != nil {
		return err
	}
	pools, sums := l.builder.Observe(l.batches[0])
	f := newSurvey(&o)
	f.add(pools)
	return w.Message(n, wire.Encode(&surveyed{names: l.rows.Names, pools: sums, seen: *f}))
}

// batch reads the attempts of the batch.
func (l *loader) batch(ctx context.Context) error {
	if err := l.fits(l.batches[0]); err != nil {
		return err
	}
	if err := l.attempts(ctx, l.batches[0].Applications); err != nil {
		return fmt.Errorf("whatif: reading the store: %w", err)
	}
	return nil
}

// comparison returns a comparison of the variants that uses the caller's model of all batches.
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
	blame, err := c.blames(ctx, l.tables)
	c.blame = blame
	return c, err
}

// replayBatch replays a batch and writes its rows and totals.
func (c *comparison) replayBatch(ctx context.Context, l *loader, n int64, w *copies.Writer) error {
	if err := l.batch(ctx); err != nil {
		return err
	}
	d := c.over(l.builder.Build(l.batches[0]))
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

// surveyed is the message of a copy about a batch.
type surveyed struct {
	names []string // of machines and executors, by the numbers that they have in pools
	pools []*model.Statistics
	seen  survey
}

// Fields implements wire.Message.
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
	notesField(c, &f.notes)
	c.Int(&f.pools)
	c.Int(&f.without)
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

// Fields implements wire.Message.
func (b *batchResults) Fields(c *wire.Codec) {
	c.Int(&b.jobs)
	c.Float(&b.missed)
	c.Float(&b.observed)
	notesField(c, &b.notes)
	wire.Slice(c, &b.totals, func(t *total) { t.fields(c) })
}

func notesField(c *wire.Codec, n *workload.Notes) {
	notes, err := json.Marshal(n) // counts, and one duration
	if err != nil {
		panic(err)
	}
	text := string(notes)
	if c.String(&text); c.Reading() && json.Unmarshal([]byte(text), n) != nil {
		*n = workload.Notes{}
	}
}

func (t *total) fields(c *wire.Codec) {
	c.Int64(&t.best)
	c.Float(&t.most)
	for g := range t.groups {
		q := &t.groups[g]
		c.Bool(&q.varies)
		for _, x := range [...]*[]float64{&q.other, &q.same, &q.before, &q.after} {
			wire.Slice(c, x, c.Float)
		}
		for _, x := range [...]*float64{&q.sum, &q.copies, &q.wins, &q.kills, &q.waste, &q.slots, &q.slotsPlain} {
			c.Float(x)
		}
	}
}

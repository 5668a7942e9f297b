package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"straggler/causes/model"
	"straggler/causes/wire"
	"straggler/engine"
	"straggler/engine/copies"
	"straggler/schema"
	"straggler/selection"
	"straggler/store"
	"straggler/whatif/policy"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// Pools are replayed independently of one another, so on an engine of many machines copies of this program replay them there, each some
// batches. What all pools say together, the model of machines and work, is learnt here and sent. A copy reads the attempts of its batch
// from the store by itself, writes the rows into the store and says what the batch gave in all, which is added up here in the order
// of the batches, as in one process.

// Step is the step of copies that replay.
const Step = "replay"

// copyJob is what copies must know.
type copyJob struct {
	Store     string   // its directory or URL as they see it
	State     string   // of its logs
	Most      int64    // attempts of a batch
	Names     []string // of machines and executors, as the model numbers them
	Model     []byte
	Variants  []variantText
	Scheduler string
	Seeds     int
	Analysed  bool
}

// variantText is a variant as text: its policy with the options that are changed.
type variantText struct {
	Policy  string
	Options []string
	Error   float64
}

// onCopies has copies replay the batches of a loader, which is observed.
func (r *results) onCopies(ctx context.Context, eng engine.RemoteRunner, l *loader, most int64, analysed bool, out *writer) error {
	where, err := eng.StoreAddress()
	if err != nil {
		return err
	}
	c := r.c
	job := copyJob{Store: where, State: out.tx.State(), Most: most, Names: l.rows.Names, Model: wire.Encode(l.builder.Model()), Seeds: c.o.Seeds, Analysed: analysed}
	if c.o.Scheduler.Other() {
		job.Scheduler = c.o.Scheduler.String()
	}
	for _, v := range c.variants {
		text := variantText{Policy: v.Name, Options: strings.Fields(v.Changed()), Error: v.Error}
		if p, err := text.policy(); err != nil || p.Parameters() != v.Policy.Parameters() {
			return fmt.Errorf("policy %s is none that other machines know: %w", v.Name, errors.ErrUnsupported)
		}
		job.Variants = append(job.Variants, text)
	}
	file, err := json.Marshal(job)
	if err != nil {
		return err
	}
	values := make([]string, len(l.batches))
	for i := range values {
		values[i] = "(" + strconv.Itoa(i) + ")"
	}
	const spread = 4 // shares for each batch: rows come to shares by a hash, and two batches rarely to one of many
	return copies.Run(ctx, out.tx, eng, engine.RemoteJob{SQL: "SELECT batch FROM (VALUES " + strings.Join(values, ", ") + ") AS t(batch)", Columns: []string{"batch"},
		Order: "batch", Partitions: spread * len(values), Verb: []string{"copy", Step, "--version", c.o.Tool}, File: file}, func(_ schema.Key, message []byte) error {
		var b batchResults
		if err := wire.Decode(message, &b); err != nil {
			return err
		}
		for range len(c.variants) * c.o.Seeds {
			r.progress(b.notes.Attempts)
		}
		r.merge(&b)
		return nil
	})
}

// policy is the policy of a variant.
func (v *variantText) policy() (policy.Policy, error) {
	p, err := policy.ByName(v.Policy)
	for _, o := range v.Options {
		name, value, _ := strings.Cut(o, "=")
		if err == nil {
			p, err = p.With(name, value)
		}
	}
	return p, err
}

// Copy replays the batches whose numbers it reads, and writes what that gives. It runs on the cluster's machines; open opens an
// engine over the store there.
func Copy(ctx context.Context, pieces, file string, in io.Reader, out io.Writer, open func(context.Context, *store.Store) (engine.Engine, error)) error {
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
	l, c, err := job.load(ctx, eng)
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
		return w.Close(out, c.copied(ctx, l, n, w))
	})
}

// load reads what a copy needs of a store besides attempts.
func (job *copyJob) load(ctx context.Context, eng engine.Engine) (*loader, *comparison, error) {
	l, err := newLoader(ctx, eng, selection.Applications{})
	if err != nil {
		return nil, nil, fmt.Errorf("reading the store: %w", err)
	}
	for _, name := range job.Names {
		l.rows.Intern(name)
	}
	m := &model.Model{}
	if err := wire.Decode(job.Model, m); err != nil {
		return nil, nil, err
	}
	b, _ := l.divide(job.Most)
	b.UseModel(m)
	o := Options{Seeds: job.Seeds, Workers: 1} // the cluster runs as many copies as it has cores
	if job.Scheduler != "" {
		chosen, err := schedule.Choose([]string{job.Scheduler})
		if err != nil {
			return nil, nil, err
		}
		o.Scheduler = chosen[0]
	}
	c := newComparison(&workload.Workload{}, o)
	c.variants = nil
	for _, v := range job.Variants {
		p, err := v.policy()
		if err != nil {
			return nil, nil, err
		}
		c.variants = append(c.variants, Variant{Policy: p, Error: v.Error, Scheduler: o.Scheduler})
	}
	c.blame, err = c.blames(ctx, l.tables, job.Analysed)
	return l, c, err
}

// copied replays a batch and writes its rows and what it gave in all.
func (c *comparison) copied(ctx context.Context, l *loader, n int64, w *copies.Writer) error {
	batch := l.batches[n]
	if err := l.fits(batch); err != nil {
		return err
	}
	if err := l.attempts(ctx, batch.Applications); err != nil {
		return fmt.Errorf("whatif: reading the store: %w", err)
	}
	d := c.over(l.builder.Build(batch))
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

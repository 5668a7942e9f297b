package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"straggler/causes/wire"
	"straggler/engine"
	"straggler/engine/copies"
	"straggler/schema"
	"straggler/whatif/policy"
)

// Pools are replayed independently of one another, so on an engine of many machines copies of the program read and replay them
// there, some batches each. There are two steps, because the model of machines and work, to which all pools contribute, must be
// known before the first replay. This process adds up messages in the order of the batches, as a run in one process does, so
// that both give the same results to the last bit. It never reads attempts.

// Steps of copies.
const (
	SurveyStep = "survey" // observations of the pools of a batch about machines and work, and what the pools lack
	ReplayStep = "replay" // outcomes of their replays; rows are written to the store
)

// cluster is an engine whose machines run copies.
type cluster struct {
	eng  engine.RemoteRunner
	in   engine.Loader // the same, which can load rows
	l    *loader       // whose pools are divided
	out  *writer
	tool string // version of this program
	job  copyJob
}

// copyJob is the input common to all copies.
type copyJob struct {
	Store     string   // its directory or URL as copies see it
	State     string   // of its logs
	First     int64    // start of an attempt of the store
	Last      int64    // time of one
	Names     []string // of machines and executors, as the model numbers them
	Model     []byte   // of machines and of work; empty before it is known
	Variants  []variantText
	Scheduler string
	Seeds     int
}

// variantText encodes a variant: its policy with the options that differ from the defaults.
type variantText struct {
	Policy  string
	Options []string
	Error   float64
}

// clusterOf returns the cluster of an engine; nil if the work is done in this process: on a local engine, if all pools fit into
// one batch, if nothing is written, or if a policy is a custom one that copies do not have.
func clusterOf(eng engine.Engine, l *loader, o *Options, out *writer) (*cluster, error) {
	many, isMany := eng.(engine.RemoteRunner)
	in, takesRows := eng.(engine.Loader)
	if !isMany || !takesRows || out == nil || o.Optimize || len(l.batches) < 2 {
		return nil, nil
	}
	where, err := many.StoreAddress()
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	c := &cluster{eng: many, in: in, l: l, out: out, tool: o.Tool,
		job: copyJob{Store: where, State: out.tx.State(), First: l.rows.First, Last: l.rows.Last}}
	if o.Scheduler.Other() {
		c.job.Scheduler = o.Scheduler.String()
	}
	for _, p := range o.Policies {
		v, known := textOf(Variant{Policy: p})
		if !known {
			return nil, nil
		}
		c.job.Variants = append(c.job.Variants, v)
	}
	return c, err
}

// textOf encodes a variant; known is false for a policy that copies do not have.
func textOf(v Variant) (text variantText, known bool) {
	text = variantText{Policy: v.Name, Options: strings.Fields(v.Changed()), Error: v.Error}
	p, err := text.policy()
	return text, err == nil && p.Parameters() == v.Policy.Parameters()
}

// policy returns the policy of a variant.
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

// survey has copies observe the batches; the loader learns from their observations as from attempts that it read itself.
func (c *cluster) survey(ctx context.Context, f *survey) error {
	return c.run(ctx, SurveyStep, func(message []byte) error {
		var s surveyed
		if err := wire.Decode(message, &s); err != nil {
			return err
		}
		f.merge(&s.seen)
		numbers := make([]int64, len(s.names))
		for i, name := range s.names {
			numbers[i] = int64(c.l.rows.Intern(name))
		}
		for _, sums := range s.pools {
			if err := sums.Renumber(numbers); err != nil {
				return err
			}
		}
		c.l.builder.Learn(s.pools)
		return nil
	})
}

// replay has copies replay the surveyed batches.
func (c *cluster) replay(ctx context.Context, r *results) error {
	c.job.Names, c.job.Model, c.job.Seeds, c.job.Variants = c.l.rows.Names, wire.Encode(c.l.builder.Model()), r.c.o.Seeds, nil
	for _, v := range r.c.variants {
		text, _ := textOf(v)
		c.job.Variants = append(c.job.Variants, text)
	}
	return c.run(ctx, ReplayStep, func(message []byte) error {
		var b batchResults
		if err := wire.Decode(message, &b); err != nil {
			return err
		}
		for range len(r.c.variants) * r.c.o.Seeds {
			r.progress(b.notes.Attempts)
		}
		r.merge(&b)
		return nil
	})
}

// batchApplication is a row that copies read: an application of a batch, with all of its pools.
type batchApplication struct {
	Batch       int64      `col:"batch"`
	Application schema.Key `col:"application_id"`
}

// batchTable has a row for each application.
const batchTable = "whatif_batches"

// batchColumns are the columns of its rows, in the order in which readBatches reads them.
var batchColumns = []string{"batch", "application_id"}

// load sends the applications of each batch to the cluster.
func (c *cluster) load(ctx context.Context) error {
	var rows []batchApplication
	return engine.Load(ctx, c.in, batchTable, func(yield func([]batchApplication, error) bool) {
		for i := range c.l.batches {
			rows = rows[:0]
			for _, app := range c.l.batches[i].Applications {
				rows = append(rows, batchApplication{int64(i), app})
			}
			if !yield(rows, nil) {
				return
			}
		}
	})
}

// run has copies do a step, and passes on their messages in the order of the batches.
func (c *cluster) run(ctx context.Context, step string, each func(message []byte) error) error {
	file, err := json.Marshal(c.job)
	if err != nil {
		return err
	}
	if err := c.load(ctx); err != nil {
		return err
	}
	columns := strings.Join(batchColumns, ", ")
	const spread = 4 // shares per batch: rows are assigned to shares by a hash, and with many shares two batches rarely collide
	err = copies.Run(ctx, c.out.tx, c.eng, engine.RemoteJob{SQL: "SELECT " + columns + " FROM " + batchTable, Columns: batchColumns, Order: columns,
		Partitions: spread * len(c.l.batches), Verb: []string{"copy", step, "--version", c.tool}, File: file}, func(_ schema.Key, message []byte) error {
		return each(message)
	})
	return errors.Join(err, c.eng.Drop(context.WithoutCancel(ctx), batchTable))
}

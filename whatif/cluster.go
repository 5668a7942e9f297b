package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"straggler/causes/wire"
	"straggler/engine"
	"straggler/engine/copies"
	"straggler/schema"
	"straggler/whatif/policy"
)

// Pools are replayed independently of one another, so on an engine of many machines copies of this program read and replay them
// there, each some batches, in two steps: what all pools say together, the model of machines and of work, must be known before
// the first is replayed. Messages are added up here in the order of the batches, as in one process, so that both give the same
// to the last bit. Attempts never come here.

// Steps of copies.
const (
	SurveyStep = "survey" // what the pools of a batch say of machines and of work, and what they lack
	ReplayStep = "replay" // what replays of them give; the rows go into the store
)

// cluster is an engine whose machines run copies.
type cluster struct {
	eng  engine.RemoteRunner
	l    *loader // whose pools are divided
	out  *writer
	tool string // version of this program
	job  copyJob
}

// copyJob is what copies must know.
type copyJob struct {
	Store     string   // its directory or URL as they see it
	State     string   // of its logs
	Most      int64    // attempts of a batch
	Names     []string // of machines and executors, as the model numbers them
	Model     []byte   // of machines and of work; none before it is known
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

// clusterOf is the cluster of an engine; nil where the work is done here: in one process, where all pools fit into one batch,
// where nothing is written, and where a policy is none that other machines know.
func clusterOf(eng engine.Engine, l *loader, o *Options, analysed bool, most int64, out *writer) (*cluster, error) {
	many, ok := eng.(engine.RemoteRunner)
	if !ok || out == nil || o.Optimize || len(l.batches) < 2 {
		return nil, nil
	}
	where, err := many.StoreAddress()
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	c := &cluster{eng: many, l: l, out: out, tool: o.Tool, job: copyJob{Store: where, State: out.tx.State(), Most: most, Analysed: analysed}}
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

// textOf is a variant as text; known is false for a policy that other machines do not have.
func textOf(v Variant) (text variantText, known bool) {
	text = variantText{Policy: v.Name, Options: strings.Fields(v.Changed()), Error: v.Error}
	p, err := text.policy()
	return text, err == nil && p.Parameters() == v.Policy.Parameters()
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

// survey has copies observe the batches, from which the loader learns as from attempts that it read itself.
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

// replay has copies replay the batches, which are surveyed.
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

// run has copies do a step, and hands on their messages in the order of the batches.
func (c *cluster) run(ctx context.Context, step string, each func(message []byte) error) error {
	file, err := json.Marshal(c.job)
	if err != nil {
		return err
	}
	values := make([]string, len(c.l.batches))
	for i := range values {
		values[i] = "(" + strconv.Itoa(i) + ")"
	}
	const spread = 4 // shares for each batch: rows come to shares by a hash, and two batches rarely to one of many
	return copies.Run(ctx, c.out.tx, c.eng, engine.RemoteJob{SQL: "SELECT batch FROM (VALUES " + strings.Join(values, ", ") + ") AS t(batch)", Columns: []string{"batch"},
		Order: "batch", Partitions: spread * len(values), Verb: []string{"copy", step, "--version", c.tool}, File: file}, func(_ schema.Key, message []byte) error {
		return each(message)
	})
}

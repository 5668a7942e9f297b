// Package published rebuilds the experiments of the papers and sets their numbers beside ours.
//
//  1. late.go, mantri.go and dolly.go each rebuild one paper's experiments with package scenario and replay them. Traces
//     that the papers used are not public: their clusters and jobs are rebuilt from the numbers that the papers give, and
//     the inputs that had to be assumed stand in the notes of the rows. No input was chosen to meet a published number.
//  2. A Row is a published number, ours, and how far apart they may be: 0 for numbers that follow from a definition.
//
// Start with Rows.
package published

import (
	"context"
	"math"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
)

// Row is a published number beside ours.
type Row struct {
	Paper     string  `col:"paper"`
	Section   string  `col:"section"`
	Quantity  string  `col:"quantity"`
	Published float64 `col:"published"`
	Ours      float64 `col:"ours"`
	Tolerance float64 `col:"tolerance" doc:"how far apart they may be, in the unit of the quantity"`
	Within    bool    `col:"within"`
	Note      string  `col:"note" doc:"what was assumed, and why they differ where they do"`
	Rebuilt   bool    // inputs had to be assumed, so that ours need not be within the tolerance
}

// Rows rebuilds everything, in the order of papers and sections.
func Rows(ctx context.Context) ([]Row, error) {
	var rows []Row
	for _, part := range []func(context.Context) ([]Row, error){lateRows, mantriRows, dollyRows} {
		r, err := part(ctx)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

// table collects the rows of one paper.
type table struct {
	paper string
	rows  []Row
}

// add adds a number that follows from the rules alone.
func (t *table) add(section, quantity string, published, ours, tolerance float64, note string) {
	t.rows = append(t.rows, Row{
		Paper: t.paper, Section: section, Quantity: quantity, Published: published, Ours: ours, Tolerance: tolerance,
		Within: math.Abs(ours-published) <= tolerance+1e-9, Note: note,
	})
}

// rebuilt adds a number from a cluster or workload that had to be rebuilt, some of whose inputs are assumed.
func (t *table) rebuilt(section, quantity string, published, ours, tolerance float64, note string) {
	t.add(section, quantity, published, ours, tolerance, note)
	t.rows[len(t.rows)-1].Rebuilt = true
}

// named is a policy of the table with options, given as name, value, name, value, …
func named(name string, options ...string) (policy.Policy, error) {
	p, err := policy.ByName(name)
	for n := 0; err == nil && n < len(options); n += 2 {
		p, err = p.With(options[n], options[n+1])
	}
	return p, err
}

// outcome is the sum of a replay over jobs.
type outcome struct {
	jobs         []float64 // completion times, seconds
	copies, wins float64
	waste, slots float64 // seconds
}

// mean is the mean completion time.
func (o *outcome) mean() float64 {
	sum := 0.0
	for _, j := range o.jobs {
		sum += j
	}
	return sum / float64(len(o.jobs))
}

// play replays a cluster under a policy.
func play(ctx context.Context, w *replay.Workload, p policy.Policy, seed int64, sigma float64) (*outcome, error) {
	out := &outcome{}
	var s replay.Sim
	for _, pool := range w.Pools {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o := replay.Options{Policy: p.New(), Seed: seed, Sigma: sigma}
		if f := p.Durations(nil); f != nil {
			o.Took = f(pool)
		}
		r := s.Run(pool, o)
		if err := r.Err(); err != nil {
			return nil, err
		}
		for _, j := range r.Jobs {
			out.jobs = append(out.jobs, float64(j.Took)/1e6)
			out.copies += float64(j.Copies)
			out.wins += float64(j.Wins)
			out.waste += float64(j.Waste) / 1e6
			out.slots += float64(j.Slots) / 1e6
		}
	}
	return out, nil
}

func build(c *scenario.Cluster) *replay.Workload { return replay.Build(c.Rows()) }

// moments are the mean and the standard deviation of a sample.
func moments(v []float64) (mean, sd float64) {
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	for _, x := range v {
		sd += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sd / float64(max(len(v)-1, 1)))
}

package whatif

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"straggler/schema"
	"straggler/selection"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// Options select what to replay. The zero Options replays the default policies.
type Options struct {
	Policies []policy.Policy // nil: Default
	Seeds    int             // replays of each policy, with different random numbers; 0: 20
	// relative standard deviations of synthetic progress, for policies that use progress; nil: 0.03 and 0.3
	Errors  []float64
	Workers int // 0: one per core
	// Scheduler assigns slots in place of the log's own scheduler; savings are then those of the scheduler with each policy,
	// including none, relative to the log. The zero value is the log's own scheduler.
	Scheduler schedule.Scheduler
	// Applications are those whose jobs are replayed. Of other applications only jobs that share their slots are replayed, and
	// these are not part of any result.
	Applications selection.Applications
	Optimize     bool                // replay the best settings of Spark's speculation too, where all logs are Spark's
	Tool         string              // version of straggler, for the commit
	Progress     func(share float64) // called with the share of the work that is done; may be nil
	brief        bool                // made by Brief: the user did not ask for errors
}

// errorLevels are the initial relative errors of policies' estimates for running tasks: 0.03 is the error of Mantri's estimates
// (2.9 %, MANTRI §6.2), 0.3 is ten times that.
var errorLevels = []float64{0.03, 0.3}

// Variant is a policy with its options and the error of the progress that it sees.
type Variant struct {
	policy.Policy
	Error     float64 // 0 if the policy does not use progress
	Scheduler schedule.Scheduler
}

// Parameters returns the options of a variant as a JSON object.
func (v Variant) Parameters() string {
	p := v.Policy.Parameters()
	if v.Progress {
		p = withParameter(p, "progress_error", v.Error)
	}
	if v.Scheduler.Other() {
		p = withParameter(p, "scheduler", v.Scheduler.String())
	}
	return p
}

// withParameter adds a parameter to a JSON object.
func withParameter(object, name string, value any) string {
	data, err := json.Marshal(value)
	if err != nil { // a number or a word
		panic(err)
	}
	comma := ","
	if object == "{}" {
		comma = ""
	}
	return fmt.Sprintf("%s%s%q:%s}", object[:len(object)-1], comma, name, data)
}

// variants returns the policies, with one variant per error for those that use progress; a single one without error if the log
// has the progress of all attempts.
func (o *Options) variants(n *workload.Notes) []Variant {
	policies, levels := o.Policies, o.Errors
	if policies == nil {
		policies = Default()
	}
	if levels == nil {
		levels = errorLevels
	}
	if allReported(n) {
		levels = []float64{0}
	}
	var out []Variant
	for _, p := range policies {
		if p.Name == "none" && !o.Scheduler.Other() {
			continue // it is the baseline
		}
		if !p.Progress {
			out = append(out, Variant{Policy: p, Scheduler: o.Scheduler})
			continue
		}
		for k, e := range levels {
			if slices.Contains(levels[:k], e) {
				continue
			}
			out = append(out, Variant{Policy: p, Error: e, Scheduler: o.Scheduler})
		}
	}
	return out
}

// allReported reports whether the log has the progress of all attempts.
func allReported(n *workload.Notes) bool { return n.Reported > 0 && n.Reported == n.Attempts }

// comparison replays variants on workloads, one workload after the other.
type comparison struct {
	w        *workload.Workload
	o        Options
	variants []Variant
	seed     int64 // the first
	blame    map[schema.Cause]map[schema.Key]float64
	each     pass        // over the workloads
	kept     *[]baseline // of the workloads, for further passes; nil: not kept
	first    []int       // index of each pool's first job among all jobs
	jobs     int
	others   []bool              // by job: its application only shares slots with the selected ones; nil: no job
	meant    map[schema.Key]bool // selected applications; nil: all
	baseline
}

// baseline is the outcome of policy none on a workload.
type baseline struct {
	none []replay.JobOutcome // the log as it was
	// by number of the seed and job: the share by which another run is longer than the mean of such runs
	again [][]float32
}

func newComparison(w *workload.Workload, o Options) *comparison {
	c := &comparison{o: o, variants: o.variants(&w.Notes), seed: 1, each: only(w)}
	if c.o.Seeds <= 0 {
		c.o.Seeds = 20
	}
	if c.o.Workers <= 0 {
		c.o.Workers = runtime.GOMAXPROCS(0)
	}
	return c.over(w)
}

// over returns the same comparison for another workload.
func (c *comparison) over(w *workload.Workload) *comparison {
	d := *c
	d.w, d.first, d.jobs, d.others, d.baseline = w, nil, 0, nil, baseline{}
	for _, p := range w.Pools {
		d.first = append(d.first, d.jobs)
		d.jobs += p.NumJobs()
		for j := 0; c.meant != nil && j < p.NumJobs(); j++ {
			_, app := p.JobKeys(j)
			d.others = append(d.others, !c.meant[app])
		}
	}
	return &d
}

// other reports whether a job is replayed only because it shares slots with the selected ones.
func (c *comparison) other(job int) bool { return c.others != nil && c.others[job] }

// counted returns the number of jobs in the results.
func (c *comparison) counted() (n int) {
	for j := range c.jobs {
		if !c.other(j) {
			n++
		}
	}
	return n
}

// pass calls do with the comparison for each workload, after its baseline.
func (c *comparison) pass(ctx context.Context, do func(*comparison) error) error {
	n := 0
	return c.each(func(w *workload.Workload) error {
		d := c.over(w)
		if c.kept != nil && n < len(*c.kept) {
			d.baseline = (*c.kept)[n]
		} else if err := d.replayNone(ctx); err != nil {
			return err
		} else if c.kept != nil {
			*c.kept = append(*c.kept, d.baseline)
		}
		n++
		return do(d)
	})
}

// unit is one variant under one seed.
type unit struct {
	variant int
	number  int // of the seed, from 0
	seed    int64
	jobs    []replay.JobOutcome // of all pools, one after the other
	drew    []bool              // by pool: it used random numbers, so that other seeds give other outcomes
	err     error
}

// begun is the first seed of a variant; other seeds skip the pools in which it used no random numbers.
type begun struct {
	ready chan struct{}
	unit  *unit
}

// replays runs all units, several at once, and passes them to do in order. Units of one variant are adjacent.
func (c *comparison) replays(ctx context.Context, do func(*unit) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	units := len(c.variants) * c.o.Seeds
	firsts := make([]begun, len(c.variants))
	results := make([]chan *unit, units)
	for n := range results {
		results[n] = make(chan *unit, 1)
	}
	for n := range firsts {
		firsts[n].ready = make(chan struct{})
	}
	tokens := make(chan struct{}, 2*c.o.Workers) // outcomes held in memory
	next := make(chan int)
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel()
	for range c.o.Workers {
		wait.Go(func() {
			var w worker
			for n := range next {
				results[n] <- c.replay(ctx, &w, n, firsts)
			}
		})
	}
	wait.Go(func() {
		defer close(next)
		for n := range units {
			select {
			case tokens <- struct{}{}:
			case <-ctx.Done():
				return
			}
			next <- n
		}
	})
	for n := range units {
		select {
		case u := <-results[n]:
			<-tokens
			if u.err != nil {
				return u.err
			}
			if err := do(u); err != nil {
				return err
			}
			if u.number+1 == c.o.Seeds {
				firsts[u.variant].unit = nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// replay runs unit n.
func (c *comparison) replay(ctx context.Context, w *worker, n int, firsts []begun) *unit {
	u := &unit{variant: n / c.o.Seeds, number: n % c.o.Seeds}
	u.seed = c.seed + int64(u.number)
	first := &firsts[u.variant]
	var known *unit
	if u.number > 0 {
		select {
		case <-first.ready:
			known = first.unit
		case <-ctx.Done():
			u.err = ctx.Err()
			return u
		}
	} else {
		defer func() { first.unit = u; close(first.ready) }()
	}
	v := c.variants[u.variant]
	ideal := v.Durations(c.blame[v.Cause])
	u.jobs, u.drew = make([]replay.JobOutcome, c.jobs), make([]bool, len(c.w.Pools))
	for i, p := range c.w.Pools {
		if ctx.Err() != nil {
			u.err = ctx.Err()
			return u
		}
		jobs := u.jobs[c.first[i] : c.first[i]+p.NumJobs()]
		if known != nil && known.err == nil && !known.drew[i] {
			copy(jobs, known.jobs[c.first[i]:])
			continue
		}
		o := replay.Options{Policy: v.New(), Seed: u.seed, Sigma: v.Error, Stop: func() bool { return ctx.Err() != nil }}
		if v.Scheduler.Other() {
			o.Scheduler = v.Scheduler.New()
		}
		if ideal != nil {
			o.Took = ideal(p)
		}
		out := w.sim.Run(w.sample.Draw(p, u.seed), o)
		if u.err = ctx.Err(); u.err != nil {
			return u
		}
		if u.err = out.Err(); u.err != nil {
			u.err = fmt.Errorf("policy %s, seed %d: %w", v.Name, u.seed, u.err)
			return u
		}
		copy(jobs, out.Jobs)
		u.drew[i] = out.Drew || v.New() != nil && c.changed(i, jobs)
	}
	return u
}

// worker is the state of one goroutine.
type worker struct {
	sim    replay.Sim
	sample workload.Sample
}

// changed reports whether the outcome for pool i differs from the log.
func (c *comparison) changed(i int, jobs []replay.JobOutcome) bool {
	for j := range jobs {
		if jobs[j].Took != c.none[c.first[i]+j].Took {
			return true
		}
	}
	return false
}

// replayNone computes the baseline: the log itself and, for each seed, another possible run of it.
func (c *comparison) replayNone(ctx context.Context) error {
	none := make([]replay.JobOutcome, c.jobs)
	var sim replay.Sim
	for i, p := range c.w.Pools {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		out := sim.Run(p, replay.Options{})
		if err := out.Err(); err != nil {
			return fmt.Errorf("policy none: %w", err)
		}
		copy(none[c.first[i]:], out.Jobs)
	}
	c.none, c.again = none, make([][]float32, c.o.Seeds)
	var wait sync.WaitGroup
	for k := range c.o.Workers {
		wait.Go(func() {
			var sim replay.Sim
			for n := k; n < c.o.Seeds && ctx.Err() == nil; n += c.o.Workers {
				c.again[n] = c.another(ctx, &sim, c.seed+int64(n))
			}
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for j := range c.jobs {
		mean := float32(0)
		for n := range c.again {
			mean += c.again[n][j] / float32(len(c.again))
		}
		for n := range c.again {
			c.again[n][j] -= mean
		}
	}
	return nil
}

// discrepancy is the error of the simulator itself, as a share of a job's completion time (one standard deviation; Kennedy and
// O'Hagan 2001). The maximum likelihood estimate, beyond the other uncertainties, is 0 to 0.04, depending on the seeds, from
// the real pairs of testdata/labelled, and 0.08 from those of testdata/pairs; TestMeasuredPairs prints it.
const discrepancy = 0.04

// another draws, for each job, the share by which it would have been longer in another run, including the error of the replay.
func (c *comparison) another(ctx context.Context, sim *replay.Sim, seed int64) []float32 {
	longer := make([]float32, c.jobs)
	for i, p := range c.w.Pools {
		if ctx.Err() != nil {
			break
		}
		out := sim.Run(p, replay.Options{Took: p.Again(seed), Stop: func() bool { return ctx.Err() != nil }})
		for j := range out.Jobs {
			if took := c.none[c.first[i]+j].Took; took > 0 {
				longer[c.first[i]+j] = float32(float64(out.Jobs[j].Took)/float64(took) - 1 + discrepancy*p.ReplayLuck(j, seed))
			}
		}
	}
	return longer
}

// replayError returns the error of replays under policy none: the sum of the absolute differences over the jobs whose completion
// time is known, and the sum of these times.
func (c *comparison) replayError() (seconds, observed float64) {
	for i, p := range c.w.Pools {
		for j := range p.NumJobs() {
			if o := p.Observed(j); o >= 0 && !c.other(c.first[i]+j) {
				seconds += math.Abs(float64(c.none[c.first[i]+j].Took-o)) / 1e6
				observed += float64(o) / 1e6
			}
		}
	}
	return seconds, observed
}

package whatif

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"straggler/engine"
	"straggler/schema"
	"straggler/whatif/policy"
	"straggler/whatif/workload"
)

// Advice is the best setting of Spark's speculation that was found for a workload.
type Advice struct {
	Lines        []string // of spark-defaults.conf; none where the verdict is that it cannot be told
	Result       Result   // what the best settings give, under other luck than that of the search
	Tried        int
	Verdict      schema.SavingVerdict // unless it is that they save time, the advice is to leave speculation off
	ReplayErrorS float64              // of policy none against the log, summed over the jobs
	ReplayError  float64              // the same as a share
}

// grid is what Optimize tries of each of Spark's four settings, one after the other, the other three being as good as
// they are known to be.
var grid = []struct {
	option, setting string
	time            bool // in seconds; Spark takes whole numbers with a unit
	values          []string
}{
	{"multiplier", "spark.speculation.multiplier", false, []string{"1.1", "1.25", "1.5", "2", "3", "5"}},
	{"quantile", "spark.speculation.quantile", false, []string{"0.5", "0.6", "0.75", "0.9", "0.95"}},
	{"min_task_runtime", "spark.speculation.minTaskRuntime", true, []string{"0.1", "1", "5", "15", "60"}},
	{"task_duration_threshold", "spark.speculation.task.duration.threshold", true, []string{"0", "10", "30", "60", "300"}},
}

// Optimize searches Spark's four speculation settings for a store, twice round, starting with the defaults of the logs'
// version. Of settings whose savings cannot be distinguished the one that costs least slot time wins. What the advice promises
// comes from seeds that the search has not seen. Where the store does not fit in memory it is read anew for each round of
// settings.
func Optimize(ctx context.Context, eng engine.Engine, o Options) (Advice, error) {
	l, err := newLoader(ctx, eng, o.Applications)
	if err != nil {
		return Advice{}, fmt.Errorf("whatif: reading the store: %w", err)
	}
	l.divide(batchAttempts)
	f := newSurvey(&o)
	if err := l.observe(ctx, f.add); err != nil {
		return Advice{}, fmt.Errorf("whatif: %w", err)
	}
	return optimum(ctx, f, l.pass(ctx), o)
}

func optimum(ctx context.Context, f *survey, each pass, o Options) (Advice, error) {
	if f.foreign != "" {
		return Advice{}, fmt.Errorf("whatif: %w: the store has a log of %s, which has no such settings; keep Spark's logs in a store of their own, or compare policies with --sweep spark.multiplier=1:3:0.5", ErrNotSpark, f.foreign)
	}
	c := newComparison(&workload.Workload{Notes: f.notes}, o)
	c.each, c.kept = each, &[]baseline{}
	var a Advice
	observed := 0.0
	err := c.pass(ctx, func(d *comparison) error {
		missed, of := d.replayError()
		a.ReplayErrorS, observed = a.ReplayErrorS+missed, observed+of
		return nil
	})
	if err != nil {
		return Advice{}, fmt.Errorf("whatif: %w", err)
	}
	if observed > 0 {
		a.ReplayError = a.ReplayErrorS / observed
	}
	best, tried, err := c.search(ctx, 1+int64(c.o.Seeds))
	if err != nil {
		return Advice{}, fmt.Errorf("whatif: %w", err)
	}
	final, err := c.try(ctx, []policy.Policy{best}, 1, map[string]Result{})
	if err != nil {
		return Advice{}, fmt.Errorf("whatif: %w", err)
	}
	a.Tried, a.Result = tried, final[0]
	a.Verdict = a.Result.Verdict(uncertainty(a.ReplayErrorS, f.notes.MostlyUnended()))
	a.Lines = lines(&a)
	return a, nil
}

// ErrNotSpark is wrapped by the error about settings of Spark that are to be found for another framework.
var ErrNotSpark = errors.New("only Spark has settings of speculation to search")

// search is the best setting of Spark's speculation under a row of seeds, and how many it tried.
func (c *comparison) search(ctx context.Context, seed int64) (best policy.Policy, settings int, err error) {
	best = known("spark")
	tried := map[string]Result{}
	for range 2 {
		for _, g := range grid {
			var list []policy.Policy
			for _, v := range g.values {
				p, err := best.With(g.option, v)
				if err != nil {
					return best, 0, err
				}
				list = append(list, p)
			}
			r, err := c.try(ctx, append([]policy.Policy{best}, list...), seed, tried) // of equal ones what is known stays
			if err != nil {
				return best, 0, err
			}
			best = cheapest(r).Policy
		}
	}
	return best, len(tried), nil
}

// searchSeeds are the seeds of a search that goes with other replays. They are far from those, so that what it promises is
// not what it was chosen for.
const (
	searchFrom  = 1_000_000
	searchSeeds = 5
)

// optimize adds the best setting of Spark's speculation to the variants, where it is not the default.
func (c *comparison) optimize(ctx context.Context) error {
	c.kept = &[]baseline{}
	if err := c.pass(ctx, func(*comparison) error { return nil }); err != nil {
		return err
	}
	d := *c
	d.o.Seeds = min(searchSeeds, c.o.Seeds)
	best, _, err := d.search(ctx, searchFrom)
	if err == nil && best.Changed() != "" {
		c.variants = append(c.variants, Variant{Policy: best})
	}
	return err
}

// try replays policies, those that were tried before from memory.
func (c *comparison) try(ctx context.Context, policies []policy.Policy, seed int64, tried map[string]Result) ([]Result, error) {
	d := *c
	d.variants, d.seed = nil, seed
	for _, p := range policies {
		if _, ok := tried[p.Parameters()]; !ok {
			tried[p.Parameters()] = Result{}
			d.variants = append(d.variants, Variant{Policy: p})
		}
	}
	totals := make([]total, len(d.variants))
	if len(d.variants) > 0 {
		err := d.pass(ctx, func(x *comparison) error {
			return x.tallied(ctx, totals, func(*unit) error { return nil }, func(int, []JobSaving) error { return nil })
		})
		if err != nil {
			return nil, err
		}
	}
	for i, v := range d.variants {
		tried[v.Parameters()] = totals[i].result(v)
	}
	var out []Result
	for _, p := range policies {
		out = append(out, tried[p.Parameters()])
	}
	return out, nil
}

// cheapest is the result that costs least slot time among those whose saving cannot be told from the best: seed by seed, since
// all have the same random numbers.
func cheapest(r []Result) Result {
	best := r[0]
	for _, x := range r {
		if x.All.Saving.Mean > best.All.Saving.Mean {
			best = x
		}
	}
	choice := best
	for _, x := range r {
		if !(difference(best.saved, x.saved).Low > 0) && x.All.SlotChange < choice.All.SlotChange {
			choice = x
		}
	}
	return choice
}

// lines are the settings as lines of spark-defaults.conf; settings that are left to Spark are left out.
func lines(a *Advice) []string {
	switch a.Verdict {
	case schema.Saves:
	case schema.CannotTell:
		return nil
	default:
		return []string{"spark.speculation false"}
	}
	out := []string{"spark.speculation true"}
	for _, g := range grid {
		value, ok := a.Result.Option(g.option)
		if !ok || value == "log" || value == "0" {
			continue
		}
		if g.time {
			if seconds, err := strconv.ParseFloat(value, 64); err == nil {
				value = fmt.Sprintf("%.0fms", seconds*1000)
			}
		}
		out = append(out, g.setting+" "+value)
	}
	return out
}

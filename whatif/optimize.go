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
	Lines        []string // of spark-defaults.conf; none if the verdict is that it cannot be told
	Result       Result   // outcome of the best settings, with other random numbers than those of the search
	Tried        int
	Verdict      schema.SavingVerdict // the advice is to leave speculation off unless it is that they save time
	ReplayErrorS float64              // of policy none against the log, summed over the jobs
	ReplayError  float64              // the same as a share
}

// grid has the values that Optimize tries for each of Spark's four settings, one setting after the other, with the best known
// values of the other three.
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

// Optimize searches Spark's four speculation settings for a store by two rounds of coordinate descent, starting with the
// defaults of the logs' version. Among settings whose savings do not differ significantly, the one with the least slot time
// wins. The savings in the advice are from seeds not used by the search. A store that does not fit in memory is read again for
// each round of settings.
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
	a.Verdict = a.Result.Verdict(uncertainty(a.ReplayErrorS, f.notes.MostlyUntimed()))
	a.Lines = lines(&a)
	return a, nil
}

// ErrNotSpark is wrapped by the error of a search for Spark settings on logs of another framework.
var ErrNotSpark = errors.New("only Spark has settings of speculation to search")

// search returns the best setting of Spark's speculation under a series of seeds, and the number of settings tried.
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
			r, err := c.try(ctx, append([]policy.Policy{best}, list...), seed, tried) // on ties the best so far stays
			if err != nil {
				return best, 0, err
			}
			best = cheapest(r).Policy
		}
	}
	return best, len(tried), nil
}

// searchSeeds is the first seed of a search that accompanies other replays. It is far from theirs, so that the savings reported
// are not biased by the search.
const (
	searchFrom  = 1_000_000
	searchSeeds = 5
)

// optimize adds the best setting of Spark's speculation to the variants, unless it is the default.
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

// try replays policies, reusing the results of those tried before.
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

// cheapest returns the result with the least slot time among those whose saving does not differ significantly from the best,
// compared in pairs, since all use the same random numbers.
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

// lines returns the settings as lines of spark-defaults.conf, omitting those left to Spark.
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

package whatif

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
)

// mostSteps is how many values a sweep may try.
const mostSteps = 1000

// Set applies settings such as late.cap=0.2 to the policies that they name; each must name one of them.
func Set(policies []policy.Policy, settings ...string) ([]policy.Policy, error) {
	out := append([]policy.Policy(nil), policies...)
	for _, s := range settings {
		name, option, value, err := split(s)
		if err != nil {
			return nil, err
		}
		found := false
		for i := range out {
			if out[i].Name == name {
				if out[i], err = out[i].With(option, value); err != nil {
					return nil, err
				}
				found = true
			}
		}
		if !found {
			return nil, fmt.Errorf("setting %s: policy %s is not among those that are replayed", s, name)
		}
	}
	return out, nil
}

// Sweep gives a policy with each value of one option: late.cap=0.05:0.5:0.05 (from, to, step, both ends included) or
// spark3.multiplier=1.5,2,3.
func Sweep(spec string) ([]policy.Policy, error) {
	name, option, values, err := split(spec)
	if err != nil {
		return nil, err
	}
	p, err := policy.ByName(name)
	if err != nil {
		return nil, err
	}
	list := strings.Split(values, ",")
	if strings.Contains(values, ":") {
		if list, err = steps(values); err != nil {
			return nil, fmt.Errorf("sweep %s: %w", spec, err)
		}
	}
	var out []policy.Policy
	for _, v := range list {
		q, err := p.With(option, v)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

func split(s string) (name, option, value string, err error) {
	key, value, ok := strings.Cut(s, "=")
	name, option, dot := strings.Cut(key, ".")
	if !ok || !dot || name == "" || option == "" || value == "" {
		return "", "", "", fmt.Errorf("%q is not of the form policy.option=value", s)
	}
	return name, option, value, nil
}

// steps lists the values of from:to:step.
func steps(s string) ([]string, error) {
	var x [3]float64
	parts := strings.Split(s, ":")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%q is not of the form from:to:step", s)
	}
	for i, p := range parts {
		v, err := strconv.ParseFloat(p, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%q is not a number", p)
		}
		x[i] = v
	}
	if x[2] <= 0 || x[1] < x[0] {
		return nil, fmt.Errorf("%s goes nowhere: the step must be above 0 and the end not before the start", s)
	}
	n := math.Floor((x[1]-x[0])/x[2]+1e-9) + 1
	if n > mostSteps {
		return nil, fmt.Errorf("%s has %.0f steps, more than %d", s, n, mostSteps)
	}
	out := make([]string, int(n))
	for i := range out {
		// Twelve digits hide that 0.05 × 3 is not 0.15.
		out[i] = strconv.FormatFloat(x[0]+float64(i)*x[2], 'g', 12, 64)
	}
	return out, nil
}

// Advice is the best setting of Spark's speculation that was found for a workload.
type Advice struct {
	Lines  []string // of spark-defaults.conf
	Result Result   // what they give, under other luck than that of the search
	Tried  int
	Clear  bool // it saves time beyond doubt; otherwise the advice is to leave speculation off
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

// Optimize searches Spark's four speculation settings for a workload, twice round, starting with the defaults of the
// log's version. Of settings whose savings can not be told apart the one that costs least slot time wins. What the advice
// promises comes from seeds that the search has not seen.
func Optimize(ctx context.Context, w *replay.Workload, o Options) (Advice, error) {
	best, err := policy.ByName("spark")
	if err != nil {
		return Advice{}, err
	}
	o.Errors = nil
	c := newComparison(w, o)
	if err := c.baseline(ctx); err != nil {
		return Advice{}, fmt.Errorf("whatif: %w", err)
	}
	a := Advice{}
	tried := map[string]Result{}
	for range 2 {
		for _, g := range grid {
			var list []policy.Policy
			for _, v := range g.values {
				p, err := best.With(g.option, v)
				if err != nil {
					return Advice{}, err
				}
				list = append(list, p)
			}
			r, err := c.try(ctx, append(list, best), 1, tried)
			if err != nil {
				return Advice{}, fmt.Errorf("whatif: %w", err)
			}
			best = cheapest(r).Policy
		}
	}
	a.Tried = len(tried)
	final, err := c.try(ctx, []policy.Policy{best}, 1+int64(c.o.Seeds), map[string]Result{})
	if err != nil {
		return Advice{}, fmt.Errorf("whatif: %w", err)
	}
	a.Result = final[0]
	a.Clear = a.Result.All.Saving.Low > 0
	a.Lines = lines(a)
	return a, nil
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
	err := d.tallied(ctx, func(*unit) error { return nil }, func(r *Result) error {
		r.Jobs = nil
		tried[r.Parameters()] = *r
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []Result
	for _, p := range policies {
		out = append(out, tried[p.Parameters()])
	}
	return out, nil
}

// cheapest is the result that costs least slot time among those whose saving can not be told from the best.
func cheapest(r []Result) Result {
	best := r[0]
	for _, x := range r {
		if x.All.Saving.Mean > best.All.Saving.Mean {
			best = x
		}
	}
	choice := best
	for _, x := range r {
		if x.All.Saving.High >= best.All.Saving.Mean && x.All.SlotChange < choice.All.SlotChange {
			choice = x
		}
	}
	return choice
}

// lines are the settings as lines of spark-defaults.conf; settings that are left to Spark are left out.
func lines(a Advice) []string {
	if !a.Clear {
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

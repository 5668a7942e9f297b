package audit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/audit/audittest"
	"straggler/audit/baseline"
	"straggler/audit/measure"
)

// About as many draws as claimed exceed all earlier ones if their tails are as heavy as the index says. Student's t
// approaches its index only far out, so 1.5 in 100 do instead of one.
func TestTail(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	draw := func() float64 { return math.Abs(audittest.Student(r, 5)) }
	const trials = 20000
	for _, n := range []int{5, 30} {
		called := 0
		for range trials {
			seen := make([]float64, n)
			for i := range seen {
				seen[i] = draw()
			}
			if tail(draw(), seen) <= 0.01 {
				called++
			}
		}
		if share := float64(called) / trials; share > 0.018 || share < 0.001 {
			t.Errorf("%d values: %.4f of draws like them have a tail of at most 1 %%", n, share)
		}
	}
	if p := tail(4, []float64{1, 3, 5}); p != 0.5 {
		t.Errorf("one of three values is larger: %v, want (1 + 1) / (3 + 1)", p)
	}
	if p := tail(beyond(0.01, []float64{3, 4}), []float64{3, 4}); math.Abs(p-0.01) > 1e-12 {
		t.Errorf("tail of the value that has 1 %%: %v", p)
	}
}

// A permanent change of level is found with its night; bad nights, drift and noise are not mistaken for one.
func TestChangePoint(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	series := func(n int, at func(i int) float64) []float64 {
		y := make([]float64, n)
		for i := range y {
			y[i] = 0.05*r.NormFloat64() + at(i)
		}
		return y
	}
	trials, found := 0, map[string]int{}
	for range 500 {
		trials++
		for name, at := range map[string]func(int) float64{
			"noise":            func(int) float64 { return 0 },
			"step":             func(i int) float64 { return map[bool]float64{true: 0.4}[i >= 20] },
			"one bad night":    func(i int) float64 { return map[bool]float64{true: 2}[i == 20] },
			"three bad nights": func(i int) float64 { return map[bool]float64{true: 2}[i >= 27] },
			"drift":            func(i int) float64 { return 0.02 * float64(i) },
		} {
			k, by := changePoint(series(30, at))
			if k > 0 {
				found[name]++
			}
			if name == "step" && k > 0 && (k < 18 || k > 22 || math.Abs(by-0.4) > 0.12) {
				t.Errorf("a step of 0.4 at night 20 is found at %d, of %.2f", k, by)
			}
		}
	}
	for name, want := range map[string][2]int{"noise": {0, 5}, "step": {490, 500}, "one bad night": {0, 5}, "three bad nights": {0, 25}, "drift": {0, 25}} {
		if n := found[name]; n < want[0] || n > want[1] {
			t.Errorf("%s: a change of level in %d of %d series, want %d to %d", name, n, trials, want[0], want[1])
		}
	}
}

// A bad night in the history masks nothing: it is named and left out, and a smaller change tonight is still found.
func TestUnusualNight(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	p := audittest.NewProgram(r, 6, 800)
	var runs []measure.Run
	for n := range 16 {
		runs = append(runs, p.Night(r, n, -1, 1))
	}
	runs[5] = p.Night(r, 5, 2, 8)
	runs[15] = p.Night(r, 15, 3, 2)
	j := judged(runs).Runs[0]
	if want := []string{runs[5].StartAndID()}; !slices.Equal(j.Alike.Unusual, want) {
		t.Errorf("unusual nights %v, want %v", j.Alike.Unusual, want)
	}
	if !slices.ContainsFunc(j.Findings, func(f Finding) bool {
		return f.Rule == "stage_lost_time" && *f.Stage == runs[15].Stages[3].Signature
	}) {
		t.Errorf("lost time that doubled is not found after a bad night: %+v", j.Findings)
	}
}

// A program whose time follows its input is not slow on a night with twice the input, but is when it takes four times as
// long.
func TestWorkOfTheNight(t *testing.T) {
	night := func(r *rand.Rand, n int, size, slow float64) measure.Run {
		run := audittest.Runs(1)[0]
		run.Start, run.ID, run.Stages = "2026-01-01T00:00:00Z", string(rune('a'+n)), nil
		run.Values["input_bytes"] = 1e9 * size
		run.Values["time_s"] = 600 * slow * math.Pow(size, 0.9) * math.Exp(0.02*r.NormFloat64())
		delete(run.Values, "excess_s")
		return run
	}
	found := func(slow float64) bool {
		r := rand.New(rand.NewPCG(5, 5))
		var runs []measure.Run
		for n := range 20 {
			runs = append(runs, night(r, n, math.Exp(0.2*r.NormFloat64()), 1))
		}
		runs = append(runs, night(r, 20, 2, slow))
		return slices.ContainsFunc(judged(runs).Findings(), func(f Finding) bool { return f.Rule == "run_time" })
	}
	if found(1) {
		t.Error("a run with twice the input is called slow for taking 1.9 × as long")
	}
	if !found(2) {
		t.Error("a run with twice the input that takes 3.7 × as long is not found")
	}
}

// A change below the resolution of a clock of whole seconds is not a finding, nor is one that is a small share of the run.
func TestSmallChanges(t *testing.T) {
	runs := audittest.Runs(31)
	for i := range runs {
		runs[i].Values["tick_s"] = 1
		small := measure.Stage{Signature: measure.Signature{Stage: "cleanup", Kind: "auxiliary"}, Causes: measure.Values{},
			Values: measure.Values{"time_s": 6, "median_s": 6, "max_s": 6, "slot_s": 6, "tasks": 1, "tick_s": 1}, Longest: []float64{6}}
		if i == 30 {
			for name := range small.Values {
				small.Values[name] = map[bool]float64{true: 1, false: 10}[name == "tasks" || name == "tick_s"]
			}
			small.Longest = []float64{10}
		}
		runs[i].Values["time_s"] = 1000 + float64(i%7)
		runs[i].Stages = append(runs[i].Stages, small)
		slices.SortFunc(runs[i].Stages, func(a, b measure.Stage) int {
			if a.Signature.Less(b.Signature) {
				return -1
			}
			return 1
		})
	}
	if n := assessed(assess(runs[30:], &baseline.Baseline{Runs: runs[:30]}, DefaultConfig(), Options{})); n.Failing > 0 {
		t.Errorf("four seconds of a job of six are an alarm: %+v", n.Findings())
	}
}

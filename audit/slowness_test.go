package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/audit/audittest"
	"straggler/audit/measure"
	"straggler/schema"
)

// slowNight returns a night whose stages ran on ten machines; slow gives the factor of each machine in a stage, and the part of
// the extra time that is spent waiting for input.
func slowNight(r *rand.Rand, n int, slow func(machine, stage int) (factor, waiting float64)) measure.Run {
	run := audittest.Runs(1)[0]
	run.Start, run.ID, run.Stages = fmt.Sprintf("2026-01-%02dT00:00:00Z", n+1), fmt.Sprint("app-", n), nil
	for k, s := range []struct{ time, cpu, bytes float64 }{{100, 80, 1e8}, {60, 5, 2e9}, {30, 25, 1e7}} {
		st := measure.Stage{Signature: measure.Signature{Stage: fmt.Sprint("stage ", k)}, Causes: measure.Values{}, Values: measure.Values{}}
		var all []float64
		for m := range 10 {
			f, w := slow(m, k)
			d := s.time * f * math.Exp(0.05*r.NormFloat64())
			all = append(all, d, d)
			st.Parts = append(st.Parts, measure.Part{Machine: fmt.Sprintf("node%d-container-%d", m/5, m), Tasks: 6, MedianS: d,
				CPUSeconds: schema.Some(s.cpu), Wait: schema.Some(1 + w*(d-s.time))})
		}
		slices.Sort(all)
		q := func(p float64) float64 { return all[int(p*float64(len(all)-1))] }
		for name, x := range map[string]float64{"time_s": q(1), "tasks": 60, "median_s": q(0.5), "max_s": q(1), "slot_s": 60 * s.time,
			"cpu_s": s.cpu, "wait_s": 1, "moved_bytes": s.bytes} {
			st.Values.Set(name, x)
		}
		st.Sketch = []float64{q(0), q(0.25), q(0.5), q(0.75), q(0.9), q(0.99), q(1)}
		run.Stages = append(run.Stages, st)
	}
	return run
}

// A baseline whose counts were edited to be negative gives no error.
func TestNegativeCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	usual := func(int, int) (float64, float64) { return 1, 0 }
	var history []*measure.Run
	for n := range 3 {
		night := slowNight(r, n, usual)
		for i := range night.Stages {
			night.Stages[i].Values["tasks"] = -0.5
		}
		history = append(history, &night)
	}
	tonight := slowNight(r, 20, usual)
	if s, _ := slowness(&tonight, history, measure.Match(&tonight, history)); len(s.Machines) == 0 {
		t.Error("no machine is compared")
	}
}

// A machine that ran so many slow tasks that the p-value of each stage underflows is named, too.
func TestManySlowTasks(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	usual := func(int, int) (float64, float64) { return 1, 0 }
	var history []*measure.Run
	for n := range 20 {
		night := slowNight(r, n, usual)
		history = append(history, &night)
	}
	tonight := slowNight(r, 20, func(m, k int) (float64, float64) { return 1 + map[bool]float64{true: 1}[m == 3], 0 })
	for i := range tonight.Stages {
		tonight.Stages[i].Parts[3].Tasks = 1000
	}
	s, _ := slowness(&tonight, history, measure.Match(&tonight, history))
	if m := s.Machines[0]; m.Machine != "node0-container-3" || m.P == nil || *m.P != 0 {
		t.Errorf("%s is the slowest, with a p-value of %v", m.Machine, m.P)
	}
}

// A machine that ran eighteen tasks is named by their history, with what slows it. Without history, or if all machines are
// alike, none is named.
func TestMachineAgainstHistory(t *testing.T) {
	usual := func(int, int) (float64, float64) { return 1, 0 }
	times := []struct{ time, cpu, bytes float64 }{{100, 80, 1e8}, {60, 5, 2e9}, {30, 25, 1e7}}
	for _, c := range []struct {
		name   string
		slow   func(machine, stage int) (float64, float64)
		kind   string
		shared bool
		first  string
	}{
		{"as usual", usual, "", false, ""},
		{"half of a processor", func(m, k int) (float64, float64) {
			return 1 + map[bool]float64{true: 1}[m == 3]*times[k].cpu/times[k].time, 0
		}, "processor", false, "node0-container-3"},
		{"a slow disk", func(m, k int) (float64, float64) {
			return 1 + map[bool]float64{true: 1}[m == 7]*times[k].bytes/20e6/times[k].time, 0
		}, "disk", false, "node1-container-7"},
		{"slow input on one", func(m, k int) (float64, float64) { return 1 + map[bool]float64{true: 1}[m == 2], 0.8 }, "disk", false, "node0-container-2"},
		{"slow input on all", func(m, k int) (float64, float64) { return 2, 0.9 }, "shared", true, ""},
	} {
		r := rand.New(rand.NewPCG(6, 6))
		var history []*measure.Run
		for n := range 20 {
			night := slowNight(r, n, usual)
			history = append(history, &night)
		}
		tonight := slowNight(r, 20, c.slow)
		s, machines := slowness(&tonight, history, measure.Match(&tonight, history))
		if s.Kind != c.kind || s.Shared != c.shared {
			t.Errorf("%s: kind %q, shared %v, want %q, %v", c.name, s.Kind, s.Shared, c.kind, c.shared)
		}
		found, p := newMachines(&tonight, history, DefaultConfig(), func(string, *measure.Run) bool { return false }, machines, s)
		first := ""
		for i, q := range discoveries(p) {
			if found[i].ID != "" && q <= 0.02 && first == "" {
				first = found[i].Machine
			}
		}
		if first != c.first {
			t.Errorf("%s: machine %q is named first, want %q", c.name, first, c.first)
		}
		if none, _ := slowness(&tonight, history[:1], measure.Match(&tonight, history[:1])); none != nil {
			t.Errorf("%s: one run is called a history", c.name)
		}
	}
}

// What the time correlates with is judged over stages, however many machines ran each: two ratios are alike by chance.
func TestKindByStages(t *testing.T) {
	for stages, want := range map[int]string{2: "", 6: "processor"} {
		machines := make([]SlowMachine, 5)
		for i := range machines {
			for k := range stages {
				cpu := math.Exp(float64(k)) / 10
				machines[i].parts = append(machines[i].parts,
					part{stage: k, tasks: 4, usual: cpu, ratio: 101, extra: 100 * cpu, waits: 1, cpuUsual: cpu, bytes: 1e6})
			}
		}
		if got := kindOf(machines, true, false); got != want {
			t.Errorf("of %d stages on five machines: %q, want %q", stages, got, want)
		}
	}
}

// A machine that is as slow as the others is not an exception among them, however certain it is that its tasks take longer
// than usual; one that is still slower is, and so are two of four that may be a rack.
func TestMachinesBesideTheOthers(t *testing.T) {
	for _, c := range []struct {
		name    string
		factors [4]float64
		shared  bool
		named   string
	}{
		{"three of four", [4]float64{2, 2, 2, 1}, true, "[nearly all machines]"},
		{"all, one more than the others", [4]float64{2, 2, 2, 6}, true, "[machine m3 nearly all machines]"},
		{"two of four", [4]float64{2, 2, 1, 1}, false, "[machine m0 machine m1]"},
		{"one", [4]float64{1, 1, 1, 2}, false, "[machine m3]"},
		{"none", [4]float64{1, 1, 1, 1}, false, "[]"},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		night := func(n int, factors [4]float64) measure.Run {
			r := slowNight(rng, n, func(m, _ int) (float64, float64) { return factors[m%4], 0.9 })
			for k := range r.Stages {
				s := &r.Stages[k]
				s.Parts = s.Parts[:4]
				for i := range s.Parts {
					s.Parts[i].Machine = fmt.Sprint("m", i)
				}
			}
			return r
		}
		var history []*measure.Run
		for n := range 12 {
			r := night(n, [4]float64{1, 1, 1, 1})
			history = append(history, &r)
		}
		tonight := night(12, c.factors)
		s, machines := slowness(&tonight, history, measure.Match(&tonight, history))
		findings, p := newMachines(&tonight, history, DefaultConfig(), func(string, *measure.Run) bool { return false }, machines, s)
		named := []string{}
		for i, q := range discoveries(p) {
			if findings[i].ID != "" && q <= 0.02 {
				named = append(named, findings[i].where())
			}
		}
		if slices.Sort(named); fmt.Sprint(named) != c.named || s.Shared != c.shared {
			t.Errorf("%s: %q, shared %v", c.name, named, s.Shared)
		}
	}
}

// Simes' p-value of 0.01, 0.04, 0.9: the least of 3 × 0.01, 3/2 × 0.04 and 0.9.
func TestSharedChance(t *testing.T) {
	if p := sharedChance([]SlowMachine{{asUsual: 0.9}, {asUsual: 0.01}, {asUsual: 0.04}}); math.Abs(p-0.03) > 1e-12 {
		t.Error(p)
	}
}

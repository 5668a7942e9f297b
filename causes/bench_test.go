package causes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/causes/model"
	"straggler/cputime"
	"testing"

	"straggler/schema"
)

// BenchmarkRegression fits phases of 30 tasks with bytes, spilled bytes and the first wave as predictors, as Learner does, on
// one core.
func BenchmarkRegression(b *testing.B) {
	for _, c := range []struct {
		name  string
		tasks int
		even  bool
	}{{"30-tasks", 30, false}, {"30-tasks-even-input", 30, true}, {"200-tasks", 200, false}} {
		b.Run(c.name, func(b *testing.B) {
			phases := benchPhases(256, c.tasks, c.even)
			var w fit.Fitter
			b.ReportAllocs()
			b.ResetTimer()
			from := cputime.Used()
			for i := range b.N {
				w.FitAlone(phases[i%len(phases)].Tasks)
			}
			b.ReportMetric(float64(b.N)/(cputime.Used()-from).Seconds(), "phases/cpu-s")
		})
	}
}

// BenchmarkAttribute splits the excess of all outliers of a phase of 100 tasks, with evidence.
func BenchmarkAttribute(b *testing.B) {
	phases := benchPhases(256, 100, false)
	l := model.NewLearner(3600, nil, nil)
	for _, p := range phases {
		l.Observe(p)
	}
	a := NewAttributor(l.Model())
	b.ReportAllocs()
	b.ResetTimer()
	from, rows := cputime.Used(), 0
	for i := range b.N {
		rows += len(a.Attribute(phases[i%len(phases)], nil))
	}
	spent := (cputime.Used() - from).Seconds()
	b.ReportMetric(float64(rows)/spent, "rows/cpu-s")
	b.ReportMetric(100*float64(b.N)/spent, "attempts/cpu-s")
}

func benchPhases(n, tasks int, even bool) []*fit.Phase {
	c := causestest.New(7, 20)
	c.Speed[3] = 1.8
	var out []*fit.Phase
	for range n {
		work := func(int) float64 { return 1 + 0.3*c.Rng.Float64() }
		if even {
			work = nil
		}
		out = append(out, c.Phase(tasks, 2, work, func(t *fit.Task, body *float64) {
			if c.Rng.Float64() < 0.05 {
				t.Spill = 1e8 * c.Rng.Float64()
				*body += t.Spill / 2e8
			}
			if c.Rng.Float64() < 0.03 {
				*body *= 3
			}
		}))
	}
	return out
}

// BenchmarkGrowth attributes the same 200 000 tasks in few and many phases, on few and many machines: the time per task must
// not grow with either, except for the logarithm of sorting.
func BenchmarkGrowth(b *testing.B) {
	const tasks = 200_000
	for _, machines := range []int{1, 100, 10_000} {
		for _, size := range []int{20, 2_000, 200_000} {
			b.Run(fmt.Sprintf("%d-machines/phases-of-%d", machines, size), func(b *testing.B) {
				phases := spreadPhases(tasks/size, size, machines)
				b.ResetTimer()
				from := cputime.Used()
				for range b.N {
					l := model.NewLearner(3600, nil, nil)
					for _, p := range phases {
						l.Observe(p)
					}
					a := NewAttributor(l.Model())
					for _, p := range phases {
						a.Attribute(p, nil)
					}
				}
				b.ReportMetric(float64(tasks*b.N)/(cputime.Used()-from).Seconds(), "attempts/cpu-s")
			})
		}
	}
}

// spreadPhases makes phases whose tasks run on random machines; one in twenty is slow, and one in fifty waits.
func spreadPhases(n, tasks, machines int) []*fit.Phase {
	rng := rand.New(rand.NewPCG(1, 1))
	var out []*fit.Phase
	for k := range n {
		p := &fit.Phase{ID: schema.Key(k + 1), Tasks: make([]fit.Task, tasks)}
		for i := range p.Tasks {
			bytes := 64e6 * (1 + 0.3*rng.Float64())
			t := fit.Task{Attempt: schema.Key(k*tasks + i + 1), Phase: p.ID, Index: int64(i), Machine: int64(rng.IntN(machines)),
				Start: schema.Some(schema.Time(1e15).Add(float64(k*10 + i%50))), Succeeded: true, Excess: nan, Bytes: bytes, Records: bytes / 100,
				Written: 1e6, CPU: nan, Away: 0, Delay: 0.01, Convert: 0.005, Wait: 0.01}
			t.Duration = bytes / 32e6 * math.Exp(0.1*rng.NormFloat64())
			switch rng.IntN(100) {
			case 0, 1, 2, 3, 4:
				t.Duration *= 3
			case 5, 6:
				t.Wait += 5
				t.Duration += 5
			}
			p.Tasks[i] = t
		}
		causestest.DetectIn(p)
		out = append(out, p)
	}
	return out
}

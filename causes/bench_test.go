package causes

import (
	"syscall"
	"testing"
	"time"
)

// processor is the processor time of this process so far: what other processes of the machine do does not matter.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRegression fits phases of 30 tasks with bytes, spilled bytes and the first wave as predictors, as Learner
// does, on one core.
func BenchmarkRegression(b *testing.B) {
	for _, c := range []struct {
		name  string
		tasks int
		even  bool
	}{{"30-tasks", 30, false}, {"30-tasks-even-input", 30, true}, {"200-tasks", 200, false}} {
		b.Run(c.name, func(b *testing.B) {
			phases := benchPhases(256, c.tasks, c.even)
			var w bench
			b.ReportAllocs()
			b.ResetTimer()
			from := processor()
			for i := range b.N {
				w.alone(phases[i%len(phases)])
			}
			b.ReportMetric(float64(b.N)/(processor()-from).Seconds(), "phases/cpu-s")
		})
	}
}

// BenchmarkAttribute splits the excess of all outliers of a phase of 100 tasks, evidence included.
func BenchmarkAttribute(b *testing.B) {
	phases := benchPhases(256, 100, false)
	l := NewLearner(3600)
	for _, p := range phases {
		l.Hear(p)
	}
	a := l.Model().NewAttributor()
	b.ReportAllocs()
	b.ResetTimer()
	from, rows := processor(), 0
	for i := range b.N {
		rows += len(a.Attribute(phases[i%len(phases)], nil))
	}
	spent := (processor() - from).Seconds()
	b.ReportMetric(float64(rows)/spent, "rows/cpu-s")
	b.ReportMetric(100*float64(b.N)/spent, "attempts/cpu-s")
}

func benchPhases(n, tasks int, even bool) []*Phase {
	c := newCluster(7, 20)
	c.speed[3] = 1.8
	var out []*Phase
	for range n {
		work := func(int) float64 { return 1 + 0.3*c.rng.Float64() }
		if even {
			work = nil
		}
		out = append(out, c.phase(tasks, 2, work, func(t *Task, body *float64) {
			if c.rng.Float64() < 0.05 {
				t.Spill = 1e8 * c.rng.Float64()
				*body += t.Spill / 2e8
			}
			if c.rng.Float64() < 0.03 {
				*body *= 3
			}
		}))
	}
	return out
}

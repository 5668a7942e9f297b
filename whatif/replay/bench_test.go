package replay_test

import (
	"math/rand/v2"
	"testing"

	"straggler/cputime"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// bench returns n tasks (10M of them take 4 GB to set up) on 1 000 machines of 10 slots: jobs of two phases, one in fifty tasks
// slow.
func bench(n int) *workload.Workload {
	r := rand.New(rand.NewPCG(7, 7))
	c := scenario.Cluster{Machines: scenario.Uniform(1000, 10)}
	for arrival := 0.0; n > 0; arrival += r.ExpFloat64() * 0.6 {
		size := min(n/2+1, 1+int(r.ExpFloat64()*60))
		j := scenario.Job{Arrival: arrival, Phases: []scenario.Phase{{Kind: "map"}, {Kind: "reduce", After: []int{0}}}}
		for p := range j.Phases {
			for range size {
				t := scenario.Task{Seconds: 20 + 20*r.Float64(), Bytes: 64 << 20}
				if r.IntN(50) == 0 {
					t.Luck = 3 + r.ExpFloat64()
				}
				j.Phases[p].Tasks = append(j.Phases[p].Tasks, t)
				n--
			}
		}
		c.Jobs = append(c.Jobs, j)
	}
	return workload.Build(c.Rows())
}

func BenchmarkNone(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"100k", 100_000}, {"1M", 1_000_000}, {"10M", 10_000_000}} {
		b.Run(size.name, func(b *testing.B) {
			w := bench(size.n)
			var s replay.Sim
			s.Run(w.Pools[0], replay.Options{})
			b.ReportAllocs()
			b.ResetTimer()
			events, before := int64(0), cputime.Used().Seconds()
			for b.Loop() {
				for _, p := range w.Pools {
					events += s.Run(p, replay.Options{}).Events
				}
			}
			spent := cputime.Used().Seconds() - before
			b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
			b.ReportMetric(float64(events)/spent/1e6, "Mevents/cpu-s")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size.n), "ns/attempt")
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		bench(100_000)
	}
}

package schedule_test

import (
	"math/rand/v2"
	"testing"

	"straggler/whatif/network"
	"straggler/whatif/replay"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// experiment returns the experiment of FAIR: 50 jobs with the given number of tasks, on 100 machines of 4 map and 2 reduce slots.
func experiment(tasks int, net bool) *workload.Plan {
	r := rand.New(rand.NewPCG(1, 1))
	pl := &workload.Plan{}
	for m := range 100 {
		pl.Machines = append(pl.Machines, workload.PlanMachine{Rack: int32(m / 25), Slots: [2]int{4, 2}})
	}
	if net {
		pl.Network = network.Uniform(4, 25, 1250e6, 125e6)
	}
	for j := range 50 {
		maps, reduces := workload.PlanPhase{Kind: "map"}, workload.PlanPhase{Kind: "reduce", Class: workload.ReduceSlots, After: []int{0}}
		for n := range tasks / 50 {
			if n%5 == 0 {
				reduces.Tasks = append(reduces.Tasks, workload.PlanTask{Seconds: 20 + 20*r.Float64()})
				continue
			}
			maps.Tasks = append(maps.Tasks, workload.PlanTask{Seconds: 20 + 20*r.Float64(), Bytes: 128e6, Output: 16e6,
				Replicas: []int32{int32(r.IntN(100)), int32(r.IntN(100)), int32(r.IntN(100))}})
		}
		pl.Jobs = append(pl.Jobs, workload.PlanJob{Arrival: float64(j) * 5, Phases: []workload.PlanPhase{maps, reduces}})
	}
	return pl
}

func benchmark(b *testing.B, pl *workload.Plan) {
	for _, name := range []string{"fifo", "fair", "delay", "copycompute", "fair-all"} {
		b.Run(name, func(b *testing.B) {
			s, err := schedule.ByName(name)
			if err != nil {
				b.Fatal(err)
			}
			p := s.Pool(pool(b, pl))
			var sim replay.Sim
			sim.Run(p, replay.Options{Scheduler: s.New()})
			b.ReportAllocs()
			events := int64(0)
			for b.Loop() {
				events += sim.Run(p, replay.Options{Scheduler: s.New()}).Events
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}

// BenchmarkExperiment runs 10 000 tasks of 50 jobs on 100 nodes; BenchmarkNetwork the same with every read on a network.
func BenchmarkExperiment(b *testing.B) { benchmark(b, experiment(10_000, false)) }
func BenchmarkNetwork(b *testing.B)    { benchmark(b, experiment(10_000, true)) }

// BenchmarkLarge is a million tasks.
func BenchmarkLarge(b *testing.B) { benchmark(b, experiment(1_000_000, false)) }

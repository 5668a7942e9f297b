package whatif_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"straggler/whatif"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// manyTasks returns about n tasks on 1 000 machines of 10 slots, in jobs of two phases; one machine in fifty is slow, one task
// in fifty unlucky.
func manyTasks(n int) *workload.Workload { return workload.Build(rows(n)) }

func rows(n int) *workload.Rows {
	r := rand.New(rand.NewPCG(7, 7))
	c := scenario.Cluster{Machines: scenario.Uniform(1000, 10)}
	for m := range c.Machines {
		if m%50 == 0 {
			c.Machines[m].Factor = 2.5
		}
	}
	for arrival := 0.0; n > 0; arrival += r.ExpFloat64() * 0.7 {
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
	return c.Rows()
}

// BenchmarkPolicies times one seed of each policy, per attempt.
func BenchmarkPolicies(b *testing.B) {
	w := manyTasks(100_000)
	for _, spec := range policy.Specs() {
		if spec.Cause != "" {
			continue
		}
		p, err := policy.ByName(spec.Name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(spec.Name, func(b *testing.B) {
			b.ReportAllocs()
			events := int64(0)
			var s replay.Sim
			for b.Loop() {
				o := replay.Options{Policy: p.New(), Seed: 1, Sigma: 0.1}
				if f := p.Durations(nil); f != nil {
					o.Took = f(w.Pools[0])
				}
				events += s.Run(w.Pools[0], o).Events
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e5, "ns/attempt")
			b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}

// BenchmarkCompare is twenty policies under twenty seeds.
func BenchmarkCompare(b *testing.B) {
	w := manyTasks(100_000)
	var all []policy.Policy
	for _, spec := range policy.Specs() {
		if p, err := policy.ByName(spec.Name); err == nil {
			all = append(all, p)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := whatif.Compare(context.Background(), w, whatif.Options{Policies: all[:21], Errors: []float64{0.1}}); err != nil {
			b.Fatal(err)
		}
	}
}

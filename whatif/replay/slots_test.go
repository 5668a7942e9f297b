package replay_test

import (
	"math/rand/v2"
	"testing"

	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// More slots never hurt policy none on independent tasks.
func TestMoreSlotsNeverHurt(t *testing.T) {
	var s replay.Sim
	faster := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		c := scenario.Cluster{Machines: scenario.Uniform(1+r.IntN(4), 1+r.IntN(2)), Jobs: []scenario.Job{{Phases: []scenario.Phase{{}}}}}
		for range 1 + r.IntN(30) {
			c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, scenario.Task{Seconds: r.ExpFloat64() * 100})
		}
		p := workload.Build(c.Rows()).Pools[0]
		before := s.Run(p, replay.Options{}).Jobs[0].Took
		after := s.Run(replay.WithSlots(p, 1+r.IntN(3)), replay.Options{}).Jobs[0].Took
		if after > before {
			t.Errorf("seed %d: %d µs, with more slots %d", seed, before, after)
		}
		if after < before {
			faster++
		}
	}
	if faster < 100 {
		t.Errorf("more slots helped in %d of 200 traces only", faster)
	}
}

package replay

import (
	"testing"

	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// The factor kept with a slot is that of its machine at every instant, also where the machine has spans of time with factors of
// their own.
func TestFactorOn(t *testing.T) {
	var s Sim
	for seed := range uint64(20) {
		for _, p := range workload.Build(workloadtest.FromTrace(newGen(seed).trace())).Pools {
			for m := range p.Machines {
				x := &p.Machines[m]
				if x.Factor = 1 + float32(m)/8; m%2 == 1 {
					x.Windows = []workload.Window{{From: 1e6, Till: 2e6, Factor: 3}, {From: 5e6, Till: 6e6, Factor: 0.5}}
				}
			}
			s.Run(p, Options{})
			for n := range p.Slots {
				for at := int64(0); at < 8e6; at += 5e5 {
					if got, want := s.factorOn(int32(n), at), p.Machines[p.Slots[n].Machine].At(at); got != want {
						t.Fatalf("seed %d: slot %d at %d µs: factor %g, want %g", seed, n, at, got, want)
					}
				}
			}
		}
	}
}

package replay

import (
	"testing"

	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// Law 5 of the design: policy none repeats every job of a generated trace exactly.
func TestIdentity(t *testing.T) {
	var s Sim
	jobs := 0
	for seed := range uint64(3000) {
		w := workload.Build(workloadtest.FromTrace(newGen(seed).trace()))
		for i, p := range w.Pools {
			out := s.Run(p, Options{})
			if out.Stopped > 0 {
				t.Fatalf("seed %d pool %d: %d jobs did not end", seed, i, out.Stopped)
			}
			for j := range out.Jobs {
				jobs++
				if got, want := out.Jobs[j].Took, p.Observed(j); got != want {
					t.Fatalf("seed %d pool %d job %d: replayed in %d µs, observed %d", seed, i, j, got, want)
				}
			}
		}
	}
	if jobs < 10_000 {
		t.Fatalf("only %d jobs were replayed", jobs)
	}
}

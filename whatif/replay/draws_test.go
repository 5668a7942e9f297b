package replay

import (
	"math/rand/v2"
	"testing"

	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// The bound of a normal number is never under it, and mostly tells something.
func TestNormalAtMost(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	told, near := 0, 0
	const n = 200_000
	for k := range n {
		bits := r.Uint64()
		switch k % 4 {
		case 0:
			bits &= 1<<58 - 1 // the largest of either sign
		case 1:
			bits = bits&^(1<<20-1) - uint64(k/4%2) // at an edge of what its leading bits tell
		}
		x, most := normal(bits), normalAtMost(bits)
		if x > most*(1+1e-12) || most < 0 || most > 3 {
			t.Fatalf("%x: %g is over its bound, %g", bits, x, most)
		}
		if most < 3 {
			told++
		}
		if most <= max(x, 0)+0.5 {
			near++
		}
	}
	if told < n/2 || near < n/2 {
		t.Errorf("of %d bounds %d are under 3 and %d near what they bound", n, told, near)
	}
}

// bounded asks for the bounds of all attempts before it asks for their progress.
type bounded struct {
	t       *testing.T
	checked int
}

func (b *bounded) Look(v *View, _ *Actions) Again {
	running := v.Running()
	for i := range running {
		a := &running[i]
		if !v.Steady(a) || v.Elapsed(a) == 0 {
			continue
		}
		b.checked++
		most := v.Bound(a)
		if total := v.Elapsed(a).Seconds() / v.Progress(a); total > most*(1+1e-9) {
			b.t.Errorf("an attempt is estimated to take %g s in all, at most %g", total, most)
		}
	}
	return Again{At: v.Now() + 500*Millisecond, End: true}
}

// What a steady attempt is estimated to take in all never exceeds its bound.
func TestBound(t *testing.T) {
	var s Sim
	b := &bounded{t: t}
	for seed := range uint64(200) {
		for _, p := range workload.Build(workloadtest.FromTrace(newGen(seed).trace())).Pools {
			s.Run(p, Options{Policy: b, Seed: int64(seed), Sigma: []float64{0, 0.1, 0.8}[seed%3]})
		}
	}
	if b.checked < 10_000 {
		t.Errorf("%d estimates say nothing", b.checked)
	}
}

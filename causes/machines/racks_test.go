package machines

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Machines of one rack that are all slow are the rack's trouble; a slow machine alone is its own.
func TestPlaceOfSlowness(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	m := &Factors{}
	for k := range 40 {
		rack, factor := string(rune('a'+k%4)), 1.0
		if rack == "c" && k != 2 || k == 5 {
			factor = 1.7
		}
		m.Names, m.Racks = append(m.Names, "m"), append(m.Racks, rack)
		for range 10 {
			m.Observe(Window{Machine: int64(k)}, math.Log(factor)+0.05*rng.NormFloat64(), 0.0025, 3)
		}
	}
	m.Settle()
	if r, slow, of, ok := m.SlowRack(6); !ok || r != "c" || slow != 8 || of != 9 {
		t.Errorf("machine 6: rack %q, %d of %d, %v; want c, 8 of 9, true", r, slow, of, ok)
	}
	for _, alone := range []int64{5, 2, 0} {
		if r, _, _, ok := m.SlowRack(alone); ok {
			t.Errorf("machine %d is slow with rack %q", alone, r)
		}
	}
}

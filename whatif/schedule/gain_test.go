package schedule

import (
	"math"
	"math/rand/v2"
	"testing"
)

// FAIR §4.3.1: a task that gets a local slot within w gains what running elsewhere costs less its wait; one that does not
// has waited w for nothing. Local slots come by lot.
func TestExpectedGain(t *testing.T) {
	const draws = 200_000
	rng := rand.New(rand.NewPCG(4, 3))
	for _, c := range []struct{ w, every, costs float64 }{{15, 5, 20}, {5, 15, 20}, {60, 10, 8}, {0, 10, 20}} {
		sum, squares := 0.0, 0.0
		for range draws {
			gain := -c.w
			if comes := rng.ExpFloat64() * c.every; comes <= c.w {
				gain = c.costs - comes
			}
			sum, squares = sum+gain, squares+gain*gain
		}
		mean := sum / draws
		within := 4*math.Sqrt((squares/draws-mean*mean)/draws) + 1e-12
		if got := ExpectedGain(c.w, c.every, c.costs); math.Abs(got-mean) > within {
			t.Errorf("waiting %g s for slots every %g s, %g s elsewhere: expected gain %g s, simulated %g ± %g s", c.w, c.every, c.costs, got, mean, within)
		}
	}
}

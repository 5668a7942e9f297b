package machines

import (
	"math"
	"testing"
)

// The log odds of a mixture of two normal distributions, whose probabilities above 0 are 0.5 and Φ(2) = 0.977250 (Abramowitz and
// Stegun, table 26.1); those of one distribution do not saturate, and are bounded.
func TestLogOddsAbove(t *testing.T) {
	two := Posterior{factor: [hypotheses]component{AsKnown: {0.25, 0, 1}, SlowInPhase: {0.75, 1, 0.25}}}
	above := 0.25*0.5 + 0.75*0.977250
	if got, want := two.LogOddsAbove(0, 20), math.Log(above/(1-above)); math.Abs(got-want) > 1e-5 {
		t.Errorf("mixture: %v, want %v", got, want)
	}
	one := Posterior{factor: [hypotheses]component{AsKnown: {1, 0, 1}}}
	// 1 - Φ(5) = 2.866516e-7, of the same table
	if got, want := one.LogOddsAbove(5, 20), math.Log(2.866516e-7); math.Abs(got-want) > 1e-5 {
		t.Errorf("five standard deviations: %v, want %v", got, want)
	}
	for _, at := range []float64{8, 60, math.Inf(1)} {
		if up, down := one.LogOddsAbove(at, 20), one.LogOddsAbove(-at, 20); up != -20 || down != 20 {
			t.Errorf("bounded: %v, %v", up, down)
		}
	}
	certain := Posterior{factor: [hypotheses]component{AsKnown: {1, 0.3, 0}}}
	if got := certain.LogOddsAbove(0.2, 20); got != 20 {
		t.Errorf("a known machine: %v", got)
	}
}

package model

import (
	"math"
	"testing"
)

// A machine has at most 1 000 windows and, where they are longer than an hour, at least 500, and a window lies within one of
// any longer span.
func TestWindowS(t *testing.T) {
	before := 3600.0
	for _, spanS := range []float64{-1, 0, 1, 3.6e6, 3.6e6 + 1, 1e7, 1e9, 9.2e12} {
		s := WindowS(spanS)
		if n := spanS / s; n > 1000 || s > 3600 && n < 500 {
			t.Errorf("%g windows of %g s in %g s", n, s, spanS)
		}
		if math.Mod(s, before) != 0 {
			t.Errorf("windows of %g s in %g s, and of %g s in a shorter time", s, spanS, before)
		}
		before = s
	}
}

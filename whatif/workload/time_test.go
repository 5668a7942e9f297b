package workload

import (
	"math"
	"testing"
)

// A span that an option gives, however long, is in the future of every instant, on every machine.
func TestSecondsOfAnyLength(t *testing.T) {
	now := Seconds(1e9)
	for _, s := range []float64{1e12, 1e13, 1e18, 1e300, math.MaxFloat64} {
		if at := now + Seconds(s); at <= now {
			t.Errorf("%g s after %d µs is at %d µs", s, now, at)
		}
	}
}

package recompute

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b)) }

// The expected longest against counting all outcomes.
func TestLongest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		n := 1 + r.IntN(8)
		times, p := make([]float64, n), make([]float64, n)
		for i := range times {
			times[i], p[i] = r.Float64()*100, r.Float64()
		}
		want := 0.0
		for lost := range 1 << n {
			chance, longest := 1.0, 0.0
			for i := range n {
				if lost>>i&1 == 1 {
					chance *= p[i]
					longest = max(longest, times[i])
				} else {
					chance *= 1 - p[i]
				}
			}
			want += chance * longest
		}
		if got := Longest(times, p); !near(got, want) {
			t.Fatalf("times %v with %v: %v, want %v", times, p, got, want)
		}
	}
}

// A more likely loss, a costlier output or a longer chain never makes a copy less worth.
func TestWorth(t *testing.T) {
	for _, c := range []struct {
		loss, redo, rep float64
		want            bool
	}{{0.1, 100, 9, true}, {0.1, 100, 10, false}, {0, 1e9, 0, false}, {1, 5, 4, true}} {
		if Worth(c.loss, c.redo, c.rep) != c.want {
			t.Errorf("loss %v, redo %v, copy %v: want %v", c.loss, c.redo, c.rep, c.want)
		}
	}
}

// What is spent is never more than the share of what was done, whatever is asked for.
func TestBucket(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	var b Bucket
	if b.Spend(1) {
		t.Error("an empty bucket gave a token")
	}
	done, spent := 0.0, 0.0
	for range 10000 {
		x := r.ExpFloat64()
		done += x
		b.Grant(x, Share)
		if y := r.ExpFloat64(); b.Spend(y) {
			spent += y
		}
		if spent > Share*done*(1+1e-9) {
			t.Fatalf("%v spent of %v done", spent, done)
		}
	}
	if spent < 0.09*done { // small and large ones are asked for: nearly all of it is used
		t.Errorf("only %v spent of %v done", spent, done)
	}
}

func TestHistory(t *testing.T) {
	var h History
	if h.Loss(3) != 0 {
		t.Error("a machine without outputs loses some")
	}
	for range 4 {
		h.Held(3)
	}
	h.Lost(3)
	for range 4 {
		h.Held(1)
	}
	if h.Loss(3) != 0.25 || h.Loss(0) != 0 || h.Mean() != 0.125 {
		t.Errorf("losses %v and %v, and %v of any machine, want 0.25, 0 and 0.125", h.Loss(3), h.Loss(0), h.Mean())
	}
}

func TestOnset(t *testing.T) {
	first := Onset{}
	if !first.Recomputed(1, 0) {
		t.Error("the first recomputation is not an onset")
	}
	second := Onset{After: 2, Within: 60}
	for _, c := range []struct {
		machine int
		at      float64
		want    bool
	}{{1, 0, false}, {2, 10, false}, {1, 100, false}, {1, 160, true}, {2, 65, true}, {2, 200, false}} {
		if got := second.Recomputed(c.machine, c.at); got != c.want {
			t.Errorf("machine %d at %v: onset %v, want %v", c.machine, c.at, got, c.want)
		}
	}
}

package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A sample that grows, in steps of all sizes and with many equal numbers, against a sorted list.
func TestSample(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s sample
		var list []float64
		for len(list) < 20_000 {
			for range 1 + r.IntN(1<<r.IntN(13)) {
				x := math.Floor(1000 * r.NormFloat64())
				if r.IntN(4) == 0 {
					x = float64(r.IntN(3))
				}
				s.add(x)
				list = append(list, x)
			}
			slices.Sort(list)
			n := len(list)
			if s.n() != n {
				t.Fatalf("seed %d: %d numbers, want %d", seed, s.n(), n)
			}
			for _, rank := range []int{0, n / 3, n - 1, r.IntN(n)} {
				if got := s.at(rank); got != list[rank] {
					t.Fatalf("seed %d: number %d of %d is %g, want %g", seed, rank, n, got, list[rank])
				}
			}
			if got, want := s.median(), (list[(n-1)/2]+list[n/2])/2; got != want {
				t.Fatalf("seed %d: median %g, want %g", seed, got, want)
			}
			x := float64(r.IntN(2000) - 1000)
			want, _ := slices.BinarySearch(list, x+0.5) // the numbers are whole
			if got := s.upTo(x); got != want {
				t.Fatalf("seed %d: %d numbers up to %g, want %d", seed, got, x, want)
			}
			q := r.Float64()
			if got := s.quantile(q); got != list[rankOf(n, q)] {
				t.Fatalf("seed %d: quantile %g is %g", seed, q, got)
			}
			more := make([]float64, r.IntN(50))
			for i := range more {
				more[i] = math.Floor(1500 * r.NormFloat64())
			}
			both := slices.Sorted(slices.Values(slices.Concat(list, more)))
			if got := s.quantileWith(more, q); got != both[rankOf(len(both), q)] {
				t.Fatalf("seed %d: quantile %g with %d numbers more is %g", seed, q, len(more), got)
			}
		}
		s.reset()
		if s.add(3); s.n() != 1 || s.median() != 3 {
			t.Fatalf("after reset: %d numbers", s.n())
		}
	}
	var none sample
	if !math.IsNaN(none.median()) || !math.IsNaN(none.quantile(0.5)) || !math.IsNaN(none.mean()) {
		t.Error("an empty sample has numbers")
	}
}

// Whether a sample is spread out over a limit is what its quartiles say, mostly without asking for them, whichever way its
// numbers drift and the limit moves.
func TestSpreadOver(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	kept, over := 0, 0
	for round := range 60 {
		var s, plain sample
		scale, limit, trend := 1.0, 1+2*r.Float64(), []float64{0, 0.01, -0.01}[round%3]
		for range 300 {
			for range r.IntN(5) {
				x := scale * (1 + r.Float64())
				switch {
				case round%7 == 6:
					x = float64(r.IntN(3)) - float64(round%2)
				case round%5 == 4 && r.IntN(3) == 0:
					x *= 4
				}
				s.add(x)
				plain.add(x)
			}
			scale *= 1 + trend
			limit *= 0.99 + 0.02*r.Float64()
			before := s.wide
			got, want := s.spreadOver(limit), plain.spread() > limit
			if got != want {
				t.Fatalf("round %d: of %d numbers the spread is %g, over %g: %v", round, s.n(), plain.spread(), limit, got)
			}
			if got {
				if over++; before.low > 0 && s.wide == before {
					kept++
				}
			}
		}
	}
	if kept < over/2 || over < 1000 {
		t.Errorf("%d of %d times the quartiles were not asked for", kept, over)
	}
}

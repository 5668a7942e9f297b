package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 1; n < 200; n++ {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(rng.IntN(n)) // ties
		}
		s := slices.Sorted(slices.Values(v))
		want := (s[(n-1)/2] + s[n/2]) / 2
		if got := Median(v); got != want {
			t.Fatalf("median of %v is %g, want %g", s, got, want)
		}
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("the median of nothing is a number")
	}
	if got := Median([]float64{-math.MaxFloat64, math.MaxFloat64}); got != 0 {
		t.Errorf("the middle of the largest numbers is %g", got)
	}
}

// Whatever order the values come in, those under the k-th lie before it and the others after it.
func TestSelect(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for name, value := range map[string]func(i, n int) float64{
		"random":   func(i, n int) float64 { return rng.NormFloat64() },
		"rising":   func(i, n int) float64 { return float64(i) },
		"falling":  func(i, n int) float64 { return float64(-i) },
		"peak":     func(i, n int) float64 { return float64(min(i, n-i)) },
		"valley":   func(i, n int) float64 { return math.Abs(float64(i - n/2)) },
		"one":      func(i, n int) float64 { return 3 },
		"two":      func(i, n int) float64 { return float64(rng.IntN(2)) },
		"infinite": func(i, n int) float64 { return math.Inf(2*rng.IntN(2) - 1) },
	} {
		for _, n := range []int{1, 12, 13, 100, 5000} {
			v := make([]float64, n)
			for i := range v {
				v[i] = value(i, n)
			}
			sorted := slices.Sorted(slices.Values(v))
			for _, k := range []int{0, n / 3, n / 2, n - 1} {
				if got := Select(v, k); got != sorted[k] || v[k] != got {
					t.Fatalf("%s: number %d of %d is %g, want %g", name, k, n, got, sorted[k])
				}
				if slices.Max(v[:k+1]) > v[k] || slices.Min(v[k:]) < v[k] {
					t.Fatalf("%s: the values around number %d of %d are not on their sides", name, k, n)
				}
				if !slices.Equal(sorted, slices.Sorted(slices.Values(v))) {
					t.Fatalf("%s: values were lost", name)
				}
			}
		}
	}
}

// The logarithmic mean lies between its arguments, and parts weighted by it sum to the difference in any order.
func TestLogMean(t *testing.T) {
	for _, c := range []struct{ a, b, want float64 }{
		{math.E, 1, math.E - 1}, {1, math.E, math.E - 1}, {2, 2, 2}, {4, 1, 3 / math.Log(4)},
	} {
		if got := LogMean(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("LogMean(%g, %g) = %g, want %g", c.a, c.b, got, c.want)
		}
	}
	for _, d := range []float64{1e-3, 1e-5, 1e-6, 1e-7, 1e-12, 0} { // no jump where the series takes over
		if got, want := LogMean(1+d, 1), 1+d/2; math.Abs(got-want) > 1e-7 {
			t.Errorf("LogMean(1 + %g, 1) = %.12g, want about %.12g", d, got, want)
		}
	}
	factors := []float64{1.7, 0.8, 3}
	base, product := 2.5, 1.7*0.8*3
	var sum float64
	for _, f := range factors {
		sum += LogMean(base*product, base) * math.Log(f)
	}
	if want := base*product - base; math.Abs(sum-want) > 1e-12 {
		t.Errorf("the parts sum to %g, the difference is %g", sum, want)
	}
}

func TestSpikeSlab(t *testing.T) {
	g := SpikeSlab{Spike: 0.01, Slab: 1, SlabProbability: 0.05}
	for _, c := range []struct {
		z, v      float64
		low, high float64 // of the mean over z
		slabUnder float64
		slabOver  float64
	}{
		{0.05, 0.01, 0.45, 0.55, 0.1, 0},  // as everybody: halved by the spike, 0.01 / (0.01 + 0.01)
		{2, 0.01, 0.98, 1, 1.01, 0.999},   // surely of the slab: 1 / (1 + 0.01)
		{2, 100, 0, 0.02, 0.5, 0},         // nothing was measured
		{1e4, 0.01, 0.98, 1, 1.01, 0.999}, // no underflow
	} {
		mean, v, slab := g.Posterior(c.z, c.v)
		if r := mean / c.z; r < c.low || r > c.high || slab > c.slabUnder || slab < c.slabOver || v <= 0 {
			t.Errorf("%g ± %g: mean %g of it, slab %g, variance %g", c.z, math.Sqrt(c.v), r, slab, v)
		}
	}
	a, _, p := g.Posterior(0.3, 0.01)
	b, _, q := g.Posterior(-0.3, 0.01)
	if a != -b || p != q {
		t.Error("the posterior is not symmetric")
	}
}

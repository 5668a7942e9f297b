package causes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
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
		if got := median(v); got != want {
			t.Fatalf("median of %v is %g, want %g", s, got, want)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("the median of nothing is a number")
	}
	if got := median([]float64{-math.MaxFloat64, math.MaxFloat64}); got != 0 {
		t.Errorf("the middle of the largest numbers is %g", got)
	}
}

// Whatever order the values come in, those under the k-th lie before it and the others after it.
func TestNth(t *testing.T) {
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
				if got := nth(v, k); got != sorted[k] || v[k] != got {
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
		if got := logMean(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("logMean(%g, %g) = %g, want %g", c.a, c.b, got, c.want)
		}
	}
	for _, d := range []float64{1e-3, 1e-5, 1e-6, 1e-7, 1e-12, 0} { // no jump where the series takes over
		if got, want := logMean(1+d, 1), 1+d/2; math.Abs(got-want) > 1e-7 {
			t.Errorf("logMean(1 + %g, 1) = %.12g, want about %.12g", d, got, want)
		}
	}
	factors := []float64{1.7, 0.8, 3}
	base, product := 2.5, 1.7*0.8*3
	var sum float64
	for _, f := range factors {
		sum += logMean(base*product, base) * math.Log(f)
	}
	if want := base*product - base; math.Abs(sum-want) > 1e-12 {
		t.Errorf("the parts sum to %g, the difference is %g", sum, want)
	}
}

func TestTwoGroup(t *testing.T) {
	g := twoGroup{spike: 0.01, slab: 1, slabShare: 0.05}
	for _, c := range []struct {
		z, v        float64
		low, high   float64 // of the mean over z
		seldomUnder float64
		seldomOver  float64
	}{
		{0.05, 0.01, 0.45, 0.55, 0.1, 0},  // as everybody: halved by the spike, 0.01 / (0.01 + 0.01)
		{2, 0.01, 0.98, 1, 1.01, 0.999},   // surely of the seldom kind: 1 / (1 + 0.01)
		{2, 100, 0, 0.02, 0.5, 0},         // nothing was measured
		{1e4, 0.01, 0.98, 1, 1.01, 0.999}, // no underflow
	} {
		mean, v, seldom := g.posterior(c.z, c.v)
		if r := mean / c.z; r < c.low || r > c.high || seldom > c.seldomUnder || seldom < c.seldomOver || v <= 0 {
			t.Errorf("%g ± %g: mean %g of it, seldom %g, variance %g", c.z, math.Sqrt(c.v), r, seldom, v)
		}
	}
	a, _, p := g.posterior(0.3, 0.01)
	b, _, q := g.posterior(-0.3, 0.01)
	if a != -b || p != q {
		t.Error("the posterior is not symmetric")
	}
}

// Solutions and variances against gonum's dense solver.
func TestEquations(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for n := 1; n <= unknowns; n++ {
		x := mat.NewDense(40, n, nil)
		for i := range 40 {
			for k := range n {
				x.Set(i, k, rng.NormFloat64())
			}
		}
		var a mat.Dense
		a.Mul(x.T(), x)
		v := make([]float64, n)
		var e equations
		for i := range n {
			v[i] = rng.NormFloat64()
			e.v[i] = v[i]
			for k := range i + 1 {
				e.m[i][k] = a.At(i, k)
			}
		}
		var want mat.VecDense
		if err := want.SolveVec(&a, mat.NewVecDense(n, v)); err != nil {
			t.Fatal(err)
		}
		var inv mat.Dense
		if err := inv.Inverse(&a); err != nil {
			t.Fatal(err)
		}
		if !e.solve(n) {
			t.Fatalf("%d unknowns: no solution", n)
		}
		for i := range n {
			if math.Abs(e.v[i]-want.AtVec(i)) > 1e-9 || math.Abs(e.d[i]-inv.At(i, i)) > 1e-9 {
				t.Errorf("%d unknowns: θ%d = %g ± %g, want %g ± %g", n, i, e.v[i], e.d[i], want.AtVec(i), inv.At(i, i))
			}
		}
	}
	var e equations
	e.m[0][0], e.m[1][0], e.m[1][1] = 2, 2, 2
	if e.solve(2) {
		t.Error("a singular system was solved")
	}
}

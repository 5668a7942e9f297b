package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

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

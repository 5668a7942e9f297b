package fit

import (
	"math"

	"straggler/stats"
)

const unknowns = int(Predictors) + 1

// equations are weighted normal equations: m·θ = v, of an intercept and the predictors in use.
type equations struct {
	m [unknowns][unknowns]float64 // lower triangle
	v [unknowns]float64           // right side, then the solution
	d [unknowns]float64           // diagonal of the inverse: variances in units of sigma²
}

// collect sums over the tasks of a phase with weights huber(r/σ) / f², computed with one division. Predictors are centred,
// which keeps the sums well conditioned. Each sum runs over the tasks in order, one pair of columns at a time, so that it stays
// in a register.
func (e *equations) collect(f *Fitter, active []Predictor) {
	n := len(f.residual)
	f.weight, f.weighted = grow(f.weight, n), grow(f.weighted, n)
	weight, weighted := f.weight, f.weighted
	prediction, y := f.prediction[:n], f.y[:n]
	inv := 1 / f.unit
	bend := stats.HuberK * f.Regression.Sigma
	var sum, right float64
	for j, r := range f.residual {
		whole, d := 1.0, prediction[j]*prediction[j]
		if r = math.Abs(r); r > bend {
			whole, d = bend, d*r
		}
		if j == f.lone {
			whole, d = f.loneWeight, prediction[j]*prediction[j]
		}
		w := whole / d
		wy := w * min(y[j]*inv, farthest*prediction[j])
		weight[j], weighted[j] = w, wy
		sum += w
		right += wy
	}
	e.m[0][0], e.v[0] = sum, right
	for i, p := range active {
		u := f.u[p][:n]
		var sum, square, right float64
		for j, w := range weight {
			wu := w * u[j]
			sum += wu
			square += wu * u[j]
			right += weighted[j] * u[j]
		}
		e.m[i+1][0], e.m[i+1][i+1], e.v[i+1] = sum, square, right
		for l, q := range active[:i] {
			other := f.u[q][:n]
			var product float64
			for j, w := range weight {
				product += w * u[j] * other[j]
			}
			e.m[i+1][l+1] = product
		}
	}
}

// leverage returns rowᵀ·m⁻¹·row of solved equations: the variance of a prediction in units of sigma².
func (e *equations) leverage(row *[unknowns]float64, n int) (h float64) {
	var z [unknowns]float64
	for i := range n {
		z[i] = row[i]
		for k := range i {
			z[i] -= e.m[i][k] * z[k]
		}
		z[i] /= e.m[i][i]
		h += z[i] * z[i]
	}
	return h
}

// solve factors the first n unknowns by Cholesky and leaves the solution in v and the inverse's diagonal in d. It reports false
// if a pivot has lost ten digits, which means that predictors are collinear.
func (e *equations) solve(n int) bool {
	m := &e.m
	for i := 0; i < n; i++ {
		scale := m[i][i]
		for j := 0; j <= i; j++ {
			s := m[i][j]
			for k := 0; k < j; k++ {
				s -= m[i][k] * m[j][k]
			}
			if i != j {
				m[i][j] = s / m[j][j]
				continue
			}
			if !(s > 1e-10*scale) {
				return false
			}
			m[i][i] = math.Sqrt(s)
		}
	}
	for i := 0; i < n; i++ {
		for k := 0; k < i; k++ {
			e.v[i] -= m[i][k] * e.v[k]
		}
		e.v[i] /= m[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			e.v[i] -= m[k][i] * e.v[k]
		}
		e.v[i] /= m[i][i]
	}
	e.invert(n)
	return true
}

// invert finds the diagonal of (LLᵀ)⁻¹: column sums of squares of L⁻¹.
func (e *equations) invert(n int) {
	var inv [unknowns][unknowns]float64
	for c := 0; c < n; c++ {
		e.d[c] = 0
		for i := c; i < n; i++ {
			s := 0.0
			if i == c {
				s = 1
			}
			for k := c; k < i; k++ {
				s -= e.m[i][k] * inv[k][c]
			}
			inv[i][c] = s / e.m[i][i]
			e.d[c] += inv[i][c] * inv[i][c]
		}
	}
}

package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Student is Student's t distribution with DF degrees of freedom, DF > 0.
type Student struct{ DF float64 }

// Survival returns P(T > x). For x > 0 it is I(ν/(x²+ν); ν/2, 1/2) / 2 (Abramowitz & Stegun 26.7.1), by symmetry for x < 0.
func (s Student) Survival(x float64) float64 {
	tail := mathext.RegIncBeta(s.DF/2, 0.5, s.DF/(x*x+s.DF)) / 2
	switch {
	case x == 0:
		return 0.5
	case x < 0:
		return 1 - tail
	}
	return tail
}

// Quantile returns the x with P(T <= x) = p, 0 < p < 1.
func (s Student) Quantile(p float64) float64 {
	if p == 0.5 {
		return 0
	}
	t := mathext.InvRegIncBeta(s.DF/2, 0.5, 2*min(p, 1-p))
	return math.Copysign(math.Sqrt(s.DF*(1-t)/t), p-0.5)
}

// NormalSurvival returns P(Z > x) of the standard normal distribution.
func NormalSurvival(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }

// manyTrials is the variance from which BinomialSurvival expands. At 2.5e5 the continued fraction is right to 1e-8, at 2.5e6 it is
// wrong by 0.001, at 1e8 by 0.5.
const manyTrials = 1e5

// BinomialSurvival returns P(X >= k) for the successes X of n >= 0 independent trials of probability p. It is I(p; k, n−k+1)
// (Abramowitz & Stegun 26.5.24). A p below 0, as edited files may imply, counts as 0, one above 1 as 1.
//
// From the variance manyTrials on it is Edgeworth's expansion with the skewness (1−2p)/σ: Q(z) + (1−2p)/(6σ) · (z²−1) · φ(z) with
// z = (k−1/2−np)/σ (Feller, volume 2, XVI.4), since gonum's continued fraction converges too slowly if k is close to np. The error
// is about 1/σ² of a probability.
func BinomialSurvival(k, n int64, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	p = min(1, max(0, p))
	if variance := float64(n) * p * (1 - p); variance >= manyTrials {
		sigma := math.Sqrt(variance)
		z := (float64(k) - 0.5 - float64(n)*p) / sigma
		skew := (1 - 2*p) / (6 * sigma) * (z*z - 1) * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		return min(1, max(0, NormalSurvival(z)+skew))
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), p)
}

// ChiSquaredSurvival returns P(X > x) of χ² with 2·half degrees of freedom, half >= 1, x >= 0 or infinite (Abramowitz & Stegun
// 26.4.19).
func ChiSquaredSurvival(x float64, half int) float64 {
	return mathext.GammaIncRegComp(float64(half), x/2)
}

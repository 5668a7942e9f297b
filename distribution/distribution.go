// Package distribution has the distributions that intervals and tests of means need, the median of a sample (median.go), and
// says which of two samples scatters less (steadier.go). Its special functions are gonum's, whose own package of distributions
// links a library of linear algebra.
package distribution

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

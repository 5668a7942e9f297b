package stats

import "math"

// LogMean returns the logarithmic mean (a − b) / ln(a/b), which lies between a and b; a, b > 0. A difference a − b whose
// ratio a/b is a product of factors splits exactly into LogMean(a, b)·ln(factor), in any order of the factors (the
// logarithmic mean Divisia index, Ang 2004).
func LogMean(a, b float64) float64 {
	if d := a/b - 1; math.Abs(d) < 1e-6 {
		return b * (1 + d/2)
	}
	return (a - b) / math.Log(a/b)
}

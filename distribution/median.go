package distribution

import (
	"math"
	"slices"
)

// Median sorts v and gives its middle value, the mean of the two middle ones of an even number, NaN of none.
func Median(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	if n == 0 {
		return math.NaN()
	}
	return (v[(n-1)/2] + v[n/2]) / 2
}

package distribution

import (
	"math"
	"slices"
)

// Median sorts v and returns its median: the middle value, or the mean of the two middle ones; NaN if v is empty.
func Median(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	if n == 0 {
		return math.NaN()
	}
	return (v[(n-1)/2] + v[n/2]) / 2
}

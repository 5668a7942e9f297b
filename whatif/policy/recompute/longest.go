package recompute

import (
	"cmp"
	"slices"
)

// Longest returns the expected largest of some times, each of which counts with its own probability, independently:
//
//	Σ over k, from the largest down, of time(k) · p(k) · Π over l before k of (1 − p(l))
func Longest(times, p []float64) float64 {
	order := make([]int, len(times))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(times[b], times[a]) })
	sum, none := 0.0, 1.0
	for _, i := range order {
		sum += times[i] * p[i] * none
		none *= 1 - p[i]
	}
	return sum
}

package recompute

import (
	"cmp"
	"slices"
)

// Phase is tasks whose outputs may be lost.
type Phase struct {
	Seconds []float64 // t: how long each task takes
	Loss    []float64 // r: the probability that its output is lost before it is read
	Reads   []Edge
}

// Edge is an earlier phase that a phase reads.
type Edge struct {
	Phase int
	All   bool // every task reads all outputs, else the k-th task the k-th (modulo their number)
}

// Redo is what it takes to make each output again, by phase and task. Phases stand behind those that they read.
//
//	t_redo = t + Σ over edges of the expected longest t_redo of the inputs that are lost too
//
// For one input that is t + r · t_redo of the input; of many inputs those that are lost are made again in parallel, and
// the longest of them is waited for (MANTRI §5.3, figure 11 and its footnote 7).
func Redo(phases []Phase) [][]float64 {
	redo := make([][]float64, len(phases))
	for i, p := range phases {
		redo[i] = slices.Clone(p.Seconds)
		for _, e := range p.Reads {
			from := phases[e.Phase]
			if e.All {
				wait := Longest(redo[e.Phase], from.Loss)
				for t := range redo[i] {
					redo[i][t] += wait
				}
				continue
			}
			for t := range redo[i] {
				if n := len(from.Loss); n > 0 {
					redo[i][t] += from.Loss[t%n] * redo[e.Phase][t%n]
				}
			}
		}
	}
	return redo
}

// Longest is the expected largest of some times, each of which counts with its own probability, independently:
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

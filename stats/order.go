package stats

import (
	"math"
	"math/bits"
	"slices"
)

// Median returns the median of v, the mean of the middle two if their number is even, or NaN if v is empty. It reorders v.
func Median(v []float64) float64 {
	n := len(v)
	if n == 0 {
		return math.NaN()
	}
	hi := Select(v, n/2)
	if n%2 == 1 {
		return hi
	}
	lo := math.Inf(-1)
	for _, x := range v[:n/2] {
		lo = max(lo, x)
	}
	return lo/2 + hi/2
}

// Select returns the k-th smallest of v, from 0; it reorders v so that v[:k] ≤ v[k] ≤ v[k+1:]. v must hold no NaN.
func Select(v []float64, k int) float64 {
	const few = 12
	for rounds := 2 * bits.Len(uint(len(v))); len(v) > few; rounds-- {
		if rounds == 0 { // the order of the values makes for bad pivots
			slices.Sort(v)
			return v[k]
		}
		switch less := partition(v); {
		case k == less:
			return v[less]
		case k < less:
			v = v[:less]
		default:
			k -= less + 1
			pivot := v[less]
			v = v[less+1:]
			if less > 0 {
				continue
			}
			same := EqualFirst(v, pivot)
			if k < same {
				return pivot
			}
			v, k = v[same:], k-same
		}
	}
	for i := 1; i < len(v); i++ {
		for j := i; j > 0 && v[j] < v[j-1]; j-- {
			v[j], v[j-1] = v[j-1], v[j]
		}
	}
	return v[k]
}

// partition moves the values of v below a pivot, the median of three of them, to the front, followed by the pivot and the rest,
// and returns the index of the pivot.
func partition(v []float64) int {
	last, mid := len(v)-1, len(v)/2
	pivot := max(min(v[0], v[mid]), min(max(v[0], v[mid]), v[last]))
	switch pivot {
	case v[0]:
		v[0], v[last] = v[last], v[0]
	case v[mid]:
		v[mid], v[last] = v[last], v[mid]
	}
	less := LessFirst(v[:last], pivot)
	v[last], v[less] = v[less], v[last]
	return less
}

// LessFirst moves the values of v that are less than x to the front and counts them.
func LessFirst(v []float64, x float64) (n int) {
	for i, y := range v {
		v[i] = v[n]
		v[n] = y
		step := 0 // branch-free: half of the branches would be mispredicted, at five times the cost
		if y < x {
			step = 1
		}
		n += step
	}
	return n
}

// EqualFirst moves the values of v that equal x to the front and counts them.
func EqualFirst(v []float64, x float64) (n int) {
	for i := range v {
		if v[i] == x {
			v[i], v[n] = v[n], v[i]
			n++
		}
	}
	return n
}

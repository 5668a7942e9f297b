package policy

import (
	"math"
	"slices"
)

// sample is an ordered sample that grows. Adding is cheap; the order is made when it is asked for.
type sample struct {
	sorted []float64
	fresh  []float64
	spare  []float64
	sum    float64
}

func (s *sample) add(x float64) {
	s.fresh = append(s.fresh, x)
	s.sum += x
}

// reset empties the sample and keeps its memory.
func (s *sample) reset() { s.sorted, s.fresh, s.sum = s.sorted[:0], s.fresh[:0], 0 }

func (s *sample) n() int { return len(s.sorted) + len(s.fresh) }

func (s *sample) mean() float64 {
	if s.n() == 0 {
		return math.NaN()
	}
	return s.sum / float64(s.n())
}

// values are the numbers in ascending order. The slice is valid until the next add.
func (s *sample) values() []float64 {
	if len(s.fresh) == 0 {
		return s.sorted
	}
	slices.Sort(s.fresh)
	out := slices.Grow(s.spare[:0], s.n())
	a, b := s.sorted, s.fresh
	for len(a) > 0 && len(b) > 0 {
		if b[0] < a[0] {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	out = append(append(out, a...), b...)
	s.spare, s.sorted, s.fresh = s.sorted, out, s.fresh[:0]
	return s.sorted
}

// quantile is the smallest value that at least a share q of the sample does not exceed; NaN without values.
func (s *sample) quantile(q float64) float64 { return quantile(s.values(), q) }

// median is the middle value, or the mean of the two in the middle.
func (s *sample) median() float64 {
	v := s.values()
	switch n := len(v); {
	case n == 0:
		return math.NaN()
	case n%2 == 0:
		return (v[n/2-1] + v[n/2]) / 2
	default:
		return v[n/2]
	}
}

// spread is the logarithm of the ratio of the upper to the lower quartile; 0 under two values.
func (s *sample) spread() float64 {
	v := s.values()
	if len(v) < 2 {
		return 0
	}
	low, high := quantile(v, 0.25), quantile(v, 0.75)
	if !(low > 0) {
		return math.Inf(1)
	}
	return math.Log(high / low)
}

// above is the share of the sample that exceeds x.
func (s *sample) above(x float64) float64 {
	v := s.values()
	if len(v) == 0 {
		return math.NaN()
	}
	n, _ := slices.BinarySearch(v, math.Nextafter(x, math.Inf(1)))
	return float64(len(v)-n) / float64(len(v))
}

func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	n := int(math.Ceil(q*float64(len(sorted)) - 1e-9))
	return sorted[min(max(n, 1), len(sorted))-1]
}

package causes

import (
	"math"
	"math/bits"
	"slices"
)

// median is the middle of v, the mean of the middle two where their number is even; NaN of none. It reorders v.
func median(v []float64) float64 {
	n := len(v)
	if n == 0 {
		return nan
	}
	hi := nth(v, n/2)
	if n%2 == 1 {
		return hi
	}
	lo := math.Inf(-1)
	for _, x := range v[:n/2] {
		lo = max(lo, x)
	}
	return lo/2 + hi/2
}

// nth is the k-th smallest of v, from 0; it reorders v so that v[:k] ≤ v[k] ≤ v[k+1:]. v must hold no NaN.
func nth(v []float64, k int) float64 {
	const few = 12
	for rounds := 2 * bits.Len(uint(len(v))); len(v) > few; rounds-- {
		if rounds == 0 { // the order of the values makes pivots bad
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
			same := bringForward(v, pivot)
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

// partition puts the values of v under a pivot, the median of three of them, first, the pivot after them, the others
// last, and gives the pivot's place.
func partition(v []float64) int {
	last, mid := len(v)-1, len(v)/2
	pivot := max(min(v[0], v[mid]), min(max(v[0], v[mid]), v[last]))
	switch pivot {
	case v[0]:
		v[0], v[last] = v[last], v[0]
	case v[mid]:
		v[mid], v[last] = v[last], v[mid]
	}
	rest := v[:last]
	less := 0
	for i, x := range rest {
		rest[i] = rest[less]
		rest[less] = x
		step := 0 // set, not branched on: half of the branches would be mispredicted, at five times the cost
		if x < pivot {
			step = 1
		}
		less += step
	}
	v[last], v[less] = v[less], v[last]
	return less
}

// bringForward puts the values that are x first and counts them.
func bringForward(v []float64, x float64) (n int) {
	for i := range v {
		if v[i] == x {
			v[i], v[n] = v[n], v[i]
			n++
		}
	}
	return n
}

// madScale makes the median absolute deviation of normal numbers their standard deviation.
const madScale = 1.4826

// huberBend is up to how many standard deviations a residual has full weight (Huber 1964; 95 % efficient on normal residuals).
const huberBend = 1.345

// huber is the weight of a residual of z standard deviations: 1 up to the bend, then falling as 1/z.
func huber(z float64) float64 {
	if z = math.Abs(z); z <= huberBend {
		return 1
	} else {
		return huberBend / z
	}
}

// logMean is the logarithmic mean (a − b) / ln(a/b), which lies between a and b; a, b > 0. A difference a − b whose
// ratio a/b is a product of factors splits exactly into logMean(a, b)·ln(factor), in any order of the factors (the
// logarithmic mean Divisia index, Ang 2004).
func logMean(a, b float64) float64 {
	if d := a/b - 1; math.Abs(d) < 1e-6 {
		return b * (1 + d/2)
	}
	return (a - b) / math.Log(a/b)
}

// A twoGroup prior says: mostly nearly nothing, seldom anything. It is normal around 0 with variance spike, and with
// probability slabShare with variance slab.
type twoGroup struct{ spike, slab, slabShare float64 }

// posterior is what remains of an observation z with variance v: mean, variance, and the probability that it is of the
// seldom kind.
func (g twoGroup) posterior(z, v float64) (mean, variance, seldom float64) {
	a, b := g.spike+v, g.slab+v
	// the log of the odds keeps far observations from underflowing
	odds := math.Log(g.slabShare/(1-g.slabShare)) + 0.5*math.Log(a/b) + 0.5*z*z*(1/a-1/b)
	seldom = 1 / (1 + math.Exp(-odds))
	ka, kb := g.spike/a, g.slab/b
	mean = z * ((1-seldom)*ka + seldom*kb)
	variance = (1-seldom)*ka*v + seldom*kb*v + seldom*(1-seldom)*z*z*(kb-ka)*(kb-ka)
	return mean, variance, seldom
}

package causes

import "math"

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
	lo, hi := 0, len(v)-1
	for hi-lo > 12 {
		mid := lo + (hi-lo)/2
		if v[mid] < v[lo] {
			v[mid], v[lo] = v[lo], v[mid]
		}
		if v[hi] < v[lo] {
			v[hi], v[lo] = v[lo], v[hi]
		}
		if v[hi] < v[mid] {
			v[hi], v[mid] = v[mid], v[hi]
		}
		pivot := v[mid]
		i, j := lo, hi
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for pivot < v[j] {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return v[k]
		}
	}
	for i := lo + 1; i <= hi; i++ {
		for j := i; j > lo && v[j] < v[j-1]; j-- {
			v[j], v[j-1] = v[j-1], v[j]
		}
	}
	return v[k]
}

// madScale makes the median absolute deviation of normal numbers their standard deviation.
const madScale = 1.4826

// huber is the weight of a residual of z standard deviations: 1 up to 1.345, then falling as 1/z (Huber 1964; 95 %
// efficient on normal residuals).
func huber(z float64) float64 {
	const c = 1.345
	if z = math.Abs(z); z <= c {
		return 1
	} else {
		return c / z
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

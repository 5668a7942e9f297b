package audit

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// prior is the prior for the variance of a series, from all series of a pool: the mean ratio s²/w, and its weight in degrees of
// freedom.
type prior struct{ ratio, df float64 }

// learnPrior fits a scaled F distribution to the ratios s²/w by the moments of their logarithms (Smyth 2004, §6.2).
func learnPrior(all []spread) prior {
	const leastSeries = 3 // with fewer, how much variances differ cannot be estimated
	var e []float64
	var sum, weight float64
	for _, s := range all {
		if s.n < 2 {
			continue
		}
		d := float64(s.n - 1)
		r := max(s.s2, leastSD*leastSD) / s.w
		sum += d * r
		weight += d
		e = append(e, math.Log(r)-mathext.Digamma(d/2)+math.Log(d/2))
	}
	if len(e) == 0 {
		return prior{}
	}
	if len(e) < leastSeries { // too few to say how much they differ from each other
		return prior{sum / weight, 1}
	}
	mean := 0.0
	for _, x := range e {
		mean += x
	}
	mean /= float64(len(e))
	excess, tri := 0.0, 0.0
	for _, x := range e {
		excess += (x - mean) * (x - mean)
	}
	excess /= float64(len(e) - 1)
	for _, s := range all {
		if s.n >= 2 {
			tri += trigamma(float64(s.n-1) / 2)
		}
	}
	excess -= tri / float64(len(e))
	if excess <= 0 { // they do not differ: one variance for all
		return prior{sum / weight, mostDF}
	}
	d0 := min(mostDF, max(leastDF, 2*trigammaInverse(excess)))
	return prior{math.Exp(mean + mathext.Digamma(d0/2) - math.Log(d0/2)), d0}
}

// discoveries returns the q-value of each p: the false discovery rate at which it would still be called (Benjamini and
// Hochberg 1995).
func discoveries(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	q := make([]float64, len(p))
	least := 1.0
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		least = min(least, p[i]*float64(len(p))/float64(k+1))
		q[i] = least
	}
	return q
}

// trigammaInverse solves trigamma(x) = y for y > 0 by Newton's method on 1/trigamma, which is nearly straight (Smyth 2004,
// appendix).
func trigammaInverse(y float64) float64 {
	if y > 1e7 {
		return 1 / math.Sqrt(y)
	}
	if y < 1e-6 {
		return 1 / y
	}
	x := 0.5 + 1/y
	for range 50 {
		t := trigamma(x)
		const h = 1e-5
		slope := (trigamma(x*(1+h)) - trigamma(x*(1-h))) / (2 * h * x)
		step := t * (1 - t/y) / slope
		x = max(x+step, x/2) // a step may not leave the domain
		if math.Abs(step) < 1e-9*x {
			break
		}
	}
	return x
}

// trigamma returns the second derivative of log Γ, for x > 0: recurrence up to 6, then the asymptotic series
// (Abramowitz and Stegun 6.4.6, 6.4.12).
func trigamma(x float64) float64 {
	if !(x > 0) {
		return math.NaN()
	}
	sum := 0.0
	for ; x < 6; x++ {
		sum += 1 / (x * x)
	}
	f := 1 / (x * x)
	return sum + 1/x + f/2 + f/x*(1.0/6-f*(1.0/30-f*(1.0/42-f/30)))
}

// mostDF bounds the degrees of freedom: tails are not known more precisely than this, however many stages agree.
const mostDF = 30

// leastDF is the least weight of the other stages: from a handful of them, with five runs each, it can hardly be estimated
// how much their variances differ.
const leastDF = 8

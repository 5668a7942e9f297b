package audit

import (
	"cmp"
	"math"
	"slices"

	"straggler/distribution"

	"gonum.org/v1/gonum/mathext"
)

// Method explains how findings are judged; it is part of every output.
const Method = "a finding is larger than its rule allows and significant: tonight's value lies above the one-sided prediction interval of the runs before " +
	"(Student's t; the variance between runs is shrunk towards that of all stages, in units of the variance between tasks; values of stages are relative to the speed of the whole run), " +
	"it is not due to a few tasks that may be slow by chance (binomial test over runs), no more than 1 % of such surprises in the history are as large, and the false discovery rate over all comparisons of the night is controlled (Benjamini and Hochberg)"

// series is what a comparison knows: the values of the runs before and that of tonight.
type series struct {
	history []point
	tonight point
}

// leastSD is the least difference that is assumed between two runs of the same program: standard deviation of a logarithm or an angle.
// Copies of a log have no variance at all, and the clock of a log ticks in milliseconds.
const leastSD = 0.01

// spread is the variance between runs of one series: s² over its pool's unit w.
type spread struct {
	mean, s2, w float64
	n           int
}

func (s *series) spread() spread {
	var out spread
	out.n = len(s.history)
	for _, p := range s.history {
		out.mean += p.y
		out.w += p.w
	}
	out.mean /= float64(out.n)
	out.w /= float64(out.n)
	for _, p := range s.history {
		out.s2 += (p.y - out.mean) * (p.y - out.mean)
	}
	if out.n > 1 {
		out.s2 /= float64(out.n - 1)
	}
	return out
}

// prior is what all series of a pool say about the variance of one: mean ratio s²/w, and how many degrees of freedom
// that is worth.
type prior struct{ ratio, df float64 }

// learnPrior fits a scaled F distribution to the ratios s²/w by the moments of their logarithms (Smyth 2004, §6.2).
func learnPrior(all []spread) prior {
	const leastSeries = 3
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

// verdict is what the test says.
type verdict struct {
	p         float64 // one-sided: chance of so large a value in a run like those before
	surprise  float64 // in standard errors of prediction
	low, high float64 // 95 % prediction interval of y
	smallest  float64 // least y above the mean that would have p < 0.001, were the tasks as alike as before
}

// judge tests the value of tonight against the history: it is one more draw from where they came from, so the error of
// prediction is v·(1 + 1/n).
func (s *series) judge(h spread, pr prior) verdict {
	d := float64(max(h.n-1, 0))
	df := min(mostDF, d+pr.df)
	v := max((d*h.s2+pr.df*pr.ratio*h.w)/(d+pr.df), leastSD*leastSD)
	se := math.Sqrt(v * (max(1, s.tonight.w/h.w) + 1/float64(h.n)))
	t := distribution.Student{DF: df}
	x := (s.tonight.y - h.mean) / se
	q := t.Quantile(0.975)
	alike := math.Sqrt(v * (1 + 1/float64(h.n)))
	return verdict{p: t.Survival(x), surprise: x, low: h.mean - q*se, high: h.mean + q*se, smallest: t.Quantile(0.999) * alike}
}

// surprises gives how far each run of the history would have lain from the others: the tail that the pool has shown.
func (s *series) surprises(h spread, pr prior, into []float64) []float64 {
	if h.n < 3 {
		return into
	}
	d, n := float64(h.n-1), float64(h.n)
	v := max((d*h.s2+pr.df*pr.ratio*h.w)/(d+pr.df), leastSD*leastSD)
	for _, p := range s.history {
		others := (h.mean*n - p.y) / (n - 1)
		into = append(into, (p.y-others)/math.Sqrt(v*(max(1, p.w/h.w)+1/(n-1))))
	}
	return into
}

// exceeds says that no more than a hundredth of the surprises is as large: a rank test over all stages and runs, which
// does not rest on the tail of a distribution.
func exceeds(x float64, surprises []float64) bool {
	larger := 0
	for _, s := range surprises {
		if s >= x {
			larger++
		}
	}
	return larger*100 <= len(surprises)
}

// discoveries gives each p its q-value: the false discovery rate at which it would still be called (Benjamini and
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

// trigammaInverse solves trigamma(x) = y for y > 0 by Newton's method on 1/trigamma, which is nearly straight (Smyth 2004, appendix).
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

// trigamma is the second derivative of log Γ, for x > 0: recurrence up to 6, then the asymptotic series
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

// mostDF bounds the degrees of freedom: the tails are not known better than this, however many stages agree.
const mostDF = 30

// leastDF is the least weight of the other stages: from a handful of them, with five runs each, it can hardly be estimated
// how much their variances differ.
const leastDF = 8

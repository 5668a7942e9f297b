package machines

import (
	"math"

	"straggler/causes/fit"
	"straggler/causes/stats"
)

// Hypothesis is one of three about the machine of a task in its phase (MODEL.md, section 5): that it is as known before, that
// it is slow in the whole phase, that it was slow for a while. In all of them any task may be slow by itself.
type Hypothesis struct {
	Mean, Variance float64 // of ln(factor) beyond what was known
	Weight         float64 // its probability before the task itself is seen
	N              int     // tasks that speak for it
}

const (
	AsKnown = iota
	SlowInPhase
	SlowForAWhile
	hypotheses
)

// transientPrior is the probability that a machine is slow for a while within a phase.
const transientPrior = 0.004

// Hypotheses compares the hypotheses for the tasks of one phase. It is for one goroutine.
type Hypotheses struct {
	cache []cached // by local number of the machine
}

// cached are the first two hypotheses of a machine with so many tasks that leaving one out makes no difference.
type cached struct {
	known, slow Hypothesis
	ok          bool
}

// Reset forgets the phase before.
func (h *Hypotheses) Reset() { h.cache = h.cache[:0] }

// Compare weighs the hypotheses by all tasks on the machine but task i itself. known is the variance of what was known of the
// machine, which the residuals of f are relative to. The weights sum to about 1.
func (h *Hypotheses) Compare(f *fit.Fitter, i int32, known float64, p stats.SpikeSlab) (s [hypotheses]Hypothesis) {
	k := f.Machines.Of[i]
	const many = 64
	if len(f.Machines.Tasks(k)) <= many {
		s[AsKnown], s[SlowInPhase] = wholePhase(f, f.MachineResiduals(k, i), known, p)
	} else {
		for len(h.cache) < len(f.Machines.Numbers) {
			h.cache = append(h.cache, cached{})
		}
		c := &h.cache[k]
		if !c.ok {
			c.known, c.slow = wholePhase(f, f.MachineResiduals(k, -1), known, p)
			c.ok = true
		}
		s[AsKnown], s[SlowInPhase] = c.known, c.slow
	}
	if len(f.Machines.Numbers) == 1 {
		// Nothing in the phase ran elsewhere: what all of its tasks have in common may be the phase's as well as the machine's.
		s[AsKnown].Weight, s[SlowInPhase] = 1, Hypothesis{}
	}
	s[SlowForAWhile] = transientSlow(f, f.ConcurrentResiduals(i), s[AsKnown], known, p)
	s[AsKnown].Weight -= transientPrior * s[AsKnown].Weight
	return s
}

// wholePhase compares the first two hypotheses. Their weights sum to 1.
func wholePhase(f *fit.Fitter, residuals []float64, known float64, p stats.SpikeSlab) (is, slow Hypothesis) {
	n := len(residuals)
	if n == 0 {
		return Hypothesis{0, known + p.Spike, 1, 0}, Hypothesis{}
	}
	as, va, l0 := fitLocation(f, residuals, 0, p.Spike+known)
	at, vt, l1 := fitLocation(f, residuals, stats.HuberMean(residuals, f.Regression.Sigma), p.Slab)
	odds := 1 / (1 + (1-p.SlabProbability)/p.SlabProbability*math.Exp(min(700, l0-l1)))
	return Hypothesis{as, va, 1 - odds, n}, Hypothesis{at, vt, odds, n}
}

// transientSlow is the third hypothesis, weighed against the first: only what ran beside the task counts.
func transientSlow(f *fit.Fitter, residuals []float64, is Hypothesis, known float64, p stats.SpikeSlab) Hypothesis {
	n := len(residuals)
	if n < 2 { // one other may be chance
		return Hypothesis{}
	}
	_, _, l0 := fitLocation(f, residuals, is.Mean, p.Spike+known)
	at, v, l := fitLocation(f, residuals, stats.HuberMean(residuals, f.Regression.Sigma), p.Slab)
	return Hypothesis{at, v, is.Weight * transientPrior * math.Exp(min(50, l-l0)), n}
}

// fitLocation finds where residuals lie when their location is 0 with variance prior and any of them may be slow by itself:
// from a first guess, by weighing each with the probability that it is an ordinary one (expectation maximisation). l is the
// logarithm of the evidence for all that, by Laplace's approximation.
func fitLocation(f *fit.Fitter, r []float64, guess, prior float64) (at, variance, l float64) {
	s2, o := f.Regression.Sigma*f.Regression.Sigma, &f.Outliers
	at = guess
	for range 4 {
		w := 0.0
		sum := 0.0
		for _, x := range r {
			own, usual := o.Density(x-at, s2), o.OrdinaryDensity(x-at, s2)
			q := usual / (usual + own)
			w += q
			sum += q * x
		}
		variance = 1 / (w/s2 + 1/prior)
		at = sum / s2 * variance
	}
	return at, variance, logLikelihood(o, r, at, s2) + stats.NormalLogPDF(at, prior) + 0.5*math.Log(2*math.Pi*variance)
}

// logLikelihood is that of residuals around a location, when some attempts are slow by themselves.
func logLikelihood(o *fit.OutlierComponent, r []float64, at, s2 float64) (sum float64) {
	for _, x := range r {
		sum += math.Log(max(1e-300, o.OrdinaryDensity(x-at, s2)+o.Density(x-at, s2)))
	}
	return sum
}

// Select gives the hypothesis that fits the task's own residual r, beyond what was known, best, and the probability that one
// is true that says something else of the machine.
func Select(f *fit.Fitter, s *[hypotheses]Hypothesis, r float64) (best int, alternative float64) {
	s2 := f.Regression.Sigma * f.Regression.Sigma
	var l [hypotheses]float64
	top := math.Inf(-1)
	for k := range s {
		if s[k].Weight <= 0 {
			l[k] = math.Inf(-1)
			continue
		}
		d, v := r-s[k].Mean, s2+s[k].Variance
		l[k] = math.Log(s[k].Weight) + math.Log(max(1e-300, f.Outliers.OrdinaryDensity(d, v)+f.Outliers.Density(d, v)))
		if l[k] > top {
			top, best = l[k], k
		}
	}
	const alike = 0.2 // ln(factor)
	var sum, other float64
	for k := range l {
		w := math.Exp(l[k] - top)
		sum += w
		if math.Abs(s[k].Mean-s[best].Mean) > alike {
			other += w
		}
	}
	return best, other / sum
}

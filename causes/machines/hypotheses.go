package machines

import (
	"math"

	"straggler/causes/fit"
	"straggler/causes/stats"
)

// Hypothesis is one of those about the machine of a task in its phase (MODEL.md, section 5). In all of them any task may be
// slow by itself.
type Hypothesis struct {
	Mean, Variance               float64 // of ln(factor), and of what a start adds
	MachineMean, MachineVariance float64 // WarmingUp: of ln(factor) alone
	Weight                       float64 // its probability before the task itself is seen
	N                            int     // other tasks that speak for it
}

// The hypotheses: the machine is as known before; it is slow in the whole phase; the task's executor was warming up; the
// machine was slow for a while, which is one for each share of the task's time that lay in that spell.
const (
	AsKnown = iota
	SlowInPhase
	WarmingUp // of cold tasks only
	SlowForAWhile
	hypotheses = SlowForAWhile + shares
)

// Hypotheses are all of them, about one machine at the time of one task.
type Hypotheses [hypotheses]Hypothesis

// Known are the hypotheses about a machine whose ln(factor) is known.
func Known(mean float64) (h Hypotheses) {
	h[AsKnown] = Hypothesis{Mean: mean, Weight: 1}
	return h
}

// Posterior is what is known of ln(factor) of a task's machine, of what the start of its executor adds, and of what is the
// attempt's own, once its residual is seen.
type Posterior struct {
	Mean, Variance       float64 // of ln(factor)
	PriorVariance        float64 // of ln(factor), before the task itself was seen
	Start, StartVariance float64 // of ln of what the start of the executor adds
	StartPriorVariance   float64 // before the task itself was seen
	StartProbability     float64 // that the executor was warming up
	StartN               int     // other tasks that speak for that
	Own, OwnVariance     float64 // of ln of what is the attempt's own
	OutlierProbability   float64 // that anything is
	Hypothesis           int     // the most probable
	Probability          float64 // of it
	N                    int     // other tasks that speak for it
}

// Posterior averages over the hypotheses (Bayesian model averaging, Hoeting et al. 1999): r is ln of the task's body over
// its prediction. Within each, r is the sum of the machine's deviation, the attempt's own, and scatter. cpu is what its
// processor time says beside the others' on its machine: of the attempt's own alone.
func (h *Hypotheses) Posterior(f *fit.Fitter, r float64, cpu fit.ProcessorTime) (p Posterior) {
	s2 := f.Regression.Sigma * f.Regression.Sigma
	var l [hypotheses]float64
	var owns [hypotheses]fit.OwnPart
	top := math.Inf(-1)
	for k := range h {
		if l[k] = math.Inf(-1); h[k].Weight > 0 {
			owns[k] = f.Outliers.Posterior(r-h[k].Mean, s2+h[k].Variance, cpu)
			l[k] = math.Log(h[k].Weight) + owns[k].LogDensity
		}
		if l[k] > top {
			top, p.Hypothesis = l[k], k
		}
	}
	var sum, prior, priorMean float64
	for k := range h {
		l[k] = math.Exp(l[k] - top)
		sum += l[k]
		prior += h[k].Weight
		of, _ := h.ofMachine(k)
		priorMean += h[k].Weight * of
	}
	priorMean /= prior
	warming := &h[WarmingUp] // the machine is as known, and the rest of the mean is the start
	start := warming.Weight / prior
	p.StartPriorVariance = start * (warming.Variance + (1-start)*stats.Square(warming.Mean-warming.MachineMean))
	var square, ownSquare, startSquare float64
	for k := range h {
		if h[k].Weight <= 0 {
			continue
		}
		w := l[k] / sum
		own := &owns[k]
		mean := h[k].Mean + h[k].Variance*own.Gain // the machine's share of what is not the attempt's own
		variance := h[k].Variance * (1 - h[k].Variance*own.GainSlope)
		if k == WarmingUp {
			begin := mean - warming.MachineMean
			p.Start, p.StartProbability, p.StartN = w*begin, w, h[k].N
			startSquare += w * (variance + begin*begin)
			mean, variance = warming.MachineMean, warming.MachineVariance
		}
		p.Mean += w * mean
		square += w * (variance + mean*mean)
		p.Own += w * own.Mean
		ownSquare += w * (own.Variance + own.Mean*own.Mean)
		p.OutlierProbability += w * own.Probability
		of, v := h.ofMachine(k)
		p.PriorVariance += h[k].Weight / prior * (v + stats.Square(of-priorMean))
	}
	p.Variance, p.OwnVariance = max(0, square-p.Mean*p.Mean), max(0, ownSquare-p.Own*p.Own)
	p.StartVariance = max(0, startSquare-p.Start*p.Start)
	p.Probability, p.N = l[p.Hypothesis]/sum, h[p.Hypothesis].N
	return p
}

// ofMachine is what hypothesis k says of ln(factor) of the machine itself.
func (h *Hypotheses) ofMachine(k int) (mean, variance float64) {
	if k == WarmingUp {
		return h[k].MachineMean, h[k].MachineVariance
	}
	return h[k].Mean, h[k].Variance
}

// Comparer weighs the hypotheses for the tasks of one phase. It is for one goroutine.
type Comparer struct {
	cache []cached // by local number of the machine
	start start
	spell spell
}

// cached are the first two hypotheses of a machine with so many tasks that leaving one out makes no difference.
type cached struct {
	known, slow Hypothesis
	ok          bool
}

// Reset forgets the phase before.
func (c *Comparer) Reset() {
	c.cache = c.cache[:0]
	c.start.known = false
}

// Compare weighs the hypotheses by all tasks on the machine but task i itself. mean ± √known is what was known of the
// machine's ln(factor), which the residuals of f are relative to. The weights sum to about 1.
func (c *Comparer) Compare(f *fit.Fitter, i int32, mean, known float64, p stats.SpikeSlab) (h Hypotheses) {
	k := f.Machines.Of[i]
	const many = 64
	if f.Cold(i) {
		h[AsKnown], h[SlowInPhase], h[WarmingUp] = c.start.compare(f, i, known, p)
	} else if len(f.Machines.Tasks(k)) <= many {
		h[AsKnown], h[SlowInPhase] = wholePhase(f, f.MachineResiduals(k, i), known, p)
	} else {
		for len(c.cache) < len(f.Machines.Numbers) {
			c.cache = append(c.cache, cached{})
		}
		e := &c.cache[k]
		if !e.ok {
			e.known, e.slow = wholePhase(f, f.MachineResiduals(k, -1), known, p)
			e.ok = true
		}
		h[AsKnown], h[SlowInPhase] = e.known, e.slow
	}
	if f.Machines.Distinct == 1 {
		// Nothing in the phase ran elsewhere: what all of its tasks have in common may be the phase's as well as the machine's.
		h[AsKnown].Weight, h[SlowInPhase] = 1-h[WarmingUp].Weight, Hypothesis{}
	}
	c.spell.weigh(f, i, h[AsKnown], p, h[SlowForAWhile:])
	h[AsKnown].Weight -= transientPrior * h[AsKnown].Weight
	for k := range h {
		h[k].Mean += mean
		h[k].MachineMean += mean
	}
	return h
}

// wholePhase compares the first two hypotheses. Their weights sum to 1.
func wholePhase(f *fit.Fitter, residuals []float64, known float64, p stats.SpikeSlab) (is, slow Hypothesis) {
	n := len(residuals)
	if n == 0 {
		return Hypothesis{Variance: known + p.Spike, Weight: 1}, Hypothesis{}
	}
	as, va, l0 := fitLocation(f, residuals, 0, p.Spike+known)
	at, vt, l1 := fitLocation(f, residuals, stats.HuberMean(residuals, f.Regression.Sigma), p.Slab)
	odds := 1 / (1 + (1-p.SlabProbability)/p.SlabProbability*math.Exp(min(700, l0-l1)))
	return Hypothesis{Mean: as, Variance: va, Weight: 1 - odds, N: n}, Hypothesis{Mean: at, Variance: vt, Weight: odds, N: n}
}

// fitLocation finds where residuals lie when their location is 0 with variance prior and any of them may be slow by itself:
// from a first guess, by weighing each with the probability that it is an ordinary one (expectation maximisation). l is the
// logarithm of the evidence for all that, by Laplace's approximation.
func fitLocation(f *fit.Fitter, r []float64, guess, prior float64) (at, variance, l float64) {
	s2 := f.Regression.Sigma * f.Regression.Sigma
	m := f.Outliers.Around(s2)
	at = guess
	for range 4 {
		w := 0.0
		sum := 0.0
		for _, x := range r {
			own, usual := m.Densities(x - at)
			q := usual / (usual + own)
			w += q
			sum += q * x
		}
		variance = 1 / (w/s2 + 1/prior)
		at = sum / s2 * variance
	}
	return at, variance, logLikelihood(&m, r, at) + stats.NormalLogPDF(at, prior) + 0.5*math.Log(2*math.Pi*variance)
}

// logLikelihood is that of residuals around a location, when some attempts are slow by themselves.
func logLikelihood(m *fit.Mixture, r []float64, at float64) (sum float64) {
	for _, x := range r {
		own, usual := m.Densities(x - at)
		sum += math.Log(max(1e-300, usual+own))
	}
	return sum
}

package machines

import (
	"math"

	"straggler/causes/fit"
	"straggler/stats"
)

// Hypothesis is a hypothesis about the machine of a task in its phase (MODEL.md, section 5). Under each of them any task may be
// slow by itself.
type Hypothesis struct {
	Mean, Variance               float64 // of ln(factor), including the effect of a start
	MachineMean, MachineVariance float64 // WarmingUp: of ln(factor) alone
	Weight                       float64 // its probability without the task itself
	N                            int     // other tasks that support it
}

// The hypotheses: the machine is as known from other phases; it is slow in the whole phase; the task's executor was warming up;
// the machine was slow during a spell, with one hypothesis for each share of the task's time within it.
const (
	AsKnown = iota
	SlowInPhase
	WarmingUp // of cold tasks only
	SlowForAWhile
	hypotheses = SlowForAWhile + shares
)

// Hypotheses are all hypotheses about one machine at the time of one task.
type Hypotheses [hypotheses]Hypothesis

// Known returns the hypotheses about a machine whose ln(factor) is known.
func Known(mean float64) (h Hypotheses) {
	h[AsKnown] = Hypothesis{Mean: mean, Weight: 1}
	return h
}

// Posterior is the distribution, given a task's residual, of ln(factor) of its machine, of the effect of the start of its
// executor, and of the part due to the attempt itself.
type Posterior struct {
	Mean, Variance       float64 // of ln(factor)
	PriorVariance        float64 // of ln(factor), without the task itself
	Start, StartVariance float64 // of the effect of the start of the executor, in ln
	StartPriorVariance   float64 // without the task itself
	StartProbability     float64 // that the executor was warming up
	StartN               int     // other tasks that support it
	Own, OwnVariance     float64 // of the part due to the attempt itself, in ln
	OutlierProbability   float64 // that this part exceeds scatter
	Hypothesis           int     // the most probable
	Probability          float64 // of it
	N                    int     // other tasks that support it

	factor [hypotheses]component // ln(factor) under each hypothesis; their mixture has the mean and variance
}

// component is a normal distribution, and the probability of it in a mixture.
type component struct{ weight, mean, variance float64 }

// LogOddsAbove returns the logarithm of the odds that ln(factor) exceeds a value, a sum over the hypotheses: ln(Σ wₖΦ((mₖ −
// at)/sₖ) / Σ wₖΦ((at − mₖ)/sₖ)). It is bounded by most on either side.
func (p *Posterior) LogOddsAbove(at, most float64) float64 {
	var above, below float64
	for _, c := range p.factor {
		if c.weight > 0 {
			z := (at - c.mean) / math.Sqrt(2*max(c.variance, 1e-12))
			above += c.weight * math.Erfc(z)
			below += c.weight * math.Erfc(-z)
		}
	}
	return min(max(math.Log(above/below), -most), most)
}

// Posterior averages over the hypotheses (Bayesian model averaging, Hoeting et al. 1999): r is ln of the body of task i over its
// prediction. Under each, r is the sum of the machine's deviation, the attempt's own part, and scatter. cpu is its processor
// time relative to others on its machine, which is evidence about the attempt's own part only.
func (h *Hypotheses) Posterior(f *fit.Fitter, i int32, r float64, cpu fit.ProcessorTime) (p Posterior) {
	s2 := f.Variance(i)
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
	warming := &h[WarmingUp] // the machine is as known, and the rest of the mean is due to the start
	start := warming.Weight / prior
	p.StartPriorVariance = start * (warming.Variance + (1-start)*stats.Square(warming.Mean-warming.MachineMean))
	var square, ownSquare, startSquare float64
	for k := range h {
		if h[k].Weight <= 0 {
			continue
		}
		w := l[k] / sum
		own := &owns[k]
		mean := h[k].Mean + h[k].Variance*own.Gain // the machine's share of the part not due to the attempt itself
		variance := h[k].Variance * (1 - h[k].Variance*own.GainSlope)
		if k == WarmingUp {
			begin := mean - warming.MachineMean
			p.Start, p.StartProbability, p.StartN = w*begin, w, h[k].N
			startSquare += w * (variance + begin*begin)
			mean, variance = warming.MachineMean, warming.MachineVariance
		}
		p.factor[k] = component{w, mean, variance}
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

// ofMachine returns the distribution of ln(factor) of the machine itself under hypothesis k.
func (h *Hypotheses) ofMachine(k int) (mean, variance float64) {
	if k == WarmingUp {
		return h[k].MachineMean, h[k].MachineVariance
	}
	return h[k].Mean, h[k].Variance
}

// Comparer weighs the hypotheses for the tasks of one phase. It must not be used concurrently.
type Comparer struct {
	cache []cached // by local number of the machine
	start start
	spell spell
}

// cached holds the first two hypotheses for a machine with so many tasks that leaving one out makes no difference.
type cached struct {
	known, slow Hypothesis
	ok          bool
}

// Reset clears the previous phase.
func (c *Comparer) Reset() {
	c.cache = c.cache[:0]
	c.start.known = false
}

// Compare weighs the hypotheses by all tasks on the machine except task i. mean and variance known describe the machine's
// ln(factor) from other phases, to which the residuals of f are relative. The weights sum to about 1.
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
		// The whole phase ran on this machine: what its tasks have in common may be due to the phase as well as to the machine.
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

// fitLocation estimates the location of residuals, with prior mean 0 and variance prior, when any of them may be slow by
// itself: starting from a guess, it weights each residual with the probability of being an ordinary one (expectation
// maximisation). l is the log evidence by Laplace's approximation.
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

// logLikelihood returns the log likelihood of residuals around a location when some attempts are slow by themselves.
func logLikelihood(m *fit.Mixture, r []float64, at float64) (sum float64) {
	for _, x := range r {
		own, usual := m.Densities(x - at)
		sum += math.Log(max(1e-300, usual+own))
	}
	return sum
}

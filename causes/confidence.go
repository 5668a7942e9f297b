package causes

import (
	"math"

	"straggler/schema"
	"straggler/stats"
)

// The confidence of a verdict depends on the kind of evidence, on its lead z over the runner-up in standard errors, on whether
// the log measures work, and, where the verdict names a machine or a component of a mixture, on the posterior probability P of
// that: the log odds of being right are constant + slope·ln(1+z) + posterior·logit(P), plus unmeasured where the log does
// not measure work. A verdict is right if its cause acted on the attempt, as on the labelled logs. The coefficients are
// logistic regressions over verdicts on synthetic clusters of many kinds (TestReliability prints them): six hundred mixtures
// have a weight of 0.7, and fourteen families share the rest equally, since a log does not show which kind of cluster it is
// from. TestCalibration checks them on other mixtures, and TestReliability checks each family with coefficients fitted on the
// others.
var confidences = [...]logistic{
	onFigure:      {2.26, 3.49, 0, 0},
	onCoefficient: {2.89, 1.06, -2.46, 0},
	onMachine:     {0.42, 0, 0, 0.38},
	onElsewhere:   {1.97, 1.45, 1.82, 0},
	onMixture:     {1.32, 0.76, -0.68, 0.17},
	onStart:       {-0.95, 1.01, 0, 0.88},

	onMixtureOverWork: {-1.70, 1.71, -0.22, 0.41},
	onWorkOverMixture: {1.42, 1.54, -2.01, 0},
	onWorkOverMachine: {-0.80, 1.49, 0, 0},
}

// reading is the kind of evidence for a verdict, and for its runner-up where both are parts of the same body: each kind errs in
// its own way.
type reading int

const (
	onFigure      reading = iota // a measured figure of the task
	onCoefficient                // a coefficient, which may stand for a correlated variable
	onMachine                    // the other tasks of its machine
	onElsewhere                  // events elsewhere at that time; fitted as onMachine is with its lead only, for lack of such verdicts
	onMixture                    // the residual: of the attempt alone, or scatter of the phase
	// the residual of a task on an executor that had just started: due to the start, its machine or the attempt alone
	onStart

	// Scatter multiplies whatever made a task slow. So the split of a body between work and residual depends on the form of the
	// model as well as on its errors, and an ordinary residual explains nothing if the work of the task does.
	onMixtureOverWork // the residual, before a coefficient
	onWorkOverMixture // a coefficient, before the residual
	// Processor time is used as work if nothing else measures it, and a slow machine takes more of it for the same work.
	onWorkOverMachine // a coefficient, before the machine, where the log does not measure work
)

// readingOf returns the reading of a verdict and its runner-up, given by their largest terms; the value terms means that
// there is no runner-up.
func readingOf(top, second term, measured bool) reading {
	switch {
	case top == ofResidual && second < ofFirst:
		return onMixtureOverWork
	case top <= ofFirst && second == ofResidual:
		return onWorkOverMixture
	case top <= ofFirst && second == ofMachine && !measured:
		return onWorkOverMachine
	case top == ofResidual:
		return onMixture
	case top == ofCold:
		return onStart
	case top == ofMachine:
		return onMachine
	case top == ofPause || top == ofLateLaunch || top == ofShortWait || top == ofShortDelay || top == ofShortConvert:
		return onElsewhere
	case top <= ofFirst:
		return onCoefficient
	}
	return onFigure
}

type logistic struct{ constant, slope, unmeasured, posterior float64 }

// claim is what the confidence of a verdict is computed from.
type claim struct {
	of       reading
	z        float64
	measured bool    // work is, by bytes or records
	logit    float64 // of the posterior probability of what it names, if that has one
}

// claimOf returns the claim of the first line; ok is false if that names no cause, or has no error.
func claimOf(lines []line, s *split) (c claim, ok bool) {
	top := lines[0].top
	second := terms
	if len(lines) > 1 && lines[1].seconds > 0 {
		second = lines[1].top
	}
	c.of, c.measured = readingOf(top, second, s.workMeasured), s.workMeasured
	c.z, ok = lead(lines)
	p := 0.5
	switch top {
	case ofResidual:
		p = s.outlierProbability
	case ofCold:
		p = s.machine.StartProbability
	}
	p = min(max(p, leastPosterior), mostPosterior)
	c.logit = math.Log(p / (1 - p))
	if top == ofMachine {
		c.logit = s.machine.LogOddsAbove(s.actingFactor, mostLogit)
	}
	return c, ok && lines[0].cause != schema.UnexplainedCause
}

// Beyond these limits a posterior probability reflects the tails of the mixture rather than the attempt.
const leastPosterior, mostPosterior = leastOutlier, 0.999

// A machine acted on an attempt if it makes up this share of its excess: from there on a verdict counts as right even if another
// cause is larger. mostLogit bounds the log odds of that: beyond it they reflect the tails of normal distributions.
const acting, mostLogit = 0.2, 20.0

const mostLogOdds = 6.0 // never exceeded: 1 in 400 is wrong for reasons unknown

func (l logistic) probability(c claim) float64 {
	odds := l.constant + l.slope*math.Log1p(c.z) + l.posterior*c.logit
	if !c.measured {
		odds += l.unmeasured
	}
	return 1 / (1 + math.Exp(-min(mostLogOdds, odds)))
}

// confidence returns the probability that the verdict, the first of the lines, is right, or NULL if it names no cause.
func confidence(lines []line, s *split) schema.Null[float64] {
	c, ok := claimOf(lines, s)
	if !ok {
		return schema.Null[float64]{}
	}
	return schema.Some(confidences[c.of].probability(c))
}

// lead returns the lead of the first line over the second in standard deviations of their difference; ok is false where that has
// no error.
func lead(lines []line) (z float64, ok bool) {
	seconds, errors, v := lines[0].seconds, lines[0].errors, stats.Square(lines[0].model)
	if len(lines) > 1 && lines[1].seconds > 0 {
		seconds -= lines[1].seconds
		errors.add(&lines[1].errors, -1)
		v += stats.Square(lines[1].model)
	}
	v += errors.variance()
	return max(0, seconds) / math.Sqrt(v), v > 0
}

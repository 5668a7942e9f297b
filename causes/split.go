package causes

import (
	"math"

	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/causes/stats"
	"straggler/schema"
)

// term is one thing that made a task slower or faster than the median. Several terms may be one cause.
type term int

const (
	ofBytes term = iota // the predictors of fit, in their order
	ofRecords
	ofWritten
	ofCPU
	ofRemote
	ofSpill
	ofAway
	ofFirst
	ofWait // the measured parts of fit, in their order
	ofGC
	ofDelay
	ofConvert
	ofLink        // delay of the messages to and from a machine whose link is full
	ofWaitForMore // the part of the wait that its larger input explains
	ofMachine
	ofResidual // what nothing explains
	ofRedo
	ofGap // waiting for lost inputs to be made again
	terms
)

// causeOf says which cause a term counts for. ofResidual is unexplained where too little is known to call it transient.
var causeOf = [terms]schema.Cause{
	ofBytes: schema.DataSkew, ofRecords: schema.DataSkew, ofWritten: schema.DataSkew, ofCPU: schema.DataSkew, ofWaitForMore: schema.DataSkew,
	ofRemote: schema.Network, ofWait: schema.Network, ofLink: schema.Network, ofSpill: schema.Spill, ofAway: schema.LocalityMiss,
	ofFirst: schema.UnexplainedCause, ofGC: schema.GC, ofDelay: schema.Scheduler, ofConvert: schema.Deserialize,
	ofMachine: schema.BadMachine, ofResidual: schema.Transient, ofRedo: schema.Recompute,
	ofGap: schema.Recompute,
}

// split is the excess of one outlier by terms.
type split struct {
	task    *fit.Task
	index   int     // of the task in its phase
	median  float64 // of the phase, seconds
	excess  float64
	seconds [terms]float64
	sd      [terms]float64 // standard deviation of seconds

	machine                float64 // ln(factor) of its machine
	machineSD              float64
	selected               machines.Hypothesis // why that factor is taken
	hypothesis             int                 // which one it is
	alternativeProbability float64             // that another one about its machine is true
	residual               float64             // ln of what is left: body / (prediction × machine)
	outlierProbability     float64             // that it is more than the scatter of the phase
	unidentifiable         string              // why what is left can not be named; "" where it can
}

// split splits the excess of task i of the prepared phase.
func (a *Attributor) split(i int) split {
	b := a.phase
	t := &b.Tasks[i]
	s := split{task: t, index: i, excess: t.Excess, median: t.Duration - t.Excess}
	if t.Recompute {
		s.seconds[ofRedo], s.median = t.Excess, 0
		return s
	}
	middle := a.middle(s.median)
	for k := range b.Part {
		s.seconds[ofWait+term(k)] = b.Part[k][i] - middle[k]
		s.sd[ofWait+term(k)] = 0.1 * math.Abs(s.seconds[ofWait+term(k)])
	}
	a.waitForMore(&s, i, middle[fit.FetchWait])
	s.delayOfLink()
	a.splitBody(&s, i, middle[fit.Parts])
	s.overlap()
	a.waitForLost(&s)
	return s
}

// middle is the median task: the medians of the parts, and as its body what is left of the median duration.
func (a *Attributor) middle(median float64) (m [fit.Parts + 1]float64) {
	m[fit.Parts] = median
	for k, v := range a.mid {
		m[k] = v
		m[fit.Parts] -= v
	}
	if least := 0.05 * median; m[fit.Parts] < least { // the medians are of different tasks
		shrink := (median - least) / (median - m[fit.Parts])
		for k := range a.mid {
			m[k] *= shrink
		}
		m[fit.Parts] = least
	}
	return m
}

// splitBody splits the body's excess over the median's: body = prediction × machine × residual, each part weighted by
// the logarithmic mean so that they sum.
func (a *Attributor) splitBody(s *split, i int, middle float64) {
	b := a.phase
	f := &b.Regression
	var x [fit.Predictors]float64
	for k := range x {
		x[k] = b.X[k][i]
	}
	expected, usual := f.Predict(&x), f.Predict(&f.Mid)
	body := b.Body[i]
	a.machineOf(s, i, math.Log(max(body, 1e-9*middle)/expected))
	if lack := expected*math.Exp(s.machine) - body; lack > 0 && b.Part[fit.GC][i] > 0 { // it collected while it slept or waited
		lack = min(lack, max(0, s.seconds[ofGC]))
		body += lack
		s.seconds[ofGC] -= lack
	}
	body = max(body, 1e-9*middle)
	l := stats.LogMean(body, middle)
	left := body - middle
	for k := range x {
		if f.Status[k] != fit.Used {
			continue
		}
		// the share of ln(expected/usual) in proportion to the predictor's seconds
		scale := l / stats.LogMean(expected, usual)
		s.seconds[k] = f.Coef[k] * (x[k] - f.Mid[k]) * scale
		s.sd[k] = math.Abs(f.SE[k] * (x[k] - f.Mid[k]) * scale)
		left -= s.seconds[k]
	}
	s.seconds[ofMachine], s.sd[ofMachine] = l*(s.machine-a.phase.Usual), l*s.machineSD
	left -= s.seconds[ofMachine]
	a.splitResidual(s, l, left, math.Log(body/expected)-s.machine)
}

// machineOf estimates the factor of the task's machine: from everything but the task, and of the hypotheses that this
// leaves the one that fits r best, ln of the task's body over its prediction.
func (a *Attributor) machineOf(s *split, i int, r float64) {
	b := a.phase
	k := b.Machines.Of[i]
	if k < 0 { // unknown: taken for a usual one
		s.machine = a.phase.Usual
		return
	}
	mean, known := b.LogFactor[k], b.LogFactorVariance[k]
	p := machines.PhasePrior
	if mean == 0 { // nothing but this phase speaks for the machine
		p, known = a.model.Machines.Population, 0
	}
	all := a.hypotheses.Compare(&b.Fitter, int32(i), known, p)
	s.hypothesis, s.alternativeProbability = machines.Select(&b.Fitter, &all, r-mean)
	s.selected = all[s.hypothesis]
	s.machine, s.machineSD = mean+s.selected.Mean, math.Sqrt(s.selected.Variance)
}

// splitResidual splits r, what its work and its machine do not explain, between three: its machine, as far as the machine's
// factor in this phase is uncertain; scatter, as all tasks of the phase have it; and what is the attempt's own. The
// scatter is no cause but goes with the named ones in proportion, because it multiplies whatever made the task slow.
func (a *Attributor) splitResidual(s *split, l, left, r float64) {
	sigma2, machine2 := stats.Square(a.phase.Regression.Sigma), stats.Square(s.machineSD)
	own := &a.phase.Outliers
	mean, variance, outlier := own.Posterior(r, sigma2+machine2)
	s.residual, s.outlierProbability = r, outlier
	more := l * machine2 * ((1-outlier)*r/(sigma2+machine2) + outlier*(r-own.Mean)/(sigma2+machine2+own.Variance))
	s.seconds[ofMachine] += more
	left -= more
	part := l * mean
	switch { // a part of what is left is not more than it
	case part*left <= 0:
		part = 0
	case math.Abs(part) > math.Abs(left):
		part = left
	}
	s.seconds[ofResidual] = part
	s.sd[ofResidual] = l * math.Sqrt(variance+sigma2)
	s.spreadScatter(left - part)
	if s.unidentifiable = a.unidentifiableReason(); s.unidentifiable == "" && outlier < leastOutlier {
		s.unidentifiable = "so much is ordinary scatter here"
	}
}

// leastOutlier is the probability of being more than scatter under which nothing is called transient.
const leastOutlier = 0.1

// unidentifiableReason says why what is left of a task of this phase can not be called transient.
func (a *Attributor) unidentifiableReason() string {
	f := &a.phase.Regression
	switch {
	case f.N < 3:
		return "too few tasks to compare with"
	case f.Status[fit.ByBytes] == fit.Absent && f.Status[fit.ByRecords] == fit.Absent && f.Status[fit.ByWritten] == fit.Absent && f.Status[fit.ByCPU] == fit.Absent:
		return "the log does not say how much work a task had"
	}
	return ""
}

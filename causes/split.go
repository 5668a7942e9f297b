package causes

import (
	"math"

	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/schema"
	"straggler/stats"
)

// term is one contribution to the difference between a task and the median. A cause may comprise several terms.
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
	ofLink         // delay of the messages to and from a machine with a saturated link
	ofWaitForMore  // the part of the wait that its larger input explains
	ofShortWait    // a wait too short, for too few bytes, to be due to a link
	ofShortDelay   // a delay too short to be due to the scheduler
	ofShortConvert // a conversion too short to be that of large variables
	ofPause        // waiting for a process that collected garbage
	ofLateLaunch   // launched while its process collected garbage
	ofFirstConvert // loading of classes and code by the first tasks of a phase
	ofMachine
	ofResidual // the unexplained remainder
	ofRedo
	ofGap  // waiting for lost inputs to be recomputed
	ofCold // the start of its executor
	terms
)

// causeOf maps terms to causes. ofResidual is unexplained where too little is known to call it transient.
var causeOf = [terms]schema.Cause{
	ofBytes: schema.DataSkew, ofRecords: schema.DataSkew, ofWritten: schema.DataSkew, ofCPU: schema.DataSkew, ofWaitForMore: schema.DataSkew,
	ofRemote: schema.Network, ofWait: schema.Network, ofLink: schema.Network, ofSpill: schema.Spill, ofAway: schema.LocalityMiss,
	ofFirst: schema.Startup, ofGC: schema.GC, ofDelay: schema.Scheduler, ofConvert: schema.Deserialize,
	ofMachine: schema.BadMachine, ofResidual: schema.Transient, ofRedo: schema.Recompute,
	ofGap: schema.Recompute, ofCold: schema.Startup,
	ofShortWait: schema.Transient, ofShortDelay: schema.Transient, ofShortConvert: schema.Transient, ofPause: schema.GC,
	ofLateLaunch: schema.GC, ofFirstConvert: schema.Startup,
}

// lastMeasured is the last of the measured terms; the first is ofWait.
const lastMeasured = ofFirstConvert

// split is the excess of one outlier by terms.
type split struct {
	task     *fit.Task
	index    int // of the task in its phase
	excess   float64
	estimate                 // before the rules
	seconds  [terms]float64  // after them; they sum to the excess
	errors   [terms]gradient // of seconds

	machine            machines.Posterior // of ln(factor) of its machine
	actingFactor       float64            // ln(factor) from which on the machine makes up the share acting of the excess
	workMeasured       bool               // by bytes or records
	residual           float64            // ln of the remainder: body / (prediction × machine)
	outlierProbability float64            // that the residual exceeds the scatter of the phase
	unidentifiable     string             // why the remainder cannot be attributed; "" if it can
	startOrWork        bool               // its start and its work cannot be distinguished
	together           fit.StartOrWork    // where that is so
	server             int64              // the machine whose collections it waited for, where paused
}

// estimate is the model's estimate of an excess: seconds by term, and scatter of the body, which belongs to no term.
type estimate struct {
	of      [terms]float64
	scatter float64
	median  float64        // of the phase's durations
	sd      [terms]float64 // of the terms within the body, before the rules
	missing float64        // seconds for which an input of the task was missing

	lateMessages, lateCode bool // its machine's messages wait for its saturated link
	lateDriver             bool // its delay is due to a pause of the driver
	// kinds of its wait, delay and conversion, see renameParts
	paused, lateLaunch, shortWait, shortDelay, firstConvert, shortConvert bool

	slower      float64 // share of a task's time due to the factor of its machine
	slowMachine bool    // its machine alone makes the task an outlier among those that began like it
}

// source is a source of error in the seconds of a split. The sources are mutually independent.
type source int

const (
	// of the predictors of fit, in their order: shared by all tasks of the phase
	coefficients  source = iota
	machineSource        = coefficients + source(fit.Predictors) // the factor: shared by all tasks on the machine
	startSource          = machineSource + 1                     // the effect of the start of its executor
	ownSource            = startSource + 1                       // the part of the residual due to the attempt itself
	partSources          = ownSource + 1                         // the measured parts of fit, in their order
	moreSource           = partSources + fit.Parts               // the part of the wait explained by its larger input
	droppedSource        = moreSource + 1                        // causes too small for a row, which the verdict took
	sharedSource         = droppedSource + 1                     // the usual wait of tasks at that time
	// the processor time factor of its machine, where processor time measures work
	cpuSource = sharedSource + 1
	sources   = cpuSource + 1
)

// gradient is the change of a figure for a change of each source by one standard deviation; its variance is the sum of squares.
type gradient [sources]float64

func (g *gradient) variance() (v float64) {
	for _, x := range g {
		v += x * x
	}
	return v
}

func (g *gradient) add(h *gradient, by float64) {
	for j := range g {
		g[j] += by * h[j]
	}
}

// split splits the excess of task i of the prepared phase.
func (a *Attributor) split(i int) split {
	b := a.phase
	t := &b.Tasks[i]
	s := split{task: t, index: i, excess: t.Excess, estimate: estimate{median: t.Duration - t.Excess}}
	s.workMeasured = b.Regression.WorkMeasured()
	if t.Recompute {
		s.seconds[ofRedo], s.median = t.Excess, 0
		return s
	}
	var moved [sources]float64 // one standard deviation of each source
	middle := a.middle(s.median)
	for k := range b.Part {
		s.of[ofWait+term(k)] = b.Part[k][i] - middle[k]
		moved[partSources+source(k)] = a.partSD[k]
	}
	moved[moreSource] = a.waitForMore(&s, i, middle[fit.FetchWait])
	q := a.splitBody(&s, i, middle[fit.Parts], &moved)
	s.missing = a.missingInput(t)
	a.judgeParts(&s)
	s.seconds = s.estimate.rules()
	for j, d := range moved {
		if d == 0 {
			continue
		}
		m := s.estimate
		m.move(source(j), d, q)
		after := m.rules()
		for k := range after {
			s.errors[k][j] = after[k] - s.seconds[k]
		}
	}
	return s
}

// move changes the estimate as if a source were d seconds larger. The duration is fixed: what a term gains, the residual loses,
// a share q of it from the part due to the attempt itself and the rest from the scatter.
func (e *estimate) move(j source, d, q float64) {
	switch {
	case j < machineSource:
		e.of[term(j)] += d
	case j == machineSource:
		e.of[ofMachine] += d
	case j == startSource:
		e.of[ofCold] += d
	case j == ownSource:
		q = -1
	case j == moreSource:
		e.of[ofWaitForMore] += d
		e.of[ofWait] -= d
		return
	case j == cpuSource:
		e.of[ofMachine] += d
		e.of[ofCPU] -= d
		return
	default:
		e.of[ofWait+term(j-partSources)] += d
	}
	if j == ownSource {
		e.of[ofResidual] += d
		e.scatter -= d
		return
	}
	e.of[ofResidual] -= q * d
	e.scatter -= (1 - q) * d
}

// middle returns the median task: the medians of the parts, and as its body the remainder of the median duration.
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

// splitBody splits the body's excess over the median's: body = prediction × machine × residual, each part weighted by the
// logarithmic mean so that they sum. The residual is split between the part due to the attempt itself and the scatter of the
// phase. It stores one standard deviation of each source in moved, and returns the share of a change of the residual that is
// due to the attempt itself.
func (a *Attributor) splitBody(s *split, i int, middle float64, moved *[sources]float64) (q float64) {
	b := a.phase
	f := &b.Regression
	var x [fit.Predictors]float64
	for k := range x {
		x[k] = b.X[k][i]
	}
	expected, usual := f.Predict(&x), f.Predict(&f.Mid)
	body := b.Body[i]
	hypotheses, cpu := a.hypothesesOf(i), b.ProcessorTime(int32(i))
	s.machine = hypotheses.Posterior(&b.Fitter, int32(i), math.Log(max(body, 1e-9*middle)/expected), cpu)
	if lack := expected*math.Exp(s.machine.Mean+s.machine.Start) - body; lack > 0 && b.Part[fit.GC][i] > 0 {
		body += s.collectedAside(lack)
		s.machine = hypotheses.Posterior(&b.Fitter, int32(i), math.Log(max(body, 1e-9*middle)/expected), cpu)
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
		s.of[k] = f.Coef[k] * (x[k] - f.Mid[k]) * scale
		moved[k] = f.SE[k] * (x[k] - f.Mid[k]) * scale
		s.sd[k] = math.Abs(moved[k])
		left -= s.of[k]
		if machine := b.Machines.Of[i]; fit.Predictor(k) == fit.ByCPU && machine >= 0 && b.CPUFactorSD != nil {
			moved[cpuSource] = f.Coef[k] * x[k] * scale * b.CPUFactorSD[machine]
		}
	}
	s.of[ofMachine], s.sd[ofMachine] = l*(s.machine.Mean-b.Usual), l*math.Sqrt(s.machine.PriorVariance)
	s.actingFactor = b.Usual + acting*s.excess/l
	left -= s.of[ofMachine]
	s.of[ofCold], s.sd[ofCold] = l*s.machine.Start, l*math.Sqrt(s.machine.StartPriorVariance)
	left -= s.of[ofCold]
	own := l * s.machine.Own
	switch { // a part of what is left is not more than it
	case own*left <= 0:
		own = 0
	case math.Abs(own) > math.Abs(left):
		own = left
	}
	s.of[ofResidual], s.scatter = own, left-own
	s.slower = -math.Expm1(-max(0, s.machine.Mean-b.Usual))
	s.slowMachine = s.machine.Mean-b.Usual >= math.Log(1+2*halfway)
	moved[machineSource] = l * math.Sqrt(s.machine.Variance)
	moved[startSource] = l * math.Sqrt(s.machine.StartVariance)
	moved[ownSource] = l * math.Sqrt(s.machine.OwnVariance)
	if t, ok := b.StartOrWork(int32(i)); ok && t.CannotTell() {
		s.startOrWork, s.together = true, t
	}
	s.residual, s.outlierProbability = math.Log(body/expected)-s.machine.Mean-s.machine.Start, s.machine.OutlierProbability
	if s.unidentifiable = a.unidentifiableReason(); s.unidentifiable == "" && s.outlierProbability < leastOutlier {
		s.unidentifiable = "this much is normal variation in this phase"
	}
	return s.machine.OutlierProbability
}

// collectedAside takes what a body lacks off the wait and the collection of its task, which collected while it slept or waited,
// and returns how much that is.
func (s *split) collectedAside(lack float64) float64 {
	// blocks that came meanwhile were waited for, whatever sent them
	stopped := min(lack, max(0, s.of[ofWait]), max(0, s.of[ofGC]))
	s.of[ofWait] -= stopped
	slept := min(lack-stopped, max(0, s.of[ofGC]))
	s.of[ofGC] -= slept
	return stopped + slept
}

// hypothesesOf returns the hypotheses about the machine of task i.
func (a *Attributor) hypothesesOf(i int) machines.Hypotheses {
	b := a.phase
	k := b.Machines.Of[i]
	if k < 0 { // unknown: assumed to be a typical one
		return machines.Known(b.Usual)
	}
	mean, known := b.LogFactor[k], b.LogFactorVariance[k]
	if b.LogFactorPhases[k] == 0 { // the machine is known from this phase only
		return a.comparer.Compare(&b.Fitter, int32(i), mean, 0, a.model.Machines.Population)
	}
	return a.comparer.Compare(&b.Fitter, int32(i), mean, known, machines.PhasePrior)
}

// leastOutlier is the probability of exceeding scatter below which nothing is called transient.
const leastOutlier = 0.1

// unidentifiableReason explains why the remainder of a task of this phase cannot be called transient.
func (a *Attributor) unidentifiableReason() string {
	f := &a.phase.Regression
	switch {
	case f.N < 3:
		return "too few tasks to compare with"
	case !f.WorkMeasured() && f.Status[fit.ByCPU] == fit.Absent:
		return "the log does not say how much work a task had"
	}
	return ""
}

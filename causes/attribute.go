package causes

import (
	"math"

	"straggler/schema"
)

// A term is one thing that made a task slower or faster than the median. Several terms may be one cause.
type term int

const (
	ofBytes term = iota // the predictors, in their order
	ofRecords
	ofWritten
	ofCPU
	ofRemote
	ofSpill
	ofAway
	ofFirst
	ofWait // the measured parts, in their order
	ofGC
	ofDelay
	ofConvert
	ofLink        // delay of the messages to and from a machine whose link is full
	ofWaitForMore // the part of the wait that its larger input explains
	ofMachine
	ofItself // what nothing explains
	ofRedo
	ofGap // waiting for lost inputs to be made again
	terms
)

// causeOf says which cause a term counts for. ofItself is unexplained where too little is known to call it transient.
var causeOf = [terms]schema.Cause{
	ofBytes: schema.DataSkew, ofRecords: schema.DataSkew, ofWritten: schema.DataSkew, ofCPU: schema.DataSkew, ofWaitForMore: schema.DataSkew,
	ofRemote: schema.Network, ofWait: schema.Network, ofLink: schema.Network, ofSpill: schema.Spill, ofAway: schema.LocalityMiss,
	ofFirst: schema.UnexplainedCause, ofGC: schema.GC, ofDelay: schema.Scheduler, ofConvert: schema.Deserialize,
	ofMachine: schema.BadMachine, ofItself: schema.Transient, ofRedo: schema.Recompute,
	ofGap: schema.Recompute,
}

// split is the excess of one outlier by terms.
type split struct {
	task    *Task
	index   int     // of the task in its phase
	median  float64 // of the phase, seconds
	excess  float64
	seconds [terms]float64
	sd      [terms]float64 // standard deviation of seconds

	machine   float64 // ln(factor) of its machine
	machineSD float64
	told      story   // why that factor is taken
	toldBy    int     // which of the stories it is
	doubt     float64 // probability that another story about its machine is true
	itself    float64 // ln of what is left: body / (prediction × machine)
	seldom    float64 // probability that it is more than the scatter of the phase
	cannot    string  // why what is left can not be named; "" where it can
}

// Attributor splits the excess of outliers. It is for one goroutine; several may share a Model.
type Attributor struct {
	model *Model
	bench bench
	mid   [nParts]float64
	rate  float64 // median fetch wait per remote byte
	usual float64 // ln(factor) of the median task's machine
	prior struct {
		mean, sd, factor []float64
	}
	lines []line
	text  []byte
	words words
	query words
	where words
	waits waits
	saved savings

	opinions []opinion // by machine
}

// NewAttributor makes an Attributor that knows what the model knows.
func (m *Model) NewAttributor() *Attributor { return &Attributor{model: m} }

// Attribute appends the rows of a phase's outliers to out: for each, its causes, the verdict first.
func (a *Attributor) Attribute(p *Phase, out []schema.Attribution) []schema.Attribution {
	prepared := false
	a.saved.begin()
	for i := range p.Tasks {
		t := &p.Tasks[i]
		if !t.Outlier() || math.IsNaN(t.Excess) || math.IsInf(t.Excess, 0) {
			continue
		}
		if !prepared {
			a.prepare(p)
			a.waits.ok = false
			prepared = true
		}
		s := a.split(i)
		lines := a.causes(&s)
		sure := confidence(lines, &s)
		for r := range lines {
			row := schema.Attribution{AttemptID: t.Attempt, PhaseID: p.ID, Cause: lines[r].cause, Seconds: lines[r].seconds,
				Rank: int32(r + 1)}
			if s.excess != 0 {
				row.Share = schema.Some(lines[r].seconds / s.excess)
			}
			if r == 0 {
				row.Confidence = sure
			}
			if place := a.place(&s, &lines[r]); place != "" {
				row.Place = schema.Some(place)
			}
			a.text = a.evidence(a.text[:0], &s, &lines[r])
			row.Evidence = string(a.text)
			out = append(out, row)
			a.saved.add(i, len(p.Tasks), &lines[r])
		}
	}
	return out
}

// split splits the excess of task i of the prepared phase.
func (a *Attributor) split(i int) split {
	b := &a.bench
	t := &b.tasks[i]
	s := split{task: t, index: i, excess: t.Excess, median: t.Duration - t.Excess}
	if t.Recompute {
		s.seconds[ofRedo], s.median = t.Excess, 0
		return s
	}
	middle := a.middle(s.median)
	for k := range b.part {
		s.seconds[ofWait+term(k)] = b.part[k][i] - middle[k]
		s.sd[ofWait+term(k)] = 0.1 * math.Abs(s.seconds[ofWait+term(k)])
	}
	a.waitForMore(&s, i, middle[waiting])
	s.link()
	a.ownTime(&s, i, middle[nParts])
	s.overlap()
	a.wait(&s)
	return s
}

// middle is the median task: the medians of the parts, and as its body what is left of the median duration.
func (a *Attributor) middle(median float64) (m [nParts + 1]float64) {
	m[nParts] = median
	for k, v := range a.mid {
		m[k] = v
		m[nParts] -= v
	}
	if least := 0.05 * median; m[nParts] < least { // the medians are of different tasks
		shrink := (median - least) / (median - m[nParts])
		for k := range a.mid {
			m[k] *= shrink
		}
		m[nParts] = least
	}
	return m
}

// waitForMore moves to skew the part of the wait that a task with its input usually has.
func (a *Attributor) waitForMore(s *split, i int, middle float64) {
	b := &a.bench
	over := s.seconds[ofWait]
	usual := a.rate * b.volume(i)
	if f := b.fit.fate[byBytes]; f == constant || f == absent || over <= 0 || usual <= middle {
		return
	}
	s.seconds[ofWaitForMore] = min(over, usual-middle)
	s.seconds[ofWait] = over - s.seconds[ofWaitForMore]
	s.sd[ofWaitForMore] = 0.1 * s.seconds[ofWaitForMore]
}

// link counts a delay as the network's when the task also waited for blocks: the messages that start and end a task
// queue behind the blocks that its machine fetches or serves.
func (s *split) link() {
	const material = 0.25 // share of the excess that the wait must be
	if d := s.seconds[ofDelay]; d > 0 && s.seconds[ofWait] > material*s.excess {
		s.seconds[ofLink], s.seconds[ofDelay] = d, 0
		s.sd[ofLink], s.sd[ofDelay] = s.sd[ofDelay], 0
	}
}

// ownTime splits the body's excess over the median's: body = prediction × machine × itself, each part weighted by
// the logarithmic mean so that they sum.
func (a *Attributor) ownTime(s *split, i int, middle float64) {
	b := &a.bench
	f := &b.fit
	var x [predictors]float64
	for k := range x {
		x[k] = b.x[k][i]
	}
	expected, usual := f.predict(&x), f.predict(&f.mid)
	body := b.body[i]
	a.machineOf(s, i, math.Log(max(body, 1e-9*middle)/expected))
	if lack := expected*math.Exp(s.machine) - body; lack > 0 && b.part[collecting][i] > 0 { // it collected while it slept or waited
		lack = min(lack, max(0, s.seconds[ofGC]))
		body += lack
		s.seconds[ofGC] -= lack
	}
	body = max(body, 1e-9*middle)
	l := logMean(body, middle)
	left := body - middle
	for k := range x {
		if f.fate[k] != used {
			continue
		}
		// the share of ln(expected/usual) in proportion to the predictor's seconds
		scale := l / logMean(expected, usual)
		s.seconds[k] = f.coef[k] * (x[k] - f.mid[k]) * scale
		s.sd[k] = math.Abs(f.se[k] * (x[k] - f.mid[k]) * scale)
		left -= s.seconds[k]
	}
	s.seconds[ofMachine], s.sd[ofMachine] = l*(s.machine-a.usual), l*s.machineSD
	left -= s.seconds[ofMachine]
	a.itself(s, l, left, math.Log(body/expected)-s.machine)
}

// machineOf estimates the factor of the task's machine: from everything but the task, and of the stories that this
// leaves the one that fits r best, ln of the task's body over its prediction.
func (a *Attributor) machineOf(s *split, i int, r float64) {
	b := &a.bench
	k := b.local.of[i]
	if k < 0 { // unknown: taken for a usual one
		s.machine = a.usual
		return
	}
	mean, known := a.prior.mean[k], a.prior.sd[k]*a.prior.sd[k]
	p := phasePrior
	if mean == 0 { // nothing but this phase speaks for the machine
		p, known = a.model.usual, 0
	}
	all := b.hearsay(int32(i), known, p)
	best, doubt := b.told(&all, r-mean)
	s.told, s.toldBy, s.doubt = all[best], best, doubt
	s.machine, s.machineSD = mean+s.told.at, math.Sqrt(s.told.variance)
}

// itself splits r, what its work and its machine do not explain, between three: its machine, as far as the machine's
// factor in this phase is uncertain; scatter, as all tasks of the phase have it; and what is the attempt's own. The
// scatter is no cause but goes with the named ones in proportion, because it multiplies whatever made the task slow.
func (a *Attributor) itself(s *split, l, left, r float64) {
	sigma2, machine2 := sq(a.bench.fit.sigma), sq(s.machineSD)
	own := &a.bench.own
	mean, variance, seldom := own.posterior(r, sigma2+machine2)
	s.itself, s.seldom = r, seldom
	more := l * machine2 * ((1-seldom)*r/(sigma2+machine2) + seldom*(r-own.mean)/(sigma2+machine2+own.variance))
	s.seconds[ofMachine] += more
	left -= more
	part := l * mean
	switch { // a part of what is left is not more than it
	case part*left <= 0:
		part = 0
	case math.Abs(part) > math.Abs(left):
		part = left
	}
	s.seconds[ofItself] = part
	s.sd[ofItself] = l * math.Sqrt(variance+sigma2)
	s.spread(left - part)
	if s.cannot = a.blind(); s.cannot == "" && seldom < ordinary {
		s.cannot = "so much is ordinary scatter here"
	}
}

// spread gives scatter, which may be negative, to the causes that made the body slow, in proportion. Being among the
// first of the phase is common to many tasks that are no outliers, and no cause that the log names: where something
// particular to the task weighs half as much, it goes the same way; else it and the scatter are one, under the name of
// the larger.
func (s *split) spread(scatter float64) {
	var named [terms]float64
	var sum float64
	for k := range s.seconds {
		if k := term(k); s.standsOut(k) || k == ofItself {
			named[k] = max(0, s.seconds[k])
			sum += named[k]
		}
	}
	first := max(0, s.seconds[ofFirst])
	switch {
	case first > 0 && 2*sum >= first:
		scatter += first
		s.seconds[ofFirst] = 0
	case first > scatter && first > 0:
		s.seconds[ofFirst] += scatter
		return
	case first > 0:
		s.seconds[ofItself] += scatter + first
		s.seconds[ofFirst] = 0
		return
	}
	if sum == 0 || 4*sum < scatter { // what is named is a small part of it
		s.seconds[ofItself] += scatter
		return
	}
	for k := range named {
		s.seconds[k] += scatter * named[k] / sum
	}
}

// ordinary is the probability of being more than scatter under which nothing is called transient.
const ordinary = 0.1

// standsOut says of which causes within the body the seconds are more than their error.
func (s *split) standsOut(k term) bool {
	return (k < ofFirst || k == ofMachine) && s.seconds[k] > 2*s.sd[k]
}

// blind says why what is left of a task of this phase can not be called transient.
func (a *Attributor) blind() string {
	f := &a.bench.fit
	switch {
	case f.n < 3:
		return "too few tasks to compare with"
	case f.fate[byBytes] == absent && f.fate[byRecords] == absent && f.fate[byWritten] == absent && f.fate[byCPU] == absent:
		return "the log does not say how much work a task had"
	}
	return ""
}

// overlap takes what the body lacks from the measured parts: a task that is stopped by a collection may have been
// asleep or waiting anyway.
func (s *split) overlap() {
	lack := -s.seconds[ofItself]
	if lack <= 0 {
		return
	}
	var over float64
	for k := ofWait; k <= ofWaitForMore; k++ {
		over += max(0, s.seconds[k])
	}
	if over <= 0 {
		return
	}
	take := min(lack, over)
	for k := ofWait; k <= ofWaitForMore; k++ {
		if s.seconds[k] > 0 {
			s.seconds[k] -= take * s.seconds[k] / over
		}
	}
	s.seconds[ofItself] += take
}

// line is one cause of a split.
type line struct {
	cause   schema.Cause
	seconds float64
	sd      float64
	top     term // the largest of its terms
}

// causes sums the terms of a split by cause, largest first; ties go by the order of the terms.
func (a *Attributor) causes(s *split) []line {
	a.lines = a.lines[:0]
	for k := term(0); k < terms; k++ {
		if s.seconds[k] != 0 {
			a.add(s, k)
		}
	}
	if len(a.lines) == 0 {
		a.lines = append(a.lines, line{cause: schema.UnexplainedCause, top: ofItself})
	}
	for i := 1; i < len(a.lines); i++ {
		for j := i; j > 0 && a.lines[j].seconds > a.lines[j-1].seconds; j-- {
			a.lines[j], a.lines[j-1] = a.lines[j-1], a.lines[j]
		}
	}
	a.lines = tidy(a.lines, s.excess)
	return a.lines
}

// A cause under crumb of an excess is not worth a row, nor one under largeCrumb that may as well be nothing: the verdict
// takes it.
const crumb, largeCrumb = 0.005, 0.05

// tidy drops crumbs and gives the first line what the others leave, so that all sum to the excess.
func tidy(lines []line, excess float64) []line {
	kept := lines[:1]
	var others float64
	for _, l := range lines[1:] {
		share := math.Abs(l.seconds / excess)
		if share >= largeCrumb || share >= crumb && math.Abs(l.seconds) > 2*l.sd {
			kept = append(kept, l)
			others += l.seconds
		}
	}
	kept[0].seconds = excess - others
	for i := 1; i < len(kept) && kept[i].seconds > kept[i-1].seconds; i++ { // it may have lost its lead
		kept[i], kept[i-1] = kept[i-1], kept[i]
	}
	return kept
}

func (a *Attributor) add(s *split, k term) {
	c := causeOf[k]
	switch {
	case k == ofItself && s.cannot != "":
		c = schema.UnexplainedCause
	case k == ofRemote && a.bench.fit.fate[byAway] != absent: // where tasks have a place to run near their data
		c = schema.LocalityMiss
	}
	for i := range a.lines {
		l := &a.lines[i]
		if l.cause != c {
			continue
		}
		l.seconds += s.seconds[k]
		l.sd = math.Hypot(l.sd, s.sd[k])
		if s.seconds[k] > s.seconds[l.top] {
			l.top = k
		}
		return
	}
	a.lines = append(a.lines, line{c, s.seconds[k], s.sd[k], k})
}

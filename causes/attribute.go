package causes

import (
	"math"

	"straggler/causes/fit"
	"straggler/causes/jobcost"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/schema"
)

// Attributor splits the excess of outliers. It must not be used concurrently; several may share a Model.
type Attributor struct {
	model       *model.Model
	losses      *losses
	collections *collections

	phase        *model.PhaseFit
	comparer     machines.Comparer
	mid, partSD  [fit.Parts]float64 // medians of the measured parts, and standard deviations
	rate, rateSD float64            // median fetch wait per remote byte, and its standard deviation
	waits        waits
	pauses       pauses
	sender       slowSender
	ends         lateEnds

	firstCollectKnown bool
	// median collection time of the first tasks of the phase; NaN if there are fewer than three
	firstCollect  float64
	convertsKnown bool
	// conversion times, sorted, of the first tasks of the phase on each machine and of the others
	firstConverts, laterConverts []float64

	savings  jobcost.Savings
	lines    []line
	rows     []schema.Attribution // of the phases that are in memory
	text     []byte
	tmp      []float64
	sentence words
	query    words
	located  words
}

// NewAttributor returns an Attributor that uses the parameters of a model.
func NewAttributor(m *model.Model) *Attributor {
	return &Attributor{model: m, losses: &losses{}, collections: &collections{}, phase: m.NewPhaseFit()}
}

// Attribute appends the rows of a phase's outliers to out: for each, its causes, the verdict first.
func (a *Attributor) Attribute(p *fit.Phase, out []schema.Attribution) []schema.Attribution {
	prepared := false
	var shared jobcost.Errors
	a.savings.Begin()
	for i := range p.Tasks {
		t := &p.Tasks[i]
		if !t.Outlier() || math.IsNaN(t.Excess) || math.IsInf(t.Excess, 0) {
			continue
		}
		if !prepared {
			a.prepare(p)
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
			if place := a.locate(&s, &lines[r]); place != "" {
				row.Place = schema.Some(place)
			}
			a.text = a.evidence(a.text[:0], &s, &lines[r])
			row.Evidence = string(a.text)
			out = append(out, row)
			shared = lines[r].shared(t.Machine)
			a.savings.Add(i, len(p.Tasks), lines[r].cause, lines[r].seconds, &shared)
		}
	}
	return out
}

// prepare fits the phase with the model of all phases, and computes the medians of the measured parts and of the wait per
// remote byte.
func (a *Attributor) prepare(p *fit.Phase) {
	b := a.phase
	b.Fit(p)
	a.comparer.Reset()
	a.waits.ok, a.waits.sharedOf, a.pauses.loaded, a.sender.known, a.ends.known, a.convertsKnown, a.firstCollectKnown = false, -1, false, false, false, false, false
	for k := range b.Part {
		part := func(i int32) float64 { return b.Part[k][i] }
		a.mid[k] = b.MedianOf(part)
		a.partSD[k] = b.SDOf(part, a.mid[k]) // includes the rounding of the clock
	}
	a.rate, a.rateSD = 0, 0
	if a.mid[fit.FetchWait] > 0 {
		rate := func(i int32) float64 {
			if v := b.FetchedBytes(int(i)); v > 0 {
				return b.Part[fit.FetchWait][i] / v
			}
			return math.NaN()
		}
		a.rate = b.MedianOf(rate)
		a.rateSD = b.SDOf(rate, a.rate)
	}
}

// line is one cause of a split.
type line struct {
	cause   schema.Cause
	seconds float64
	errors  gradient // of the estimates
	model   float64  // standard deviation of the model's discrepancy
	top     term     // the largest of its terms
}

// sd returns the standard deviation of the seconds.
func (l *line) sd() float64 { return math.Sqrt(l.errors.variance() + l.model*l.model) }

// shared groups the errors of the seconds by the tasks that share them.
func (l *line) shared(machine int64) jobcost.Errors {
	e := jobcost.Errors{Machine: machine, Factor: math.Hypot(l.errors[machineSource], l.errors[cpuSource]), Discrepancy: l.model}
	copy(e.Coefficients[:], l.errors[coefficients:machineSource])
	for _, x := range l.errors[startSource:cpuSource] {
		e.Own += x * x
	}
	return e
}

// causes sums the terms of a split by cause, largest first, ties in the order of the terms.
func (a *Attributor) causes(s *split) []line {
	a.lines = a.lines[:0]
	for k := term(0); k < terms; k++ {
		if s.seconds[k] != 0 {
			a.add(s, k)
		}
	}
	if len(a.lines) == 0 {
		a.lines = append(a.lines, line{cause: schema.UnexplainedCause, top: ofResidual})
	}
	for i := 1; i < len(a.lines); i++ {
		for j := i; j > 0 && a.lines[j].seconds > a.lines[j-1].seconds; j-- {
			a.lines[j], a.lines[j-1] = a.lines[j-1], a.lines[j]
		}
	}
	a.lines = dropSmall(a.lines, s.excess)
	a.preferOwn(s)
	a.preferOwnToStart(s)
	return a.lines
}

func (a *Attributor) add(s *split, k term) {
	c := causeOf[k]
	switch {
	case k == ofResidual && s.unidentifiable != "":
		c = schema.UnexplainedCause
	case s.startOrWork && (k <= ofCPU || k == ofFirst || k == ofCold):
		c = schema.UnexplainedCause
	case k == ofRemote && a.phase.Regression.Status[fit.ByAway] != fit.Absent: // tasks had preferred locations
		c = schema.LocalityMiss
	}
	for i := range a.lines {
		l := &a.lines[i]
		if l.cause != c {
			continue
		}
		l.seconds += s.seconds[k]
		l.errors.add(&s.errors[k], 1)
		if s.seconds[k] > s.seconds[l.top] {
			l.top = k
		}
		return
	}
	a.lines = append(a.lines, line{c, s.seconds[k], s.errors[k], s.discrepancyOf(c), k})
}

// A cause below minShare of the excess gets no row, nor does one below minUncertainShare that does not differ significantly
// from 0; its seconds are added to the verdict.
const minShare, minUncertainShare = 0.005, 0.05

// dropSmall drops causes that are too small and gives the first line the remaining seconds, so that all lines sum to the
// excess.
func dropSmall(lines []line, excess float64) []line {
	kept, first := lines[:1], &lines[0]
	var others, dropped float64
	for i := 1; i < len(lines); i++ {
		l := &lines[i]
		share := math.Abs(l.seconds / excess)
		if share >= minUncertainShare || share >= minShare && l.seconds*l.seconds > 4*l.errors.variance() {
			kept = append(kept, *l)
			others += l.seconds
		} else {
			first.errors.add(&l.errors, 1)
			dropped += math.Abs(l.seconds)
		}
	}
	first.errors[droppedSource] = dropped
	kept[0].seconds = excess - others
	for i := 1; i < len(kept) && kept[i].seconds > kept[i-1].seconds; i++ { // it may no longer be the largest
		kept[i], kept[i-1] = kept[i-1], kept[i]
	}
	return kept
}

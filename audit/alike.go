package audit

import (
	"cmp"
	"math"
	"slices"
	"time"

	"straggler/audit/measure"
	"straggler/schema"
	"straggler/sharing"
	"straggler/stats"
)

// Alike describes how much the nights of a history differ, and which changes are detectable as a result.
type Alike struct {
	Nights  int      `json:"nights"`           // of the history that tonight was compared with
	RunTime *float64 `json:"run_time_scatter"` // standard deviation between nights of the run's time, as a fraction
	// the part of it that persists for several nights: drift, or spells of slower nights
	Level *float64 `json:"run_time_drift"`
	// least change of the run's time that would be a finding, as a fraction
	Seen    *float64 `json:"detectable_run_time"`
	Unusual []string `json:"unusual_nights"` // left out: runs that no night like the others explains
	// levels that changed for good; the nights before are left out for these
	Changes []Change `json:"changes"`
	// over all comparisons, each night predicted from the others, in standard errors
	Surprise *float64 `json:"largest_surprise_of_history"`
	// what the largest surprise of a normal night exceeds with a probability of 1 %
	Needed *float64 `json:"least_surprise_of_a_finding"`

	// at which runs, including tonight's, take longer than at others; null if the hour has no effect
	Hours *sharing.Hours `json:"slow_hours"`
}

// slowHours finds the hours of the day at which the runs are slow.
func slowHours(runs []*measure.Run) *sharing.Hours {
	var known []sharing.Run
	for _, r := range runs {
		t, err := time.Parse(time.RFC3339, r.Start)
		if took, ok := r.Values["time_s"]; ok && err == nil {
			x := sharing.Run{Start: schema.Time(t.UnixMicro()), TookS: took}
			if b, ok := r.Values["input_bytes"]; ok {
				x.Bytes = schema.Some(b)
			}
			known = append(known, x)
		}
	}
	if x, ok := sharing.SlowHours(known); ok {
		return &x
	}
	return nil
}

// Change is a level of the history that changed for good.
type Change struct {
	Rule  string   `json:"rule"`
	Stage string   `json:"stage,omitempty"`
	From  string   `json:"from"`   // the first run of the new level
	By    *float64 `json:"change"` // fraction
}

// resamples holds the results of leaving out each night of the history in turn.
type resamples struct {
	runs []string        // in order of time
	most []float64       // largest surprise of each over all comparisons, of those that exceed what their rules allow
	out  map[string]bool // the unusual ones, which are left out
}

// surprise returns the probability that the largest surprise of a night like the earlier ones is at least x: Westfall and Young's
// single-step maxT (1993, §2.5), with nights as the resamples. It is valid for any dependence between the comparisons of a night.
func (n *resamples) surprise(x float64) float64 { return tail(x, n.kept()) }

// mostNights is the share of normal nights that may have a finding.
const mostNights = 0.01

func (n *resamples) kept() []float64 {
	var out []float64
	for i, x := range n.most {
		if !n.out[n.runs[i]] {
			out = append(out, x)
		}
	}
	return out
}

// leaveOut predicts each night of the history from the others, after unusual nights have been dropped from the comparisons.
func leaveOut(all []comparison, history []*measure.Run) *resamples {
	learnPriors(all)
	first := resample(all, history, boundedSurprise)
	first.markUnusual()
	if len(first.out) > 0 {
		first.dropUnusual(all)
		learnPriors(all)
	}
	n := resample(all, history, math.Inf(1))
	n.out = first.out
	return n
}

// boundedSurprise bounds a surprise in the unit of a rule, in standard errors, while unusual nights are searched for: few
// normal nights exceed it, and an unusual night must not mask itself.
const boundedSurprise = 4

func resample(all []comparison, history []*measure.Run, most float64) *resamples {
	n := &resamples{most: make([]float64, len(history)), out: map[string]bool{}}
	index := map[string]int{}
	for i, h := range history {
		n.runs = append(n.runs, h.StartAndID())
		index[h.StartAndID()] = i
	}
	left, scale := make([][]float64, len(all)), map[string][]float64{}
	for i := range all {
		if c := &all[i]; c.spread.n >= 3 {
			left[i] = c.series.leftOut(c.prior)
			scale[c.rule.Name] = append(scale[c.rule.Name], left[i]...)
		}
	}
	for i := range all {
		c := &all[i]
		c.unit = unitOf(scale[c.rule.Name], most)
		for k, x := range left[i] {
			x /= c.unit
			at := index[c.runs[k]]
			if x > n.most[at] && c.wasLarge(k) && c.asTonight(k).byTasks() <= byChance {
				n.most[at] = x
			}
		}
	}
	return n
}

// unitOf returns the divisor of the surprises of a rule's series and nights: their root mean square, at least 1. This brings
// rules whose values have heavier tails, such as the ratio to the slowest task, to the scale of the others, as in Westfall and
// Young's minP. Surprises are truncated at most.
func unitOf(surprises []float64, most float64) float64 {
	sum, n := 0.0, 0.0
	for _, x := range surprises {
		if !math.IsNaN(x) {
			x = min(math.Abs(x), most)
			sum, n = sum+x*x, n+1
		}
	}
	return math.Sqrt(max(1, sum/max(1, n)))
}

// byChance is the probability that tasks which are slow by chance explain a night, above which it is no surprise: few of the
// many comparisons of a night fall below it.
const byChance = 0.01

// asTonight compares a night of the history with the other nights, as far as byTasks needs it.
func (c *comparison) asTonight(k int) *comparison {
	d := *c
	d.tonight, d.past = c.past[k], slices.Concat(c.past[:k], c.past[k+1:])
	d.series = series{slices.Concat(c.series.history[:k], c.series.history[k+1:]), c.series.history[k]}
	if c.stage != nil {
		d.stage = c.stages[k]
	}
	if d.speed = 0; len(c.speeds) > 1 {
		d.speed = (c.speeds[k] - mean(c.speeds)) * float64(len(c.speeds)) / float64(len(c.speeds)-1)
	}
	return &d
}

// markUnusual finds the outliers among the nights, such as after a disk failure or with the load of a holiday. They are no
// evidence about normal nights, and a single large one among thirty would mask smaller changes. At most a tenth of the nights
// are unusual, and their surprises are at least three times as large as that of any other night: by the tail of maxT that
// happens for a normal night in one history of eighty.
func (n *resamples) markUnusual() {
	const apart = 3
	order := make([]int, len(n.most))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(n.most[b], n.most[a]) })
	for j := len(order) / 10; j > 0; j-- {
		if n.most[order[j-1]] >= apart*max(leastSurprise, n.most[order[j]]) {
			for _, i := range order[:j] {
				n.out[n.runs[i]] = true
			}
			return
		}
	}
}

// dropUnusual drops the unusual nights from the comparisons.
func (n *resamples) dropUnusual(all []comparison) {
	for i := range all {
		all[i].keep(func(k int) bool { return !n.out[all[i].runs[k]] })
	}
}

// keep keeps some nights of a comparison.
func (c *comparison) keep(which func(k int) bool) {
	var points []point
	var runs []string
	var past []measure.Values
	var speeds []float64
	var stages []*measure.Stage
	for k := range c.runs {
		if !which(k) {
			continue
		}
		points, runs, past = append(points, c.series.history[k]), append(runs, c.runs[k]), append(past, c.past[k])
		if c.speeds != nil {
			speeds = append(speeds, c.speeds[k])
		}
		if c.stages != nil {
			stages = append(stages, c.stages[k])
		}
	}
	c.series.history, c.runs, c.past, c.speeds, c.stages = points, runs, past, speeds, stages
}

// fromChange drops the nights before the level of a comparison changed for good.
func (c *comparison) fromChange() {
	y := make([]float64, len(c.series.history))
	for i, p := range c.series.history {
		y[i] = p.y
	}
	at, by := changePoint(y)
	if at == 0 {
		return
	}
	c.changed = &Change{Rule: c.rule.Name, From: c.runs[at], By: number(math.Expm1(by))}
	if c.stage != nil {
		c.changed.Stage = c.sig.String()
	}
	c.keep(func(k int) bool { return k >= at })
}

// changePoint finds where the level of a series changed for good: the first night of the new level, and the size of the change;
// 0 if there is none. Each level lasts for at least four nights, so three bad nights are not a level. The step is at least four
// robust standard deviations within the levels, and explains more than a straight line does, so drift is not a step.
//
// It minimises the sum of absolute deviations from medians, which is robust to a few bad nights. Without a change a step is
// found in about one history of a thousand (TestChangePoint).
func changePoint(y []float64) (at int, by float64) {
	const least, step = 4, 4.0
	best := math.Inf(1)
	for k := least; k+least <= len(y); k++ {
		if s := deviation(y[:k]) + deviation(y[k:]); s < best {
			best, at = s, k
		}
	}
	if at == 0 {
		return 0, 0
	}
	before, after := stats.Median(slices.Clone(y[:at])), stats.Median(slices.Clone(y[at:]))
	by = after - before
	// The mean absolute deviation of a normal distribution is 0.80 standard deviations. The level with more scatter counts, so
	// that four nights of which one is on the other level are not a level.
	scatter := func(y []float64) float64 { return 1.25 * deviation(y) / float64(len(y)-1) }
	sd := max(leastSD, scatter(y[:at]), scatter(y[at:]))
	if math.Abs(by) < step*sd || deviation(withoutLine(y)) <= 1.5*best {
		return 0, 0
	}
	return at, by
}

// deviation returns the sum of absolute deviations from the median.
func deviation(y []float64) float64 {
	m, sum := stats.Median(slices.Clone(y)), 0.0
	for _, v := range y {
		sum += math.Abs(v - m)
	}
	return sum
}

// withoutLine subtracts the line with the median slope between nights half a history apart (Theil 1950, in the form of
// Adichie's pairs).
func withoutLine(y []float64) []float64 {
	half := len(y) / 2
	var slopes []float64
	for i := 0; i+half < len(y); i++ {
		slopes = append(slopes, (y[i+half]-y[i])/float64(half))
	}
	b := stats.Median(slopes)
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = v - b*float64(i)
	}
	return out
}

// alike builds the description of the nights.
func (n *resamples) alike(all []comparison) *Alike {
	a := &Alike{Nights: len(n.runs) - len(n.out), Unusual: []string{}, Changes: []Change{}}
	for _, r := range n.runs {
		if n.out[r] {
			a.Unusual = append(a.Unusual, r)
		}
	}
	kept := n.kept()
	if len(kept) < 2 {
		return a
	}
	a.Surprise = number(max(0, slices.Max(kept)))
	a.Needed = number(beyond(mostNights, kept))
	for i := range all {
		c := &all[i]
		if c.changed != nil {
			a.Changes = append(a.Changes, *c.changed)
		}
		if c.rule.Name == "run_time" && c.spread.n >= 2 {
			a.RunTime, a.Level = number(math.Sqrt(c.spread.s2)), number(math.Sqrt(c.spread.level))
			a.Seen = number(math.Expm1(max(c.settings.change(), *a.Needed*c.unit*c.verdict.alike)))
		}
	}
	return a
}

package sharing

import (
	"fmt"
	"math"

	"straggler/report/prose"
	"straggler/schema"
	"straggler/stats"
)

// Run is one run of a program.
type Run struct {
	Start schema.Time
	TookS float64
	Bytes schema.Null[float64] // of its input
}

// Hours is a range of hours of the day, in UTC, in which runs of a program take longer if they start there than at other hours.
type Hours struct {
	From      int64                `col:"from_hour" json:"from_hour" doc:"first hour"`
	Until     int64                `col:"until_hour" json:"until_hour" doc:"end of the last hour, at most 24; less than the first where they go beyond midnight"`
	Runs      int64                `col:"runs" json:"runs" doc:"that start then"`
	Slow      int64                `col:"slow" json:"slow" doc:"of these, those that take a fifth longer than the median of the others"`
	OtherRuns int64                `col:"other_runs" json:"other_runs" doc:"that start at other hours"`
	OtherSlow int64                `col:"other_slow" json:"other_slow" doc:"of these, those that take a fifth longer than their median"`
	TookS     float64              `col:"took_s" json:"took_s" unit:"s" doc:"median of the runs that start then"`
	UsualS    float64              `col:"usual_s" json:"usual_s" unit:"s" doc:"median of the others"`
	Work      schema.Null[float64] `col:"work_ratio" json:"-" unit:"ratio" doc:"median input of the runs that start then over that of the others"`
	Support   float64              `col:"support" json:"support" doc:"logarithm of how much likelier the slow runs are if the hour matters, less that of how many choices there were"`
}

// As in the report's list of slow runs, a run is slow if it takes a fifth more, and at least three runs are required.
const (
	longer    = 1.2
	leastRuns = 3
	hours     = 24
	mostHours = 12 // of a stretch: half of the day is the other half's
)

// SlowHours finds the range of hours whose runs are slow, by the likelihood ratio of two rates of slow runs against one, as for
// features of tasks; ok is false if none is significant. The usual time is the median of the runs outside the range, so half of
// all runs may be slow.
func SlowHours(runs []Run) (best Hours, ok bool) {
	var at [hours][]Run
	for _, r := range runs {
		h := int64(r.Start) / 3_600_000_000 % hours
		if h < 0 {
			h += hours
		}
		at[h] = append(at[h], r)
	}
	var begun []int // hours with runs
	for h := range at {
		if len(at[h]) > 0 {
			begun = append(begun, h)
		}
	}
	best.Support = math.Inf(-1)
	choices := math.Log(float64(len(begun) * max(1, min(len(begun)-1, mostHours))))
	for i, from := range begun {
		var in []Run
		for n := range len(begun) - 1 {
			h := begun[(i+n)%len(begun)]
			if (h-from+hours)%hours >= mostHours {
				break
			}
			in = append(in, at[h]...)
			var out []Run
			for m := n + 1; m < len(begun); m++ {
				out = append(out, at[begun[(i+m)%len(begun)]]...)
			}
			if x := compareRuns(in, out); x.Support-choices > best.Support {
				x.From, x.Until, x.Support = int64(from), int64(h+1), x.Support-choices
				best = x
			}
		}
	}
	return best, best.Support >= clearly
}

// compareRuns compares the runs of a range with the others; the support is -∞ if they are too few, or not slower.
func compareRuns(in, out []Run) Hours {
	x := Hours{Runs: int64(len(in)), OtherRuns: int64(len(out)), Support: math.Inf(-1)}
	if len(in) < leastRuns || len(out) < leastRuns {
		return x
	}
	took := func(r Run) schema.Null[float64] { return schema.Some(r.TookS) }
	x.TookS, x.UsualS = middle(in, took).V, middle(out, took).V
	slow := func(runs []Run) (n int64) {
		for _, r := range runs {
			if r.TookS > longer*x.UsualS {
				n++
			}
		}
		return n
	}
	x.Slow, x.OtherSlow = slow(in), slow(out)
	a, b := count{float64(x.Runs), float64(x.Slow)}, count{float64(x.OtherRuns), float64(x.OtherSlow)}
	if x.TookS <= longer*x.UsualS || b.slow*a.tasks > spared*a.slow*b.tasks {
		return x
	}
	all := a
	all.add(b)
	x.Support = a.likelihood() + b.likelihood() - all.likelihood()
	bytes := func(r Run) schema.Null[float64] { return r.Bytes }
	if then, others := middle(in, bytes), middle(out, bytes); then.OK && others.V > 0 {
		x.Work = schema.Some(then.V / others.V)
	}
	return x
}

// middle returns the median of what is known.
func middle(runs []Run, of func(Run) schema.Null[float64]) schema.Null[float64] {
	var v []float64
	for _, r := range runs {
		if x := of(r); x.OK {
			v = append(v, x.V)
		}
	}
	if len(v) == 0 {
		return schema.Null[float64]{}
	}
	return schema.Some(stats.Median(v))
}

// Words describes which runs are slow.
func (x *Hours) Words() string {
	s := fmt.Sprintf("Runs that start between %02d:00 and %02d:00 UTC take %s, %s those that start at other hours: %s of %s are a fifth longer than the others’ median, of the others %s of %s",
		x.From, x.Until, prose.Seconds(x.TookS), prose.Times(x.TookS/x.UsualS), prose.Count(x.Slow), prose.Count(x.Runs),
		prose.Count(x.OtherSlow), prose.Count(x.OtherRuns))
	switch {
	case !x.Work.OK:
	case x.Work.V > 1.1:
		s += "; their input is " + prose.Times(x.Work.V) + " that of the others"
	default:
		s += "; their input is no larger"
	}
	return s + "."
}

package machines

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"straggler/schema"
	"straggler/stats"
)

// Health holds the parameters for judging all machines window by window.
type Health struct {
	Factors            *Factors
	FalseDiscoveryRate float64 // allowed share of false alarms among the machines called slow
	OutlierProbability float64 // of attempts that are slow by themselves
	Outliers           map[Window]int64
	Losses             map[Window]int64
}

// verdict is one window of one machine.
type verdict struct {
	key       Window
	stats     SufficientStats
	mean, v   float64 // ln(factor), shrunk, and its variance
	q         float64
	tried     bool // observed by enough phases to be judged
	slow      bool
	partly    bool // slow in some of its phases, but on average like its generation
	rate      schema.Null[float64]
	predicted schema.Null[float64]
	course    schema.Null[string]
	windows   int // of its machine that were judged
	slowIn    int // of those
}

// Rows judges every window of every machine.
func (j *Health) Rows() []schema.MachineHealth {
	vs := j.windows()
	j.control(vs)
	for from := 0; from < len(vs); {
		to := from
		for to < len(vs) && vs[to].key.Machine == vs[from].key.Machine {
			to++
		}
		follow(vs[from:to])
		from = to
	}
	rows := make([]schema.MachineHealth, len(vs))
	for i := range vs {
		rows[i] = j.row(&vs[i])
	}
	return rows
}

// windows lists the observed windows by machine and time.
func (j *Health) windows() []verdict {
	vs := make([]verdict, 0, len(j.Factors.Windows))
	for _, k := range SortedWindows(j.Factors.Windows) {
		t := j.Factors.Windows[k]
		v := verdict{key: k, stats: *t}
		z, variance, _ := t.Spread()
		v.mean, v.v, _ = j.Factors.Population.Posterior(z, variance)
		v.tried = t.Phases >= leastPhases
		if t.Attempts > 0 {
			v.rate = schema.Some(float64(j.Outliers[k]) / float64(t.Attempts))
		}
		vs = append(vs, v)
	}
	return vs
}

// control finds the windows in which a machine is slow, with a false discovery rate of at most fdr (Benjamini and Hochberg
// 1995). Each window is tested, one-sided, against its machine's generation.
//
// Each gets two tests, of which the smaller p is doubled: one of the mean without the largest observations, and one of the
// number of phases in which the machine is slow, which also finds machines that are slow in some stages only.
func (j *Health) control(vs []verdict) {
	var order []int
	p := make([]float64, len(vs))
	for i := range vs {
		if !vs[i].tried {
			continue
		}
		base := j.Factors.base[vs[i].key.Machine]
		z, v := vs[i].stats.trimmed()
		mean := stats.NormalSurvival((z - base - math.Log(tolerance)) / math.Sqrt(v))
		p[i] = min(1, 2*min(mean, vs[i].stats.overPValue(base, j.OutlierProbability)))
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	q := 1.0
	for rank := len(order); rank > 0; rank-- {
		i := order[rank-1]
		q = min(q, p[i]*float64(len(order))/float64(rank))
		vs[i].q = q
		base := j.Factors.base[vs[i].key.Machine]
		vs[i].slow = q <= j.FalseDiscoveryRate && vs[i].stats.worthNaming(base)
		vs[i].partly = vs[i].slow && vs[i].mean-base < math.Log(worthNaming) && 3*vs[i].stats.Over[barOver(base)] < 2*vs[i].stats.Phases
	}
}

// follow describes one machine over time: how often it was slow, whether it still is, and what to expect next.
func follow(vs []verdict) {
	var tried, slow, throughout, since int
	var sum, n float64
	for i := range vs {
		if vs[i].rate.OK {
			sum += vs[i].rate.V
			n++
			vs[i].predicted = schema.Some((vs[i].rate.V + sum/n) / 2)
		}
		if !vs[i].tried {
			continue
		}
		tried++
		since++
		if vs[i].slow {
			slow++
			since = 0
			if !vs[i].partly {
				throughout++
			}
		}
	}
	if slow == 0 {
		return
	}
	course := "intermittent"
	switch {
	case since >= 2 && 3*since >= tried: // normal for the last third of the time
		course = "recovered"
	case 3*throughout >= 2*tried:
		course = "chronic"
	}
	for i := range vs {
		vs[i].course, vs[i].windows, vs[i].slowIn = schema.Some(course), tried, slow
	}
}

func (j *Health) row(v *verdict) schema.MachineHealth {
	w := schema.Time(j.Factors.WindowS * 1e6)
	r := schema.MachineHealth{
		Machine: j.Factors.Name(v.key.Machine), WindowStart: schema.Time(v.key.Number) * w, WindowEnd: schema.Time(v.key.Number+1) * w,
		Attempts: v.stats.Attempts, Phases: v.stats.Phases, OutlierRate: v.rate, Losses: j.Losses[v.key],
		Verdict: schema.UnknownVerdict, Course: v.course, Predicted: v.predicted,
		Generation: schema.Some(math.Exp(j.Factors.base[v.key.Machine])),
	}
	if v.stats.Phases > 0 {
		sd := math.Sqrt(v.v)
		r.Factor = schema.Some(math.Exp(v.mean))
		r.FactorLow, r.FactorHigh = schema.Some(math.Exp(v.mean-1.96*sd)), schema.Some(math.Exp(v.mean+1.96*sd))
	}
	if v.tried {
		r.QValue = schema.Some(v.q)
	}
	switch {
	case v.slow && v.course.V == "chronic":
		r.Verdict = schema.Slow
	case v.slow:
		r.Verdict = schema.Flaky
	case v.tried:
		r.Verdict = schema.Healthy
	}
	if note := j.note(v, &r); note != "" {
		r.Note = schema.Some(note)
	}
	return r
}

// note explains the verdict where the factor and its interval do not.
func (j *Health) note(v *verdict, r *schema.MachineHealth) string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	base := j.Factors.base[v.key.Machine]
	switch {
	case !v.tried:
		add("fewer than %d phases to judge it by", leastPhases)
	case v.slow && math.Log(r.FactorLow.V) <= base: // by the number of phases, not by the mean
		add("slow in %d of its %d phases and like the others in the rest; the interval is that of the mean", v.stats.Over[barOver(base)], v.stats.Phases)
	}
	if n, slower, ok := j.Factors.Slower(v.key.Machine); ok && !v.slow && slower >= worthNaming && 2*n < len(j.Factors.of) {
		add("one of %d machines that take %.2f times as long as the fastest: because of their hardware, or because all of them are bad; their speed does not show which", n, slower)
	}
	if v.course.OK && v.windows > 1 {
		add("%s: slow in %d of the %d windows that were judged", v.course.V, v.slowIn, v.windows)
	}
	if v.slow {
		if name, slow, of, ok := j.Factors.SlowRack(v.key.Machine); ok {
			add("so are %d of the %d other machines of rack %s", slow, of, name)
		}
	}
	if r.Losses > 0 {
		add("%d outputs were lost on it", r.Losses)
	}
	return strings.Join(notes, "; ")
}

package causes

import (
	"cmp"
	"math"
	"slices"

	"straggler/schema"
)

// judgement is all machines by window, with the share of false alarms among the slow ones that it allows.
type judgement struct {
	model  *Model
	fdr    float64
	slow   map[machineWindow]int64 // outliers
	losses map[machineWindow]int64
}

// verdict is one window of one machine.
type verdict struct {
	key       machineWindow
	heard     testimony
	mean, v   float64 // ln(factor), shrunk, and its variance
	q         float64
	tried     bool // enough phases to be judged
	slow      bool
	rate      schema.Null[float64]
	predicted schema.Null[float64]
	course    schema.Null[string]
	windows   int // of its machine that were judged
	slowIn    int // of those
}

// rows judges every window of every machine.
func (j *judgement) rows() []schema.MachineHealth {
	vs := j.windows()
	j.control(vs)
	for from := 0; from < len(vs); {
		to := from
		for to < len(vs) && vs[to].key.machine == vs[from].key.machine {
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

// windows lists what was heard, by machine and time.
func (j *judgement) windows() []verdict {
	vs := make([]verdict, 0, len(j.model.windows))
	for k, t := range j.model.windows {
		v := verdict{key: k, heard: *t}
		z, variance, _ := t.spread()
		v.mean, v.v, _ = j.model.usual.posterior(z, variance)
		v.tried = t.phases >= leastPhases
		if t.attempts > 0 {
			v.rate = schema.Some(float64(j.slow[k]) / float64(t.attempts))
		}
		vs = append(vs, v)
	}
	slices.SortFunc(vs, func(a, b verdict) int {
		if c := cmp.Compare(a.key.machine, b.key.machine); c != 0 {
			return c
		}
		return cmp.Compare(a.key.window, b.key.window)
	})
	return vs
}

// control finds the windows in which a machine is slow so that at most a share fdr of them is expected to be wrong
// (Benjamini and Hochberg 1995). Each window is tested, one-sided, against its machine's generation.
//
// Two tests are made of each, and the smaller p counts twice: one of the mean without the loudest phases, and one of the number of phases that
// speak against it, which also finds machines that are slow in some stages only.
func (j *judgement) control(vs []verdict) {
	var order []int
	p := make([]float64, len(vs))
	for i := range vs {
		if !vs[i].tried {
			continue
		}
		base := j.model.generations.base[vs[i].key.machine]
		z, v := vs[i].heard.trimmed()
		mean := 0.5 * math.Erfc((z-base-math.Log(tolerance))/math.Sqrt(2*v))
		p[i] = min(1, 2*min(mean, vs[i].heard.votes(base, j.model.own.share)))
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	q := 1.0
	for rank := len(order); rank > 0; rank-- {
		i := order[rank-1]
		q = min(q, p[i]*float64(len(order))/float64(rank))
		vs[i].q = q
		vs[i].slow = q <= j.fdr && vs[i].heard.worth(j.model.generations.base[vs[i].key.machine])
	}
}

// votes is the probability that so many phases, or more, speak against a machine of a generation by chance. A phase
// does so at 99 %, and where tasks which are slow by themselves fell on the machine, of which there is the given share.
func (t *testimony) votes(base, slowShare float64) float64 {
	chance := 0.01 + min(0.2, 1.5*slowShare)
	if t.attempts >= 3*t.phases { // it takes two of three for their median to be slow
		chance = 0.01 + 4*sq(slowShare)
	}
	return atLeast(t.over[barOver(base)], t.phases, chance)
}

// barOver is the bar that a phase must be over to speak against a machine of a generation: the first that is worth naming.
func barOver(base float64) int {
	for k := range bars {
		if bars[k] >= base+math.Log(worthNaming) {
			return k
		}
	}
	return len(bars) - 1
}

// atLeast is the probability of k or more successes in n trials.
func atLeast(k, n int64, p float64) float64 {
	if k <= 0 {
		return 1
	}
	lg := func(x int64) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	var sum float64
	for i := k; i <= n; i++ {
		x := math.Exp(lg(n) - lg(i) - lg(n-i) + float64(i)*math.Log(p) + float64(n-i)*math.Log(1-p))
		if sum += x; x < 1e-12*sum {
			break
		}
	}
	return min(1, sum)
}

// worth reports whether a machine is slow enough to be named: in the mean, or in a quarter of the phases.
func (t *testimony) worth(base float64) bool {
	z, _, _ := t.spread()
	if z-base >= math.Log(worthNaming) {
		return true
	}
	return 4*t.over[barOver(base)] >= t.phases
}

// follow looks at one machine over time: how often it was slow, whether it still is, and what to expect next.
func follow(vs []verdict) {
	var tried, slow, since int
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
		}
	}
	if slow == 0 {
		return
	}
	course := "intermittent"
	switch {
	case since >= 2 && 3*since >= tried: // fine for a third of the time, at the end
		course = "recovered"
	case 3*slow >= 2*tried:
		course = "chronic"
	}
	for i := range vs {
		vs[i].course, vs[i].windows, vs[i].slowIn = schema.Some(course), tried, slow
	}
}

func (j *judgement) row(v *verdict) schema.MachineHealth {
	w := schema.Time(j.model.windowS * 1e6)
	r := schema.MachineHealth{
		Machine: j.model.name(v.key.machine), WindowStart: schema.Time(v.key.window) * w, WindowEnd: schema.Time(v.key.window+1) * w,
		Attempts: v.heard.attempts, Phases: v.heard.phases, OutlierRate: v.rate, Losses: j.losses[v.key],
		Verdict: schema.UnknownVerdict, Course: v.course, Predicted: v.predicted,
		Generation: schema.Some(math.Exp(j.model.generations.base[v.key.machine])),
	}
	if v.heard.phases > 0 {
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
	case v.slow || r.Losses > 0:
		r.Verdict = schema.Flaky
	case v.tried:
		r.Verdict = schema.Healthy
	}
	if note := j.note(v, &r); note != "" {
		r.Note = schema.Some(note)
	}
	return r
}

// note says why the verdict is what the factor and its interval alone do not say.
func (j *judgement) note(v *verdict, r *schema.MachineHealth) string {
	var w words
	next := func() *words {
		if len(w) > 0 {
			w.say("; ")
		}
		return &w
	}
	base := j.model.generations.base[v.key.machine]
	switch {
	case !v.tried:
		next().say("fewer than ").int(leastPhases).say(" phases speak for it")
	case v.slow && math.Log(r.FactorLow.V) <= base: // by votes: the mean alone would not say so
		next().say("slow in ").int(v.heard.over[barOver(base)]).say(" of its ").int(v.heard.phases).say(" phases, as the others in the rest: the interval is of the mean")
	}
	if n, slower, ok := j.model.slower(v.key.machine); ok && !v.slow && slower >= worthNaming && 2*n < len(j.model.generations.of) {
		next().say("one of ").int(int64(n)).say(" machines that take ").fixed(slower, 2).say(" times as long as the fastest: by their hardware, or all of them are bad, which their speed can not tell")
	}
	if v.course.OK && v.windows > 1 {
		next().say(v.course.V).say(": slow in ").int(int64(v.slowIn)).say(" of the ").int(int64(v.windows)).say(" windows that were judged")
	}
	if v.slow {
		if name, slow, of, ok := j.model.slowRack(v.key.machine); ok {
			next().say("so are ").int(int64(slow)).say(" of the ").int(int64(of)).say(" other machines of rack ").say(name)
		}
	}
	if r.Losses > 0 {
		next().int(r.Losses).say(" outputs were lost on it")
	}
	return string(w)
}

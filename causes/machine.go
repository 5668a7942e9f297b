package causes

import (
	"math"

	"straggler/schema"
)

// How machines differ, as priors of ln(factor). Most are alike to a few per cent; one in twenty is anything, by a
// factor of e^±0.6 and more. A machine changes from one window of time to the next, or is slow in one phase alone (a
// disk, a cache), more seldom still.
var (
	machinePrior = twoGroup{spike: 0.03 * 0.03, slab: 0.6 * 0.6, slabShare: 0.05}
	windowPrior  = twoGroup{spike: 0.03 * 0.03, slab: 0.6 * 0.6, slabShare: 0.03}
	phasePrior   = twoGroup{spike: 0.04 * 0.04, slab: 0.7 * 0.7, slabShare: 0.01}
)

const betweenPhases = 0.05 * 0.05 // variance of a machine's ln(factor) from phase to phase

// evidence about a machine: weighted sums of what its phases say about ln(factor).
type testimony struct {
	w, wz, wzz float64
	phases     int64
	attempts   int64
	over       [len(bars)]int64 // phases that say, with 99 % certainty, that it takes more than a bar
	top        [3]utterance     // what speaks most against it, the worst first
}

// utterance is what one phase said: ln(factor) and its weight.
type utterance struct{ z, w float64 }

// bars are the factors, as logarithms, that phases are counted over.
var bars = [...]float64{math.Log(1.1), math.Log(1.25), math.Log(1.5), math.Log(2), math.Log(3)}

const oneSided99 = 2.326 // standard deviations

func (t *testimony) add(z, v float64, n int) {
	w := 1 / (v + betweenPhases)
	t.w += w
	t.wz += w * z
	t.wzz += w * z * z
	t.hearTop(utterance{z, w})
	t.phases++
	t.attempts += int64(n)
	least := z - oneSided99*math.Sqrt(v+betweenPhases)
	for k := range bars {
		if least > bars[k] {
			t.over[k]++
		}
	}
}

// hearTop keeps the worst three.
func (t *testimony) hearTop(u utterance) {
	for k := range t.top {
		if u.w > 0 && (t.top[k].w == 0 || u.z > t.top[k].z) {
			t.top[k], u = u, t.top[k]
		}
	}
}

// trimmed is the mean without the phases that speak most against the machine, one of three to seven, two of up to
// eleven, three of more: attempts slow by themselves that happened to gather on it make a few phases speak loudly,
// far more often than a normal distribution of errors has it.
func (t *testimony) trimmed() (z, v float64) {
	_, v, _ = t.spread()
	w, wz := t.w, t.wz
	k := min(len(t.top), max(1, int(t.phases)/4))
	for _, u := range t.top[:k] {
		w, wz = w-u.w, wz-u.w*u.z
	}
	if !(w > 0) {
		return 0, math.Inf(1)
	}
	return wz / w, v * t.w / w
}

// minus takes u out of t; what spoke most against the machine is not told any more.
func (t testimony) minus(u testimony) testimony {
	d := testimony{w: t.w - u.w, wz: t.wz - u.wz, wzz: t.wzz - u.wzz, phases: t.phases - u.phases, attempts: t.attempts - u.attempts}
	for k := range bars {
		d.over[k] = t.over[k] - u.over[k]
	}
	return d
}

// mean and variance of the weighted mean; without phases it is 0 ± ∞.
func (t *testimony) mean() (z, v float64) {
	if t.phases <= 0 || t.w <= 0 {
		return 0, math.Inf(1)
	}
	return t.wz / t.w, 1 / t.w
}

// gather puts the residuals of the tasks on a machine into tmp, but for one task: of the successful ones, and of those
// that were cut short if they had already lasted longer than the successful ones usually do. Where copies are raced
// against slow tasks, the slowest tasks of a slow machine never succeed.
func (b *bench) gather(k, except int32) {
	b.tmp = b.tmp[:0]
	short := false
	for _, i := range b.local.tasks(k) {
		if j := b.rowOf[i]; j >= 0 && i != except {
			b.tmp = append(b.tmp, b.r[j])
		}
		short = short || b.tasks[i].Cut
	}
	if !short {
		return
	}
	usual := 0.0
	if len(b.tmp) > 0 {
		usual = median(b.tmp)
	}
	for _, i := range b.local.tasks(k) {
		if i == except || !b.tasks[i].Cut {
			continue
		}
		if r := b.cutResidual(int(i)); r > usual {
			b.tmp = append(b.tmp, r)
		}
	}
}

// cutResidual is the least that the residual of an attempt that was cut short would have been; -∞ where it can not be
// told, because the log does not say how long it waited and others waited.
func (b *bench) cutResidual(i int) float64 {
	t := &b.tasks[i]
	if math.IsNaN(t.Wait) && b.waitKnown() || b.body[i] <= 0 || len(b.rows) == 0 {
		return math.Inf(-1)
	}
	var x [predictors]float64
	for k := range x {
		x[k] = b.x[k][i]
	}
	return math.Log(b.body[i] / (b.fit.predict(&x) * b.factor(int32(i))))
}

// summary is what the tasks of one phase say about a machine: the robust mean of their residuals and its variance.
func (b *bench) summary(k int32) (z, v float64, n int) {
	b.gather(k, -1)
	n = len(b.tmp)
	if n == 0 {
		return 0, 0, 0
	}
	z = center(b.tmp, b.fit.sigma)
	return z, b.fit.sigma*b.fit.sigma/float64(n) + b.own.spoiled(n), n
}

// center is a robust mean of residuals with a known scatter: one Huber step from the median. It reorders r.
func center(r []float64, sigma float64) float64 {
	m := median(r)
	var w, wr float64
	for _, x := range r {
		h := huber((x - m) / sigma)
		w += h
		wr += h * x
	}
	return wr / w
}

type machineWindow struct {
	machine int64
	window  int64
}

// spread is the mean of what was heard, and its variance: the larger of what the phases' own errors let expect and of
// what the phases' differences say. differ is how much a single phase differs from the mean, beyond its errors.
func (t *testimony) spread() (z, v, differ float64) {
	z, v = t.mean()
	if t.phases >= leastPhases {
		seen := max(0, t.wzz/t.w-z*z)
		differ = max(0, seen-float64(t.phases)/t.w+betweenPhases)
		v = max(v, seen/float64(t.phases-1))
	}
	return z, v, differ
}

// prior is what is known of a machine's ln(factor) in a window before one phase, own, is heard. The variance is that
// of the machine's factor in one phase.
func (m *Model) prior(machine, window int64, own testimony) (mean, variance float64) {
	if machine < 0 || machine >= int64(len(m.machines)) {
		return 0, m.usual.spike
	}
	here := m.heardIn(machine, window)
	elsewhere := m.machines[machine].minus(here)
	here = here.minus(own)
	p := m.usual
	variance = m.usual.spike
	if elsewhere.phases > 0 {
		z, v, differ := elsewhere.spread()
		mean, variance, _ = p.posterior(z, v)
		variance += differ
		p = windowPrior
	}
	if here.phases > 0 {
		z, v, differ := here.spread()
		d, dv, _ := p.posterior(z-mean, v)
		return mean + d, dv + differ
	}
	return mean, variance
}

// heardIn is what was heard of a machine in a window of time.
func (m *Model) heardIn(machine, window int64) testimony {
	if t := m.windows[machineWindow{machine, window}]; t != nil {
		return *t
	}
	return testimony{}
}

// window is the window of time that a task started in.
func (m *Model) window(t *Task) int64 {
	if !t.Start.OK {
		return 0
	}
	return m.windowAt(t.Start.V)
}

func (m *Model) windowAt(t schema.Time) int64 {
	w := schema.Time(m.windowS * 1e6)
	if w <= 0 {
		return 0
	}
	n := int64(t / w)
	if t < 0 && t%w != 0 {
		n--
	}
	return n
}

// name is the name of a machine by its number.
func (m *Model) name(machine int64) string {
	if machine < 0 || machine >= int64(len(m.names)) {
		return ""
	}
	return m.names[machine]
}

package fit

import (
	"cmp"
	"math"
	"slices"

	"straggler/causes/stats"
	"straggler/schema"
)

// MachineMean is what the tasks of the phase say about a machine, by its local number: the robust mean of their residuals
// and its variance; n is how many they are.
func (f *Fitter) MachineMean(k int32) (z, v float64, n int) {
	r := f.MachineResiduals(k, -1)
	if n = len(r); n == 0 {
		return 0, 0, 0
	}
	s2 := f.Regression.Sigma * f.Regression.Sigma
	return stats.HuberMean(r, f.Regression.Sigma), s2/float64(n) + f.Outliers.meanVariance(n), n
}

// MachineResiduals gives the residuals of the tasks on a machine, but for one task: of the successful ones, and of those
// that were cut short if they had already lasted longer than the successful ones usually do. Where copies are raced
// against slow tasks, the slowest tasks of a slow machine never succeed. Cold tasks say how long their executor took to warm
// up, and nothing about its machine. The slice is valid until the next call of a method.
func (f *Fitter) MachineResiduals(k, except int32) []float64 {
	f.tmp = f.tmp[:0]
	short := false
	for _, i := range f.Machines.Tasks(k) {
		if j := f.row[i]; j >= 0 && i != except && !f.Cold(i) {
			f.tmp = append(f.tmp, f.residual[j])
		}
		short = short || f.Tasks[i].Cut
	}
	if !short {
		return f.tmp
	}
	usual := 0.0
	if len(f.tmp) > 0 {
		usual = stats.Median(f.tmp)
	}
	for _, i := range f.Machines.Tasks(k) {
		if i == except || !f.Tasks[i].Cut || f.Cold(i) {
			continue
		}
		if r := f.cutResidual(int(i)); r > usual {
			f.tmp = append(f.tmp, r)
		}
	}
	return f.tmp
}

// cutResidual is the least that the residual of an attempt that was cut short would have been; -∞ where it cannot be
// known, because the log does not say how long it waited and others waited.
func (f *Fitter) cutResidual(i int) float64 {
	t := &f.Tasks[i]
	if math.IsNaN(t.Wait) && f.WaitKnown() || f.Body[i] <= 0 || len(f.Rows) == 0 {
		return math.Inf(-1)
	}
	var x [Predictors]float64
	for k := range x {
		x[k] = f.X[k][i]
	}
	return math.Log(f.Body[i] / (f.Regression.Predict(&x) * f.factor(int32(i))))
}

// Spans is how many sets of tasks on a machine count as those of a time: those that ran beside a task; they and the nearest one that
// started before it, or two, or three; they and the nearest that started after it. A spell in which a machine is slow begins, and
// ends, at a time that nobody knows.
const Spans = 1 + 2*nearest

// nearest is how many tasks before, or after, count as near: with one beside it, three may agree.
const nearest = 3

// ResidualsNear gives, for each span, the residuals of the tasks that ran on the machine of task i at the same time, for half of the
// shorter one's duration or more, and of the nearest before or after it that no gap of its duration parts from it: at most 64,
// those that started nearest to it. Spans for which there are no such tasks are left out. A slice is valid until the next one.
func (f *Fitter) ResidualsNear(i int32, each func(span int, residuals []float64)) {
	t := &f.Tasks[i]
	if !t.Start.OK || math.IsNaN(t.Duration) {
		return
	}
	order := f.byStart(f.Machines.Of[i])
	at, _ := slices.BinarySearchFunc(order, t.Start.V, func(j int32, v schema.Time) int { return cmp.Compare(f.Tasks[j].Start.V, v) })
	const most = 32
	end := t.Start.V.Add(t.Duration)
	overlap := func(j int32) (seconds float64, beside, usable bool) {
		o := &f.Tasks[j]
		from, to := max(o.Start.V, t.Start.V), min(o.Start.V.Add(o.Duration), end)
		seconds = to.Sub(from)
		return seconds, seconds >= 0.5*min(o.Duration, t.Duration), j != i && f.row[j] >= 0 && !f.Cold(j)
	}
	f.beside = f.beside[:0]
	for _, j := range order[max(0, at-most):min(len(order), at+most)] {
		if _, beside, usable := overlap(j); usable && beside {
			f.beside = append(f.beside, f.residual[f.row[j]])
		}
	}
	tell := func(span int) {
		f.tmp = append(f.tmp[:0], f.beside...) // who is told may reorder them
		each(span, f.tmp)
	}
	tell(0)
	n := len(f.beside)
	for side := range 2 {
		f.beside = f.beside[:n]
		for d := 0; d < most && len(f.beside) < n+nearest; d++ {
			k := at + d
			if side == 0 {
				k = at - 1 - d
			}
			if k < 0 || k >= len(order) {
				break
			}
			if seconds, beside, usable := overlap(order[k]); usable && !beside && -seconds <= t.Duration {
				f.beside = append(f.beside, f.residual[f.row[order[k]]])
				tell(side*nearest + len(f.beside) - n)
			}
		}
	}
}

// Meanwhile finds the task on machine k that ran for most of the first seconds of task i, and for half of them at least.
func (f *Fitter) Meanwhile(i, k int32, seconds float64) (j int32, ok bool) {
	t := &f.Tasks[i]
	if !t.Start.OK || !(seconds > 0) {
		return 0, false
	}
	order := f.byStart(k)
	at, _ := slices.BinarySearchFunc(order, t.Start.V, func(j int32, v schema.Time) int { return cmp.Compare(f.Tasks[j].Start.V, v) })
	const most = 32
	until := t.Start.V.Add(seconds)
	longest := 0.5 * seconds
	for _, o := range order[max(0, at-most):min(len(order), at+most)] {
		from, to := max(f.Tasks[o].Start.V, t.Start.V), min(f.Tasks[o].Start.V.Add(f.Tasks[o].Duration), until)
		if beside := to.Sub(from); o != i && f.row[o] >= 0 && (beside > longest || beside == longest && !ok) {
			j, longest, ok = o, beside, true
		}
	}
	return j, ok
}

// Cold reports whether task i is among the first on its executor, in a phase where most tasks are not.
func (f *Fitter) Cold(i int32) bool { return f.coldFew && f.Tasks[i].Cold }

// ColdResiduals gives the residuals of the cold tasks on a machine, but for one task. The slice is valid until the next call of a method.
func (f *Fitter) ColdResiduals(k, except int32) []float64 {
	f.tmp = f.tmp[:0]
	for _, j := range f.Machines.Tasks(k) {
		if j != except && f.row[j] >= 0 && f.Cold(j) {
			f.tmp = append(f.tmp, f.residual[f.row[j]])
		}
	}
	return f.tmp
}

// byStart lists the tasks on a machine in order of their start, those without one left out.
func (f *Fitter) byStart(k int32) []int32 {
	for len(f.started) < len(f.Machines.Numbers) {
		f.started = append(f.started, nil)
	}
	if len(f.started[k]) > 0 {
		return f.started[k]
	}
	order := f.started[k][:0]
	for _, j := range f.Machines.Tasks(k) {
		if f.Tasks[j].Start.OK && !math.IsNaN(f.Tasks[j].Duration) {
			order = append(order, j)
		}
	}
	slices.SortFunc(order, func(x, y int32) int {
		return cmp.Or(cmp.Compare(f.Tasks[x].Start.V, f.Tasks[y].Start.V), cmp.Compare(x, y))
	})
	f.started[k] = order
	return order
}

// Succeeded reports whether task i is one that the phase is fitted on.
func (f *Fitter) Succeeded(i int32) bool { return f.row[i] >= 0 }

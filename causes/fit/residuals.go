package fit

import (
	"cmp"
	"math"
	"slices"

	"straggler/schema"
	"straggler/stats"
)

// MachineMean returns the robust mean of the residuals of the tasks on a machine, given by its local number, with its variance; n
// is the number of tasks.
func (f *Fitter) MachineMean(k int32) (z, v float64, n int) {
	r := f.MachineResiduals(k, -1)
	if n = len(r); n == 0 {
		return 0, 0, 0
	}
	s2 := f.Regression.Sigma * f.Regression.Sigma
	return stats.HuberMean(r, f.Regression.Sigma), s2/float64(n) + f.Outliers.meanVariance(n), n
}

// MachineResiduals returns the residuals of the tasks on a machine, except one task: of successful attempts, and of attempts
// cut short that had already lasted longer than successful ones usually do, because under speculation the slowest tasks of a
// slow machine never succeed. Cold tasks are omitted: they show how long the executor took to warm up, and nothing about its
// machine. The slice is valid until the next call of a method.
func (f *Fitter) MachineResiduals(k, except int32) []float64 {
	f.tmp = f.tmp[:0]
	short := false
	for _, i := range f.Machines.Tasks(k) {
		if i != except && f.CountsForMachine(i) {
			f.tmp = append(f.tmp, f.residual[f.row[i]])
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

// cutResidual returns a lower bound of the residual of an attempt that was cut short; -∞ if the log does not record how long it
// waited, and others waited.
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

// Near is another task on the machine of a task, in units of that task's duration from its start.
type Near struct {
	From, Until, Residual float64
	Variance              float64 // of the residual, if the task is ordinary
}

// TasksNear returns the fitted tasks that ran on the machine of task i at the same time, or within twice its duration before or
// after: at most 64, those that started nearest to it, in the order of their start, without cold ones. The slice is valid until
// the next call.
func (f *Fitter) TasksNear(i int32) []Near {
	t := &f.Tasks[i]
	f.near = f.near[:0]
	if !t.Start.OK || !(t.Duration > 0) {
		return nil
	}
	order := f.byStart(f.Machines.Of[i])
	at := firstFrom(order, t.Start.V)
	const most = 32
	near := order[max(0, at-most):min(len(order), at+most)]
	for k := range near {
		o := &near[k]
		if o.task == i || f.row[o.task] < 0 || f.Cold(o.task) {
			continue
		}
		n := Near{o.start.Sub(t.Start.V) / t.Duration, o.end.Sub(t.Start.V) / t.Duration, f.residual[f.row[o.task]], f.Variance(o.task)}
		if n.Until > -2 && n.From < 3 && n.Until > n.From {
			f.near = append(f.near, n)
		}
	}
	return f.near
}

// ConcurrentTask finds the task on machine k that ran for most of the first seconds of task i, at least half of them.
func (f *Fitter) ConcurrentTask(i, k int32, seconds float64) (j int32, ok bool) {
	t := &f.Tasks[i]
	if !t.Start.OK || !(seconds > 0) {
		return 0, false
	}
	order := f.byStart(k)
	at := firstFrom(order, t.Start.V)
	const most = 32
	until := t.Start.V.Add(seconds)
	longest := 0.5 * seconds
	near := order[max(0, at-most):min(len(order), at+most)]
	for k := range near {
		o := &near[k]
		if o.start >= until {
			break
		}
		beside := min(o.end, until).Sub(max(o.start, t.Start.V))
		if (beside > longest || beside == longest && !ok) && o.task != i && f.row[o.task] >= 0 {
			j, longest, ok = o.task, beside, true
		}
	}
	return j, ok
}

// CountsForMachine reports whether the residual of task i is evidence about its machine, whatever its value.
func (f *Fitter) CountsForMachine(i int32) bool { return f.row[i] >= 0 && !f.Cold(i) }

// Cold reports whether task i ran on an executor that had just started, in a phase where most tasks did not.
func (f *Fitter) Cold(i int32) bool { return f.coldFew && f.Tasks[i].Cold }

// ColdResiduals returns the residuals of the cold tasks on a machine, except one task. The slice is valid until the next call
// of a method.
func (f *Fitter) ColdResiduals(k, except int32) []float64 {
	f.tmp = f.tmp[:0]
	for _, j := range f.Machines.Tasks(k) {
		if j != except && f.row[j] >= 0 && f.Cold(j) {
			f.tmp = append(f.tmp, f.residual[f.row[j]])
		}
	}
	return f.tmp
}

// span is the time in which a task ran. Spans are stored contiguously for searches by time.
type span struct {
	start, end schema.Time
	duration   float64
	task       int32
}

// byStart lists the tasks on a machine by start, without those that have none.
func (f *Fitter) byStart(k int32) []span {
	if len(f.started) == 0 { // the first of the phase
		f.spans = slices.Grow(f.spans[:0], len(f.Machines.order))[:len(f.Machines.order)]
		for range f.Machines.Numbers {
			f.started = append(f.started, -1)
		}
	}
	from := f.Machines.start[k]
	if n := f.started[k]; n >= 0 {
		return f.spans[from : from+n]
	}
	order := f.spans[from:from]
	sorted := true
	for _, j := range f.Machines.Tasks(k) {
		if t := &f.Tasks[j]; t.Start.OK && !math.IsNaN(t.Duration) {
			sorted = sorted && (len(order) == 0 || order[len(order)-1].start <= t.Start.V)
			order = append(order, span{t.Start.V, t.Start.V.Add(t.Duration), t.Duration, j})
		}
	}
	if !sorted {
		slices.SortFunc(order, func(x, y span) int { return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.task, y.task)) })
	}
	f.started[k] = int32(len(order))
	return order
}

// firstFrom returns the first of the spans that starts at a time or later.
func firstFrom(order []span, t schema.Time) int {
	at, _ := slices.BinarySearchFunc(order, t, func(o span, t schema.Time) int { return cmp.Compare(o.start, t) })
	return at
}

// Succeeded reports whether task i is one that the phase is fitted on.
func (f *Fitter) Succeeded(i int32) bool { return f.row[i] >= 0 }

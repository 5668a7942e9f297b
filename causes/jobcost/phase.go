package jobcost

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"straggler/causes/fit"
	"straggler/schema"
)

// The cost of a cause to a phase: its seconds are subtracted from the tasks that it slowed, and the phase is scheduled again on
// as many slots as it held at once, in the order in which its tasks started. The saving is the difference from the same
// schedule with the observed durations. The lower bound does not reschedule: every task starts when it did. Concurrent phases
// are scheduled separately, since phases are processed one at a time: a slot freed by one does not help another, as the note of
// the result says.

// Saving is the time that a phase would have saved without a cause.
type Saving struct {
	Phase  schema.Key
	Cause  schema.Cause
	Sum    float64 // seconds of all its outliers
	SD     float64 // standard deviation of Sum, without Factor
	Factor float64 // standard deviation of Sum due to the machines' factors, which other phases share
	Packed float64 // seconds by which the phase would have been shorter; NaN: unknown
	Fixed  float64 // the same, with every task starting when it did
}

// Savings computes the savings of one phase by cause. lost holds, by cause, the seconds to subtract from each task.
type Savings struct {
	lost   map[schema.Cause][]float64
	errors map[schema.Cause]*errorSums
	order  []int32 // tasks by start
	slots  []float64
	kinds  []schema.Cause
}

// all stands for all causes together.
const all schema.Cause = ""

// negligible is the share of a phase's length below which a cause's seconds, summed over all tasks, do not matter.
const negligible = 0.001

// Begin clears the previous phase.
func (v *Savings) Begin() {
	if v.lost == nil {
		v.lost, v.errors = map[schema.Cause][]float64{}, map[schema.Cause]*errorSums{}
	}
	v.kinds = v.kinds[:0]
}

// Errors are the changes of seconds for a change of each source of error by one standard deviation.
type Errors struct {
	Coefficients [fit.Predictors]float64 // of the phase's regression, shared by all of its tasks
	Machine      int64                   // whose factor is shared by all of its tasks
	Factor       float64                 // of that factor
	Discrepancy  float64                 // of the model, shared by all tasks of the phase
	Own          float64                 // variance specific to the task
}

// errorSums adds up the errors of the tasks of a phase: shared errors add linearly, errors specific to a task add in squares.
type errorSums struct {
	coefficients     [fit.Predictors]float64
	factors          map[int64]float64 // by machine
	discrepancy, own float64
}

// Add records seconds of a cause for task i of n.
func (v *Savings) Add(i, n int, c schema.Cause, seconds float64, e *Errors) {
	v.take(all, i, n, seconds, e)
	if seconds > 0 {
		v.take(c, i, n, seconds, e)
	}
}

func (v *Savings) take(c schema.Cause, i, n int, seconds float64, e *Errors) {
	off := v.lost[c]
	if !slices.Contains(v.kinds, c) {
		v.kinds = append(v.kinds, c)
		off = slices.Grow(off[:0], n)[:n]
		clear(off)
		v.lost[c] = off
		if s := v.errors[c]; s != nil {
			clear(s.factors)
			*s = errorSums{factors: s.factors}
		} else {
			v.errors[c] = &errorSums{factors: map[int64]float64{}}
		}
	}
	off[i] += seconds
	s := v.errors[c]
	for k, x := range e.Coefficients {
		s.coefficients[k] += x
	}
	s.factors[e.Machine] += e.Factor
	s.discrepancy += e.Discrepancy
	s.own += e.Own
}

// sd returns the standard deviation of the sum of the seconds, without the machines' factors and by them.
func (s *errorSums) sd() (other, factors float64) {
	v := s.own + s.discrepancy*s.discrepancy
	for _, x := range s.coefficients {
		v += x * x
	}
	var f float64
	for _, m := range slices.Sorted(maps.Keys(s.factors)) { // sorted, so that the sum is deterministic
		f += s.factors[m] * s.factors[m]
	}
	return math.Sqrt(v), math.Sqrt(f)
}

// Weigh appends the saving of the phase for each of its causes.
func (v *Savings) Weigh(phase schema.Key, tasks []fit.Task, out []Saving) []Saving {
	if len(v.kinds) == 0 {
		return out
	}
	slices.Sort(v.kinds)
	width, end := v.arrange(tasks)
	var observed float64
	if width > 0 {
		observed = v.pack(tasks, nil, width)
	}
	for _, c := range v.kinds {
		off := v.lost[c]
		s := Saving{Phase: phase, Cause: c, Packed: math.NaN(), Fixed: math.NaN()}
		s.SD, s.Factor = v.errors[c].sd()
		for _, x := range off {
			s.Sum += x
		}
		switch {
		case c != all && len(v.kinds) == 2 && slices.Equal(off, v.lost[all]): // the only cause
			s.Packed, s.Fixed = out[len(out)-1].Packed, out[len(out)-1].Fixed
		case width > 0 && s.Sum < negligible*end:
			s.Packed, s.Fixed = 0, 0
		case width > 0:
			s.Packed = max(0, observed-v.pack(tasks, off, width))
			s.Fixed = max(0, end-v.latest(tasks, off))
		}
		out = append(out, s)
	}
	return out
}

// arrange sorts the tasks by start; it returns the largest number that ran at once and the last end, in seconds from the first
// start. The width is 0 if starts are unknown.
func (v *Savings) arrange(tasks []fit.Task) (width int, end float64) {
	v.order = slices.Grow(v.order[:0], len(tasks))[:len(tasks)]
	sorted := true
	for i := range tasks {
		v.order[i] = int32(i)
		if !tasks[i].Start.OK || math.IsNaN(tasks[i].Duration) {
			return 0, 0
		}
		sorted = sorted && (i == 0 || tasks[i-1].Start.V <= tasks[i].Start.V)
	}
	if !sorted {
		slices.SortFunc(v.order, func(a, b int32) int {
			return cmp.Or(cmp.Compare(tasks[a].Start.V, tasks[b].Start.V), cmp.Compare(a, b))
		})
	}
	zero := tasks[v.order[0]].Start.V
	v.slots = v.slots[:0]
	for _, i := range v.order { // a heap of the ends of running tasks
		start := tasks[i].Start.V.Sub(zero)
		for len(v.slots) > 0 && v.slots[0] <= start {
			v.pop()
		}
		e := start + tasks[i].Duration
		v.push(e)
		end = max(end, e)
		width = max(width, len(v.slots))
	}
	return width, end
}

// pack returns the end of the phase if its tasks, shortened by off, are scheduled in order on width slots.
func (v *Savings) pack(tasks []fit.Task, off []float64, width int) (end float64) {
	v.slots = v.slots[:0]
	for _, i := range v.order {
		d := tasks[i].Duration
		if off != nil {
			d = max(0, d-off[i])
		}
		if len(v.slots) < width {
			v.push(d)
			end = max(end, d)
			continue
		}
		d += v.slots[0]
		v.replace(d)
		end = max(end, d)
	}
	return end
}

// latest returns the end of the phase if its tasks, shortened by off, start when they did.
func (v *Savings) latest(tasks []fit.Task, off []float64) (end float64) {
	zero := tasks[v.order[0]].Start.V
	for i := range tasks {
		end = max(end, tasks[i].Start.V.Sub(zero)+max(0, tasks[i].Duration-off[i]))
	}
	return end
}

func (v *Savings) push(x float64) {
	v.slots = append(v.slots, x)
	for i := len(v.slots) - 1; i > 0; {
		up := (i - 1) / 2
		if v.slots[up] <= v.slots[i] {
			break
		}
		v.slots[up], v.slots[i] = v.slots[i], v.slots[up]
		i = up
	}
}

func (v *Savings) pop() {
	last := len(v.slots) - 1
	x := v.slots[last]
	v.slots = v.slots[:last]
	if last > 0 {
		v.replace(x)
	}
}

// replace replaces the top of the heap by x.
func (v *Savings) replace(x float64) {
	h := v.slots
	i := 0
	for down := 1; down < len(h); down = 2*i + 1 {
		if down+1 < len(h) {
			right := 0 // branch-free, since the comparison is unpredictable
			if h[down+1] < h[down] {
				right = 1
			}
			down += right
		}
		if x <= h[down] {
			break
		}
		h[i] = h[down]
		i = down
	}
	h[i] = x
}

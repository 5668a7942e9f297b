package fit

import (
	"math"

	"straggler/stats"
)

// A process that has just started loads classes, compiles, connects and fills caches. How long that takes differs between
// stores: in some the first tasks of executors are slow, in others they are not.
const (
	startPrior     = 0.5 // prior probability that the cold tasks of an executor are slow
	priorExecutors = 4   // weight of the prior in executors
)

// StartCounts are the sufficient statistics of starts: machines of phases on which cold tasks can be compared with warm ones,
// and those of them where the cold ones are slow.
type StartCounts struct{ Starts, Slow float64 }

// Add adds the counts of another phase.
func (c *StartCounts) Add(d StartCounts) { c.Starts, c.Slow = c.Starts+d.Starts, c.Slow+d.Slow }

// Probability returns the probability that the cold tasks of an executor are slow, by the counts of a store.
func (c *StartCounts) Probability() float64 {
	return (startPrior*priorExecutors + c.Slow) / (priorExecutors + c.Starts)
}

// CountStarts compares the cold tasks of each machine with its warm ones: a start is slow if their medians differ by
// OutlierLeast. The effect of being among the first of the phase is included in the start here, since the first tasks of a new
// executor usually are.
func (f *Fitter) CountStarts() (c StartCounts) {
	if !f.coldFew {
		return c
	}
	for k := range f.Machines.Numbers {
		if f.startOrWork(int32(k)) {
			continue
		}
		cold := stats.Median(f.withFirst(int32(k), true))
		warm := stats.Median(f.withFirst(int32(k), false))
		if math.IsNaN(cold) || math.IsNaN(warm) {
			continue
		}
		c.Starts++
		if cold-warm > OutlierLeast {
			c.Slow++
		}
	}
	return c
}

// startOrWork reports whether a cold task on a machine is slow because of either its start or its work, and the data do not
// show which.
func (f *Fitter) startOrWork(k int32) bool {
	for _, i := range f.Machines.Tasks(k) {
		if !f.Cold(i) {
			continue
		}
		if s, ok := f.StartOrWork(i); ok && s.CannotTell() {
			return true
		}
	}
	return false
}

// withFirst returns the residuals of the cold, or of the warm, tasks on a machine without the correction for being among the
// first of the phase. The slice is valid until the next call of a method.
func (f *Fitter) withFirst(k int32, cold bool) []float64 {
	g := &f.Regression
	f.tmp = f.tmp[:0]
	for _, i := range f.Machines.Tasks(k) {
		j := f.row[i]
		if j < 0 || f.Cold(i) != cold {
			continue
		}
		r := f.residual[j]
		if g.Status[ByFirst] == Used {
			p := f.prediction[j] * f.unit
			r += math.Log(p / max(p-g.Coef[ByFirst]*f.X[ByFirst][i], p/20))
		}
		f.tmp = append(f.tmp, r)
	}
	return f.tmp
}

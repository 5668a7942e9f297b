package fit

import (
	"math"

	"straggler/stats"
)

// Predictor is a property of a task that its body may depend on.
type Predictor int

const (
	ByBytes   Predictor = iota // input bytes
	ByRecords                  // input records
	ByWritten                  // bytes written, where no input is logged
	ByCPU                      // processor time relative to the usual on its machine, where no bytes are logged
	ByRemote                   // bytes from other machines beyond the usual share of the input
	BySpill                    // bytes spilled
	ByAway                     // 1 when it ran away from its data
	ByFirst                    // 1 when it was among the first of its phase on its machine
	Predictors
)

// Status is how a predictor was used in a phase.
type Status int

const (
	Absent        Status = iota // the log does not have it
	Constant                    // it is the same for all tasks
	Collinear                   // it is proportional to another predictor
	Insignificant               // no significant effect
	Used
)

// Survey computes the median of each predictor, fills gaps with it, and determines which predictors vary.
func (f *Fitter) Survey() {
	g := &f.Regression
	*g = Regression{N: len(f.Rows)}
	for k := Predictor(0); k < Predictors; k++ {
		f.tmp = f.tmp[:0]
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, i := range f.Rows {
			v := f.X[k][i]
			if math.IsNaN(v) {
				continue
			}
			f.tmp = append(f.tmp, v)
			if v < lo {
				lo = v
			}
			if v > hi {
				hi = v
			}
		}
		switch {
		case len(f.tmp) == 0 || 5*len(f.tmp) < 4*g.N:
			g.Status[k] = Absent
		case lo == hi:
			g.Status[k], g.Mid[k] = Constant, lo
		default:
			g.Mid[k] = middleOf(f.tmp, k)
			g.Status[k] = Insignificant
			if hi-lo < spreadMin*math.Abs(g.Mid[k]) {
				g.Status[k] = Constant
			}
		}
		for i := range f.X[k] {
			if math.IsNaN(f.X[k][i]) {
				f.X[k][i] = g.Mid[k]
			}
		}
	}
	f.pickWork()
}

// middleOf returns the median of a predictor's values; for indicators it only counts.
func middleOf(v []float64, k Predictor) float64 {
	if k != ByFirst && k != ByAway {
		return stats.Median(v)
	}
	var ones float64
	for _, x := range v {
		ones += x
	}
	switch twice := 2 * ones; {
	case twice > float64(len(v)):
		return 1
	case twice == float64(len(v)):
		return 0.5
	}
	return 0
}

// pickWork decides what counts as work: written bytes only if no input is logged, remote bytes only beyond their usual share of
// the input.
func (f *Fitter) pickWork() {
	g := &f.Regression
	if g.Status[ByBytes] != Absent && g.Mid[ByBytes] > 0 || g.Status[ByRecords] != Absent && g.Mid[ByRecords] > 0 {
		g.Status[ByWritten] = Absent
	}
	switch {
	case g.WorkMeasured():
		g.Status[ByCPU] = Absent
	case g.Status[ByCPU] == Insignificant && !f.cpuAsWork():
		g.Status[ByCPU] = Absent
	}
	// the cost of remote bytes is measured; as a predictor they would only stand for machines that hold few outputs
	if f.WaitKnown() {
		g.Status[ByRemote] = Collinear
	}
	if g.Status[ByRemote] == Insignificant && g.Status[ByBytes] != Absent && g.Mid[ByBytes] > 0 {
		share := g.Mid[ByRemote] / g.Mid[ByBytes]
		var spread float64
		for i := range f.X[ByRemote] {
			f.X[ByRemote][i] -= share * f.X[ByBytes][i]
			spread = max(spread, math.Abs(f.X[ByRemote][i]))
		}
		g.Mid[ByRemote] = 0
		if spread < spreadMin*g.Mid[ByBytes] {
			g.Status[ByRemote] = Constant
		}
	}
	for _, k := range []Predictor{ByRemote, BySpill, ByAway, ByFirst} {
		least := support
		if k == BySpill && g.Mid[ByBytes] > 0 { // there is a prior for it
			least = 1
		}
		if g.Status[k] == Insignificant && f.unusual(k) < least {
			g.Status[k] = Constant
		}
	}
	if g.Status[ByRemote] == Insignificant && g.Status[ByAway] == Insignificant {
		g.Status[ByAway] = Collinear // remote bytes are more precise
	}
	for _, k := range []Predictor{ByRemote, ByAway} {
		if g.Status[k] == Insignificant && f.ofMachine(k) {
			g.Status[k] = Collinear
		}
	}
	if g.Status[ByBytes] == Insignificant && g.Status[ByRecords] == Insignificant && f.proportional(ByBytes, ByRecords) {
		g.Status[ByRecords] = Collinear
	}
}

// WaitKnown reports whether the log records how long the phase's tasks waited for blocks.
func (f *Fitter) WaitKnown() bool {
	for _, i := range f.Rows {
		if f.Tasks[i].Wait > 0 {
			return true
		}
	}
	return false
}

// cpuAsWork uses processor time as the measure of work, relative to the usual processor time on the task's machine, so that the
// speed of a machine does not count as work of its tasks. The usual time is known from other phases, or from this one; it
// reports false if machines have too few tasks for that.
func (f *Fitter) cpuAsWork() bool {
	if f.Regression.Mid[ByCPU] <= 0 {
		return false
	}
	if f.CPUFactor != nil {
		for i, k := range f.Machines.Of {
			if k >= 0 {
				f.X[ByCPU][i] /= f.CPUFactor[k]
			}
		}
		f.cpuOfBeginnings()
		return true
	}
	if len(f.Rows) < 3*len(f.Machines.Numbers) {
		return false
	}
	for m := range f.Machines.Numbers {
		usual := f.usualCPU(int32(m))
		if !(usual > 0) {
			return false
		}
		for _, i := range f.Machines.Tasks(int32(m)) {
			f.X[ByCPU][i] *= f.Regression.Mid[ByCPU] / usual
		}
	}
	f.cpuOfBeginnings()
	return true
}

// cpuOfBeginnings subtracts, from the processor times of the first tasks on an executor, or of the phase on a machine, the
// difference between their median and that of later tasks: code that is interpreted until it is compiled takes more processor
// time for the same work.
func (f *Fitter) cpuOfBeginnings() {
	var median [beginnings]float64
	for k := range median {
		f.tmp = f.tmp[:0]
		for _, i := range f.Rows {
			if f.beginning(i) == k {
				f.tmp = append(f.tmp, f.X[ByCPU][i])
			}
		}
		if median[k] = 0; len(f.tmp) >= support {
			median[k] = stats.Median(f.tmp)
		}
	}
	if !(median[later] > 0) {
		return
	}
	for i := range f.Tasks {
		if more := median[f.beginning(int32(i))] / median[later]; more > 1 {
			f.X[ByCPU][i] /= more
		}
	}
}

// usualCPU returns the median processor time of a machine's tasks, or NaN if it has none.
func (f *Fitter) usualCPU(k int32) float64 {
	f.tmp = f.tmp[:0]
	for _, i := range f.Machines.Tasks(k) {
		if f.row[i] >= 0 && !math.IsNaN(f.Tasks[i].CPU) {
			f.tmp = append(f.tmp, f.Tasks[i].CPU)
		}
	}
	return stats.Median(f.tmp)
}

// EachCPU calls each with the processor time factor of every machine, in a phase without another measure of work: ln of the
// machine's median over the phase's, and its variance; the variance of a median of n is π/2 times the scatter over n.
func (f *Fitter) EachCPU(each func(k int32, z, v float64)) {
	g := &f.Regression
	if g.WorkMeasured() || !(g.Mid[ByCPU] > 0) {
		return
	}
	scatter := f.scatterOfWork()
	for k := range f.Machines.Numbers {
		n := len(f.Machines.Tasks(int32(k)))
		if u := f.usualCPU(int32(k)); u > 0 {
			each(int32(k), math.Log(u/g.Mid[ByCPU]), math.Pi/2*scatter/float64(n)+stats.Square(cpuTick/u))
		}
	}
}

// scatterOfWork returns the variance of ln(processor time) between tasks of one machine, estimated by the median absolute
// deviation with a prior of sigmaWeight tasks that differ by a half.
func (f *Fitter) scatterOfWork() float64 {
	const differ = 0.5 * 0.5
	f.cpu = f.cpu[:0]
	for k := range f.Machines.Numbers {
		usual := f.usualCPU(int32(k))
		if !(usual > 0) {
			continue
		}
		own := 0
		for _, i := range f.Machines.Tasks(int32(k)) {
			if f.row[i] >= 0 && f.Tasks[i].CPU > 0 {
				own++
				f.cpu = append(f.cpu, math.Abs(math.Log(f.Tasks[i].CPU/usual)))
			}
		}
		if own < 3 { // the median is one of them
			f.cpu = f.cpu[:len(f.cpu)-own]
		}
	}
	n := float64(len(f.cpu))
	if n == 0 {
		return differ
	}
	s := stats.MADScale * stats.Median(f.cpu)
	return (sigmaWeight*differ + n*s*s) / (sigmaWeight + n)
}

// support is how many tasks must differ from the rest in a predictor for its effect to be distinguished from slowness of the
// tasks themselves. Work has a prior instead.
const support = 3

// unusual returns the number of tasks whose predictor differs from the median, or of those for which it does not, whichever is
// smaller.
func (f *Fitter) unusual(k Predictor) int {
	mid, off := f.Regression.Mid[k], 0
	least := spreadMin * f.scale(k)
	for _, i := range f.Rows {
		if math.Abs(f.X[k][i]-mid) > least {
			off++
		}
	}
	return min(off, f.Regression.N-off)
}

// ofMachine reports whether a predictor is mostly a property of the machine: at most a tenth of its variance is within machines
// that have at least two tasks. For example, the number of outputs on a machine determines how many remote bytes all of its
// tasks read.
func (f *Fitter) ofMachine(k Predictor) bool {
	if len(f.Rows) < 2*len(f.Machines.Numbers) {
		return false
	}
	var n, sum, squares, between float64
	for m := range f.Machines.Numbers {
		var own, of float64
		for _, i := range f.Machines.Tasks(int32(m)) {
			if f.row[i] >= 0 {
				x := f.X[k][i]
				own, of, squares = own+x, of+1, squares+x*x
			}
		}
		if of > 0 {
			n, sum, between = n+of, sum+own, between+own*own/of
		}
	}
	return squares-between <= 0.1*(squares-sum*sum/n)
}

// proportional reports whether one predictor is a multiple of the other, to within a tenth.
func (f *Fitter) proportional(k, l Predictor) bool {
	a, c := f.Regression.Mid[k], f.Regression.Mid[l]
	if a <= 0 || c <= 0 {
		return false
	}
	for _, i := range f.Rows {
		u, v := f.X[k][i]/a, f.X[l][i]/c
		if math.Abs(u-v) > 0.1*max(u, v) {
			return false
		}
	}
	return true
}

// scale returns the unit in which a predictor is fitted: its median, so that a coefficient is an elasticity, or its largest
// value where the median is 0.
func (f *Fitter) scale(k Predictor) float64 {
	if k == ByFirst || k == ByAway {
		return 1
	}
	if f.Regression.Mid[k] > 0 {
		return f.Regression.Mid[k]
	}
	if k == ByRemote && f.Regression.Mid[ByBytes] > 0 {
		return f.Regression.Mid[ByBytes]
	}
	var big float64
	for _, i := range f.Rows {
		big = max(big, math.Abs(f.X[k][i]))
	}
	return big
}

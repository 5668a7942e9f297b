package causes

import "math"

// survey finds the median of each predictor, fills gaps with it, and says which predictors vary.
func (b *bench) survey() {
	f := &b.fit
	*f = fit{n: len(b.rows)}
	for k := predictor(0); k < predictors; k++ {
		b.tmp = b.tmp[:0]
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, i := range b.rows {
			v := b.x[k][i]
			if math.IsNaN(v) {
				continue
			}
			b.tmp = append(b.tmp, v)
			if v < lo {
				lo = v
			}
			if v > hi {
				hi = v
			}
		}
		switch {
		case len(b.tmp) == 0 || 5*len(b.tmp) < 4*f.n:
			f.fate[k] = absent
		case lo == hi:
			f.fate[k], f.mid[k] = constant, lo
		default:
			f.mid[k] = middleOf(b.tmp, k)
			f.fate[k] = nothing
			if hi-lo < spreadMin*math.Abs(f.mid[k]) {
				f.fate[k] = constant
			}
		}
		for i := range b.x[k] {
			if math.IsNaN(b.x[k][i]) {
				b.x[k][i] = f.mid[k]
			}
		}
	}
	b.pickWork()
}

// middleOf is the median of a predictor's values; of those that are 0 or 1 it need only count.
func middleOf(v []float64, k predictor) float64 {
	if k != byFirst && k != byAway {
		return median(v)
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

// pickWork decides what counts as work: written bytes only where no input is logged, remote bytes only as far as they
// exceed their usual share of the input.
func (b *bench) pickWork() {
	f := &b.fit
	if f.fate[byBytes] != absent && f.mid[byBytes] > 0 || f.fate[byRecords] != absent && f.mid[byRecords] > 0 {
		f.fate[byWritten] = absent
	}
	switch {
	case f.fate[byBytes] != absent || f.fate[byRecords] != absent || f.fate[byWritten] != absent:
		f.fate[byCPU] = absent
	case f.fate[byCPU] == nothing && !b.cpuAsWork():
		f.fate[byCPU] = absent
	}
	if b.waitKnown() { // what remote bytes cost is measured; they would only stand for the machines that hold few outputs
		f.fate[byRemote] = twin
	}
	if f.fate[byRemote] == nothing && f.fate[byBytes] != absent && f.mid[byBytes] > 0 {
		share := f.mid[byRemote] / f.mid[byBytes]
		var spread float64
		for i := range b.x[byRemote] {
			b.x[byRemote][i] -= share * b.x[byBytes][i]
			spread = max(spread, math.Abs(b.x[byRemote][i]))
		}
		f.mid[byRemote] = 0
		if spread < spreadMin*f.mid[byBytes] {
			f.fate[byRemote] = constant
		}
	}
	for _, k := range []predictor{byRemote, bySpill, byAway, byFirst} {
		least := support
		if k == bySpill && f.mid[byBytes] > 0 { // there is a prior for it
			least = 1
		}
		if f.fate[k] == nothing && b.unusual(k) < least {
			f.fate[k] = constant
		}
	}
	if f.fate[byRemote] == nothing && f.fate[byAway] == nothing {
		f.fate[byAway] = twin // remote bytes say it better
	}
	if f.fate[byBytes] == nothing && f.fate[byRecords] == nothing && b.proportional(byBytes, byRecords) {
		f.fate[byRecords] = twin
	}
}

// waitKnown reports whether the log says how long the phase's tasks waited for blocks.
func (b *bench) waitKnown() bool {
	for _, i := range b.rows {
		if b.tasks[i].Wait > 0 {
			return true
		}
	}
	return false
}

// cpuAsWork makes processor time a measure of work, by what it usually is on the task's machine: what a slow machine does to
// all of its tasks is not their work. That is known from other phases, or from this one; it reports false where
// machines have too few tasks for that.
func (b *bench) cpuAsWork() bool {
	if b.fit.mid[byCPU] <= 0 {
		return false
	}
	if b.cpuOf != nil {
		for i, k := range b.local.of {
			if k >= 0 {
				b.x[byCPU][i] /= b.cpuOf[k]
			}
		}
		return true
	}
	if len(b.rows) < 3*len(b.local.names) {
		return false
	}
	for m := range b.local.names {
		usual := b.usualCPU(int32(m))
		if !(usual > 0) {
			return false
		}
		for _, i := range b.local.tasks(int32(m)) {
			b.x[byCPU][i] *= b.fit.mid[byCPU] / usual
		}
	}
	return true
}

// usualCPU is the median processor time of a machine's tasks; NaN where it has none.
func (b *bench) usualCPU(k int32) float64 {
	b.tmp = b.tmp[:0]
	for _, i := range b.local.tasks(k) {
		if b.rowOf[i] >= 0 && !math.IsNaN(b.tasks[i].CPU) {
			b.tmp = append(b.tmp, b.tasks[i].CPU)
		}
	}
	return median(b.tmp)
}

// hearCPU calls hear with what a phase without another measure of work says about the processor time that its machines
// take: ln of its median over the phase's, and its variance. Tasks of a phase differ by a half, so a median of few says little.
func (b *bench) hearCPU(hear func(k int32, z, v float64)) {
	const differ = 0.5 * 0.5
	f := &b.fit
	if f.fate[byBytes] != absent || f.fate[byRecords] != absent || f.fate[byWritten] != absent || !(f.mid[byCPU] > 0) {
		return
	}
	for k := range b.local.names {
		n := len(b.local.tasks(int32(k)))
		if u := b.usualCPU(int32(k)); u > 0 {
			hear(int32(k), math.Log(u/f.mid[byCPU]), differ/float64(n))
		}
	}
}

// support is how many tasks must differ from the rest in something for its effect to be told from their own slowness.
// Work needs none: there is a prior for it.
const support = 3

// unusual counts the tasks whose predictor differs from the median, or does not, whichever are fewer.
func (b *bench) unusual(k predictor) int {
	mid, off := b.fit.mid[k], 0
	least := spreadMin * b.scale(k)
	for _, i := range b.rows {
		if math.Abs(b.x[k][i]-mid) > least {
			off++
		}
	}
	return min(off, b.fit.n-off)
}

// proportional reports whether two predictors say the same: each is the other times a number, to within a tenth.
func (b *bench) proportional(k, l predictor) bool {
	a, c := b.fit.mid[k], b.fit.mid[l]
	if a <= 0 || c <= 0 {
		return false
	}
	for _, i := range b.rows {
		u, v := b.x[k][i]/a, b.x[l][i]/c
		if math.Abs(u-v) > 0.1*max(u, v) {
			return false
		}
	}
	return true
}

// scale is the unit in which a predictor is fitted: its median, so that a coefficient is an elasticity, or its largest
// value where the median is 0.
func (b *bench) scale(k predictor) float64 {
	if k == byFirst || k == byAway {
		return 1
	}
	if b.fit.mid[k] > 0 {
		return b.fit.mid[k]
	}
	if k == byRemote && b.fit.mid[byBytes] > 0 {
		return b.fit.mid[byBytes]
	}
	var big float64
	for _, i := range b.rows {
		big = max(big, math.Abs(b.x[k][i]))
	}
	return big
}

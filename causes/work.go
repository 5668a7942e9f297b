package causes

import "math"

// A predictor is something about a task that its own time may depend on.
type predictor int

const (
	byBytes   predictor = iota // input bytes
	byRecords                  // input records
	byWritten                  // bytes written, where no input is logged
	byCPU                      // processor time over its machine's usual, where no bytes are logged at all
	byRemote                   // bytes from other machines beyond the usual share of the input
	bySpill                    // bytes spilled
	byAway                     // 1 when it ran away from its data
	byFirst                    // 1 when it was among the first of its phase on its machine
	predictors
)

// fate says what became of a predictor in a phase.
type fate int

const (
	absent   fate = iota // the log does not have it
	constant             // it is the same for all tasks
	twin                 // it says what another says
	nothing              // no effect that stands out from its error
	used
)

// The prior of work: time in proportion to it, less a fixed part. In units of elasticity: the relative change of time
// for a relative change of work, at the median task. Logs of real jobs lie between 0 (all is fixed cost) and a little
// over 1 (sorting, joins).
const (
	elasticity   = 0.8
	elasticitySD = 0.5
)

const (
	fitRounds   = 5    // rounds of reweighting; the residuals settle to three digits
	spreadMin   = 0.05 // a predictor varies when its range exceeds this share of its median
	significant = 2.0  // standard errors that a coefficient must lie above 0
	sigmaGuess  = 0.12 // scatter of a phase before it is seen: noise of task times on idle clusters is 0.05 to 0.2
	sigmaPrior  = 4.0  // how many tasks that guess is worth
	sigmaMin    = 0.02
)

// fit is the model of the body: base + Σ coef·(x − mid), in seconds, with a relative scatter of sigma.
type fit struct {
	n     int
	base  float64 // body at the medians of all predictors
	sigma float64 // standard deviation of ln(body / prediction)
	r2    float64 // share of the body's variance that the predictors explain
	mid   [predictors]float64
	coef  [predictors]float64 // seconds per unit
	se    [predictors]float64
	fate  [predictors]fate
}

// predict is the body that the model expects of a task with predictor values x. It is never under a twentieth of the
// base: a line carried past its data must not turn negative.
func (f *fit) predict(x *[predictors]float64) float64 {
	y := f.base
	for k := range x {
		if f.fate[k] == used {
			y += f.coef[k] * (x[k] - f.mid[k])
		}
	}
	return max(y, f.base/20)
}

// bench holds one phase as columns, and all that fitting it needs. It is used again for the next phase.
type bench struct {
	tasks []Task
	rows  []int32         // the tasks that are fitted on: successful, with a body
	rowOf []int32         // the row of each task; -1 where it has none
	twin  map[int64]int32 // the successful attempt of a task
	part  [nParts][]float64
	body  []float64             // of all tasks
	x     [predictors][]float64 // of all tasks; unknown values replaced by the median
	first []float64
	y     []float64             // body / machine factor of the fitted ones, by rows
	slack []float64             // collecting / machine factor: it may have overlapped the body
	u     [predictors][]float64 // (x − mid) / scale of the fitted ones
	f     []float64
	r     []float64 // ln(y / prediction) of the fitted ones
	tmp   []float64
	unit  float64 // median of y: the unit of f
	local machines
	fit   fit
	known []float64 // factor of each machine, by local number, as solve was given it; nil: 1
	heard []hearing // by machine, see hearsay
}

func grow(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n, n+n/2)
	}
	return s[:n]
}

// load takes a phase: splits durations, numbers its machines, finds who came first, and fills the columns.
func (b *bench) load(tasks []Task) {
	n := len(tasks)
	b.tasks = tasks
	b.rows = b.rows[:0]
	b.body = grow(b.body, n)
	b.rowOf = growInts(b.rowOf, n)
	for k := range b.part {
		b.part[k] = grow(b.part[k], n)
	}
	for i := range tasks {
		p, body := tasks[i].parts()
		for k := range p {
			b.part[k][i] = p[k]
		}
		b.body[i] = body
		b.rowOf[i] = -1
		if tasks[i].Succeeded && body > 0 && !math.IsInf(body, 0) {
			b.rowOf[i] = int32(len(b.rows))
			b.rows = append(b.rows, int32(i))
		}
	}
	b.local.load(tasks)
	b.first = grow(b.first, n)
	b.local.first(tasks, b.first)
	for k := range b.x {
		b.x[k] = grow(b.x[k], n)
		for i := range tasks {
			b.x[k][i] = b.value(predictor(k), i)
		}
	}
	if len(b.rows) < n {
		b.lend()
	}
}

// lend gives attempts that did not succeed the work of the attempt that did: their own counts stop where they stopped.
func (b *bench) lend() {
	if b.twin == nil {
		b.twin = map[int64]int32{}
	}
	clear(b.twin)
	for _, i := range b.rows {
		b.twin[b.tasks[i].Index] = i
	}
	for i := range b.tasks {
		j, ok := b.twin[b.tasks[i].Index]
		if !ok || b.tasks[i].Succeeded {
			continue
		}
		for k := byBytes; k <= bySpill; k++ {
			b.x[k][i] = b.x[k][j]
		}
	}
}

// value is a predictor of a task; NaN unknown.
func (b *bench) value(k predictor, i int) float64 {
	t := &b.tasks[i]
	switch k {
	case byBytes:
		return t.Bytes
	case byRecords:
		return t.Records
	case byWritten:
		return t.Written
	case byRemote:
		return t.Remote
	case byCPU:
		return t.CPU
	case bySpill:
		return t.Spill
	case byAway:
		return t.Away
	}
	return b.first[i]
}

// survey finds the median of each predictor, fills gaps with it, and says which predictors vary.
func (b *bench) survey() {
	f := &b.fit
	*f = fit{n: len(b.rows)}
	for k := predictor(0); k < predictors; k++ {
		b.tmp = b.tmp[:0]
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, i := range b.rows {
			if v := b.x[k][i]; !math.IsNaN(v) {
				b.tmp = append(b.tmp, v)
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		switch {
		case len(b.tmp) == 0 || 5*len(b.tmp) < 4*f.n:
			f.fate[k] = absent
		case lo == hi:
			f.fate[k], f.mid[k] = constant, lo
		default:
			f.mid[k] = median(b.tmp)
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
	case f.fate[byCPU] == nothing && !b.againstMachine(byCPU):
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

// againstMachine divides a predictor by its median on the task's machine, and multiplies it by that of the phase: what a
// slow machine does to all of its tasks is not their work. It reports false where machines have too few tasks for that.
func (b *bench) againstMachine(k predictor) bool {
	if len(b.rows) < 3*len(b.local.names) || b.fit.mid[k] <= 0 {
		return false
	}
	for m := range b.local.names {
		b.tmp = b.tmp[:0]
		for _, i := range b.local.tasks(int32(m)) {
			if b.rowOf[i] >= 0 {
				b.tmp = append(b.tmp, b.x[k][i])
			}
		}
		usual := median(b.tmp)
		if !(usual > 0) {
			return false
		}
		for _, i := range b.local.tasks(int32(m)) {
			b.x[k][i] *= b.fit.mid[k] / usual
		}
	}
	return true
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

// prior is what is known of a coefficient before the phase is seen.
type prior struct{ mean, precision float64 }

// solve fits the body to the predictors that vary, robustly: weights fall with the residual (Huber) and with the
// square of the prediction, because task times scatter in proportion. A coefficient that is not clearly above 0 is
// dropped: more work makes no task faster. known, when given, is the factor of each machine by local number.
func (b *bench) solve(known []float64, given priors) {
	b.known, b.heard = known, b.heard[:0]
	f := &b.fit
	n := len(b.rows)
	b.y, b.slack, b.f, b.r = grow(b.y, n), grow(b.slack, n), grow(b.f, n), grow(b.r, n)
	b.tmp = grow(b.tmp, n)
	for j, i := range b.rows {
		m := b.factor(i)
		b.y[j], b.slack[j] = b.body[i]/m, b.part[collecting][i]/m
	}
	copy(b.tmp, b.y)
	b.unit = median(b.tmp)
	var active [predictors]predictor
	k := 0
	for p := predictor(0); p < predictors; p++ {
		if f.fate[p] != nothing || n < 3 {
			continue
		}
		active[k] = p
		k++
		b.u[p] = grow(b.u[p], n)
		s := b.scale(p)
		for j, i := range b.rows {
			b.u[p][j] = (b.x[p][i] - f.mid[p]) / s
		}
	}
	b.reweigh(active[:k], given)
	b.finish(given.sigma)
}

// priors are what is known of a phase before it is seen.
type priors struct {
	work  prior // elasticity
	spill prior // seconds a spilled byte; precision 0: not known
	sigma prior // scatter; its precision is how many tasks it is worth
}

// spillRatio is the prior of spilling where nothing is known of it: a byte spilled takes as long as a byte of input,
// give or take one and a half times that.
const spillRatio, spillRatioSD = 1, 1.5

// prior is what is known of a predictor's coefficient, in the units of the fit.
func (b *bench) prior(p predictor, given *priors) prior {
	switch {
	case p <= byCPU:
		return given.work
	case p != bySpill:
		return prior{}
	case given.spill.precision > 0:
		s := b.scale(p) / b.unit
		return prior{given.spill.mean * s, given.spill.precision / (s * s)}
	case b.fit.mid[byBytes] > 0:
		s := b.scale(p) / b.fit.mid[byBytes]
		return prior{spillRatio * s, 1 / sq(spillRatioSD*s)}
	}
	return prior{}
}

// factor is the known factor of a task's machine.
func (b *bench) factor(i int32) float64 {
	if k := b.local.of[i]; k >= 0 && b.known != nil {
		return b.known[k]
	}
	return 1
}

// reweigh runs the rounds of weighted least squares and drops what has no effect, worst first.
func (b *bench) reweigh(active []predictor, given priors) {
	f := &b.fit
	var coef, se [predictors]float64 // in units of base and scale
	for i := range active {
		coef[i] = b.prior(active[i], &given).mean
	}
	a := 1.0
	for {
		for round := 0; round < fitRounds; round++ {
			b.residuals(a, active, coef[:len(active)], nearly)
			if round < 2 {
				f.sigma = b.scatter(given.sigma, len(active))
			}
			var e equations
			e.collect(b, active)
			for i, p := range active {
				q := b.prior(p, &given)
				e.m[i+1][i+1] += q.precision * f.sigma * f.sigma
				e.v[i+1] += q.precision * f.sigma * f.sigma * q.mean
			}
			prev := a
			if !e.solve(len(active) + 1) { // the last says what the others say
				se[len(active)-1] = math.Inf(1)
				break
			}
			a = e.v[0]
			var moved float64
			for i := range active {
				moved = max(moved, math.Abs(coef[i]-e.v[i+1]))
				coef[i] = e.v[i+1]
				se[i] = f.sigma * math.Sqrt(e.d[i+1])
			}
			if a < 0.02 {
				a = 0.02
			}
			if max(moved, math.Abs(a-prev)) < 1e-3 {
				break
			}
		}
		kept := drop(active, coef[:], se[:])
		if len(kept) == len(active) {
			break
		}
		active = kept
	}
	f.base = a * b.unit
	for i, p := range active {
		s := b.unit / b.scale(p)
		f.fate[p], f.coef[p], f.se[p] = used, coef[i]*s, se[i]*s
	}
	b.residuals(a, active, coef[:len(active)], math.Log)
}

// nearly is ln x, to a tenth for x from ¼ to 4: enough for weights, at a fraction of the time.
func nearly(x float64) float64 { return (x - 1) / math.Sqrt(x) }

// drop takes out what has no effect: all that is hopeless, or else the worst of what is not significant.
func drop(active []predictor, coef, se []float64) []predictor {
	worst := math.Inf(1)
	for i := range active {
		worst = min(worst, coef[i]/se[i])
	}
	if worst > significant {
		return active
	}
	limit := max(worst, significant/2)
	kept := 0
	for i := range active {
		if coef[i]/se[i] > limit {
			active[kept], coef[kept], se[kept] = active[i], coef[i], se[i]
			kept++
		}
	}
	return active[:kept]
}

// residuals fills f with the predictions in units of base, and r with ln(y / prediction). A task that collected
// garbage while it slept or waited has less of a body than it should; as far as that explains it, it is as predicted.
func (b *bench) residuals(a float64, active []predictor, coef []float64, ln func(float64) float64) {
	for j := range b.r {
		b.f[j] = a
	}
	for i, p := range active {
		c := coef[i]
		for j, u := range b.u[p][:len(b.f)] {
			b.f[j] += c * u
		}
	}
	for j, y := range b.y {
		b.f[j] = max(b.f[j], a/20)
		e := b.f[j] * b.unit
		if y < e {
			y = min(e, y+b.slack[j])
		}
		b.r[j] = ln(y / e)
	}
}

// scatter is the standard deviation of the residuals, from their median absolute deviation, with a prior's worth of
// guess: a handful of tasks that happen to agree are not exact. Where machines have several tasks each it is taken
// within them, because machines that differ are no scatter of tasks.
func (b *bench) scatter(guess prior, parameters int) float64 {
	b.tmp = b.tmp[:0]
	for _, r := range b.r {
		b.tmp = append(b.tmp, math.Abs(r))
	}
	n := float64(max(0, len(b.r)-1-parameters))
	s := 0.0
	if n > 0 {
		s = madScale * median(b.tmp)
	}
	if m := len(b.local.names); m > 1 && len(b.r) >= 3*m {
		left := float64(len(b.r))
		s = min(s, b.scatterWithin()*math.Sqrt(left/(left-float64(m))))
	}
	return max(sigmaMin, math.Sqrt((guess.precision*guess.mean*guess.mean+n*s*s)/(guess.precision+n)))
}

// scatterWithin is the scatter of the residuals about the medians of their machines.
func (b *bench) scatterWithin() float64 {
	b.tmp = b.tmp[:0]
	for k := range b.local.names {
		from := len(b.tmp)
		for _, i := range b.local.tasks(int32(k)) {
			if j := b.rowOf[i]; j >= 0 {
				b.tmp = append(b.tmp, b.r[j])
			}
		}
		own := b.tmp[from:]
		if len(own) < 2 { // says nothing about scatter
			b.tmp = b.tmp[:from]
			continue
		}
		m := median(own)
		for i := range own {
			own[i] = math.Abs(own[i] - m)
		}
	}
	return madScale * median(b.tmp)
}

// finish states the scatter and the share of variance explained.
func (b *bench) finish(sigma prior) {
	f := &b.fit
	k := 0
	for _, s := range f.fate {
		if s == used {
			k++
		}
	}
	f.sigma = b.scatter(sigma, k)
	var mean, total, left float64
	for _, y := range b.y {
		mean += y / float64(len(b.y))
	}
	for j, y := range b.y {
		p := b.f[j] * b.unit
		total += (y - mean) * (y - mean)
		left += (y - p) * (y - p)
	}
	if total > 0 && k > 0 {
		f.r2 = max(0, 1-left/total)
	}
}

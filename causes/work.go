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
			b.residuals(a, active, coef[:len(active)], false)
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
	b.residuals(a, active, coef[:len(active)], true)
}

// nearly is ln y/e, to a tenth for ratios from ¼ to 4: enough for weights, at a fraction of the time.
func nearly(y, e float64) float64 { return (y - e) / math.Sqrt(y*e) }

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

// residuals fills f with the predictions in units of base, and r with ln(y / prediction), exactly or nearly. A task that collected
// garbage while it slept or waited has less of a body than it should; as far as that explains it, it is as predicted.
func (b *bench) residuals(a float64, active []predictor, coef []float64, exact bool) {
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
		if exact {
			b.r[j] = math.Log(y / e)
		} else {
			b.r[j] = nearly(y, e)
		}
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

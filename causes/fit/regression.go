package fit

import (
	"math"

	"straggler/stats"
)

// WorkPrior is the prior of the elasticity of work, the relative change of time per relative change of work at the median task:
// time is proportional to work, apart from a fixed part. Elasticities in logs of real jobs lie between 0 (fixed cost only) and
// a little over 1 (sorting, joins).
var WorkPrior = Prior{Mean: elasticity, Precision: 1 / (elasticitySD * elasticitySD)}

// SigmaPrior is the prior of the scatter of a phase.
var SigmaPrior = Prior{Mean: sigmaGuess, Precision: sigmaWeight}

const (
	elasticity   = 0.8
	elasticitySD = 0.5
	sigmaGuess   = 0.12 // task times on idle clusters scatter by 0.05 to 0.2
	sigmaWeight  = 4.0  // weight of the guess in tasks
)

const (
	fitRounds   = 5    // rounds of reweighting; the residuals settle to three digits
	spreadMin   = 0.05 // a predictor varies if its range exceeds this share of its median
	significant = 2.0  // a coefficient must exceed 0 by this many standard errors
	sigmaMin    = 0.02
	// Huber's weight of a task that took x times its prediction decreases with √x, so its pull on the next prediction would grow
	// with √x too: beyond this x it does not. One of a million times would otherwise outweigh a hundred others.
	farthest = 100.0
)

// Regression is the model of the body: base + Σ coef·(x − mid), in seconds, with a relative scatter of sigma.
type Regression struct {
	N      int
	Base   float64 // body at the medians of all predictors
	Sigma  float64 // standard deviation of ln(body / prediction)
	First  float64 // variance of it that the first tasks of the phase have besides Sigma²
	R2     float64 // share of the body's variance that the predictors explain
	Mid    [Predictors]float64
	Coef   [Predictors]float64 // seconds per unit
	SE     [Predictors]float64
	Status [Predictors]Status
}

// Predict returns the expected body of a task with predictor values x. It is at least a twentieth of the base, because an
// extrapolated line must not become negative.
func (g *Regression) Predict(x *[Predictors]float64) float64 {
	y := g.Base
	for k := range x {
		if g.Status[k] == Used {
			y += g.Coef[k] * (x[k] - g.Mid[k])
		}
	}
	return max(y, g.Base/20)
}

// WorkMeasured reports whether the log measures the phase's work in bytes or records.
func (g *Regression) WorkMeasured() bool {
	return g.Status[ByBytes] != Absent || g.Status[ByRecords] != Absent || g.Status[ByWritten] != Absent
}

// Prior is the prior distribution of a coefficient.
type Prior struct{ Mean, Precision float64 }

// Solve fits the body to the predictors that vary, robustly: weights decrease with the residual (Huber) and with the square of
// the prediction, because the scatter of task times is proportional to them. A coefficient that is not significantly above 0 is
// dropped: more work makes no task faster. known, if not nil, is the factor of each machine by local number.
func (f *Fitter) Solve(known []float64, given Priors) {
	f.machineFactor, f.cpuScatter, f.given, f.shown = known, 0, given, nil
	g := &f.Regression
	n := len(f.Rows)
	f.y, f.slack, f.prediction, f.residual = grow(f.y, n), grow(f.slack, n), grow(f.prediction, n), grow(f.residual, n)
	f.tmp = grow(f.tmp, n)
	for j, i := range f.Rows {
		m := f.factor(i)
		f.y[j], f.slack[j] = f.Body[i]/m, f.Part[GC][i]/m
	}
	copy(f.tmp, f.y)
	f.unit = stats.Median(f.tmp)
	var active [Predictors]Predictor
	k := 0
	for p := Predictor(0); p < Predictors; p++ {
		if g.Status[p] != Insignificant || n < 3 {
			continue
		}
		active[k] = p
		k++
		f.u[p] = grow(f.u[p], n)
		s := f.scale(p)
		f.unitOf[p] = s
		for j, i := range f.Rows {
			f.u[p][j] = (f.X[p][i] - g.Mid[p]) / s
		}
	}
	f.reweigh(active[:k], given)
	f.finish(given.Sigma)
}

// Priors are the priors for a phase.
type Priors struct {
	Work  Prior // elasticity
	Spill Prior // seconds a spilled byte; precision 0: not known
	Sigma Prior // scatter; its precision is its weight in tasks
}

// spillRatio is the prior of spilling if nothing else is known: a spilled byte takes as long as a byte of input, ± 1.5 times
// that.
const spillRatio, spillRatioSD = 1, 1.5

// prior returns the prior of a predictor's coefficient, in the units of the fit.
func (f *Fitter) prior(p Predictor, given *Priors) Prior {
	switch {
	case p <= ByCPU:
		return given.Work
	case p != BySpill:
		return Prior{}
	case given.Spill.Precision > 0:
		s := f.unitOf[p] / f.unit
		return Prior{given.Spill.Mean * s, given.Spill.Precision / (s * s)}
	case f.Regression.Mid[ByBytes] > 0:
		s := f.unitOf[p] / f.Regression.Mid[ByBytes]
		return Prior{spillRatio * s, 1 / stats.Square(spillRatioSD*s)}
	}
	return Prior{}
}

// factor returns the known factor of a task's machine.
func (f *Fitter) factor(i int32) float64 {
	if k := f.Machines.Of[i]; k >= 0 && f.machineFactor != nil {
		return f.machineFactor[k]
	}
	return 1
}

// reweigh runs the rounds of iteratively reweighted least squares and drops predictors without effect, worst first.
func (f *Fitter) reweigh(active []Predictor, given Priors) {
	g := &f.Regression
	var c coefficients
	f.lone = -1
	if f.lone = f.influential(active, &given); f.lone >= 0 {
		f.loneWeight = 0
		c.start(f, active, &given)
		f.loneWeight = f.probabilityOrdinary(&c, active, &given)
	}
	c.start(f, active, &given)
	for {
		f.iterate(&c, active, &given)
		kept := drop(active, c.coef[:], c.se[:])
		if len(kept) == len(active) {
			break
		}
		active = kept
	}
	g.Base = c.base * f.unit
	for i, p := range active {
		s := f.unit / f.unitOf[p]
		g.Status[p], g.Coef[p], g.SE[p] = Used, c.coef[i]*s, c.se[i]*s
	}
	f.residuals(c.base, active, c.coef[:len(active)], true)
}

// coefficients are the unknowns of the fit, in units of base and scale, by position among the active predictors.
type coefficients struct {
	base     float64
	coef, se [Predictors]float64
}

// start sets the coefficients to their priors.
func (c *coefficients) start(f *Fitter, active []Predictor, given *Priors) {
	c.base = 1
	for i, p := range active {
		c.coef[i] = f.prior(p, given).Mean
	}
}

// iterate reweighs the tasks and solves for the coefficients until these settle, and returns the last equations, solved.
func (f *Fitter) iterate(c *coefficients, active []Predictor, given *Priors) (e equations) {
	g := &f.Regression
	for round := range fitRounds {
		f.residuals(c.base, active, c.coef[:len(active)], false)
		if round < 2 {
			g.Sigma = f.scatter(given.Sigma, len(active))
		}
		e = equations{}
		e.collect(f, active)
		for i, p := range active {
			q := f.prior(p, given)
			e.m[i+1][i+1] += q.Precision * g.Sigma * g.Sigma
			e.v[i+1] += q.Precision * g.Sigma * g.Sigma * q.Mean
		}
		prev := c.base
		// the last predictor is collinear with the others; without predictors, the weights are not finite
		if !e.solve(len(active) + 1) {
			if len(active) > 0 {
				c.se[len(active)-1] = math.Inf(1)
			}
			break
		}
		c.base = e.v[0]
		var moved float64
		for i := range active {
			moved = max(moved, math.Abs(c.coef[i]-e.v[i+1]))
			c.coef[i] = e.v[i+1]
			c.se[i] = g.Sigma * math.Sqrt(e.d[i+1])
		}
		if c.base < 0.02 {
			c.base = 0.02
		}
		if max(moved, math.Abs(c.base-prev)) < 1e-3 {
			break
		}
	}
	return e
}

// approxLog approximates ln y/e to a tenth for ratios from ¼ to 4, which suffices for weights and is much faster.
func approxLog(y, e float64) float64 { return (y - e) / math.Sqrt(y*e) }

// drop removes predictors without effect: all those far from significant, or else the least significant one. Of the measures of
// work it removes at most one at a time: where bytes and records grow together each is uncertain given the other, but one of
// them alone is not.
func drop(active []Predictor, coef, se []float64) []Predictor {
	worst, worstWork := math.Inf(1), math.Inf(1)
	for i, p := range active {
		worst = min(worst, coef[i]/se[i])
		if p <= ByCPU {
			worstWork = min(worstWork, coef[i]/se[i])
		}
	}
	if worst > significant {
		return active
	}
	limit := max(worst, significant/2)
	kept := 0
	for i, p := range active {
		if t := coef[i] / se[i]; t > limit || p <= ByCPU && t > worstWork {
			active[kept], coef[kept], se[kept] = p, coef[i], se[i]
			kept++
		}
	}
	return active[:kept]
}

// residuals fills f with the predictions in units of base, and r with ln(y / prediction), exactly or approxLog. A garbage
// collection while the task slept or waited makes its body too small; a residual is 0 as far as that explains it.
func (f *Fitter) residuals(a float64, active []Predictor, coef []float64, exact bool) {
	prediction := f.prediction[:len(f.y)]
	if len(active) == 0 {
		for j := range prediction {
			prediction[j] = a
		}
	}
	for i, p := range active {
		c := coef[i]
		u := f.u[p][:len(prediction)]
		if i == 0 {
			for j, x := range u {
				prediction[j] = a + c*x
			}
			continue
		}
		for j, x := range u {
			prediction[j] += c * x
		}
	}
	least, unit, slack := a/20, f.unit, f.slack[:len(f.y)]
	residual := f.residual[:len(f.y)]
	for j, y := range f.y {
		of := max(prediction[j], least)
		prediction[j] = of
		e := of * unit
		if y < e {
			y = min(e, y+slack[j])
		}
		if exact {
			residual[j] = math.Log(y / e)
		} else {
			residual[j] = approxLog(y, e)
		}
	}
}

// scatter returns the standard deviation of the residuals, from their median absolute deviation, combined with the prior: a few
// tasks that happen to agree are not exact. Where machines have several tasks each, it is computed within machines, because
// differences between machines are not scatter of tasks.
func (f *Fitter) scatter(guess Prior, parameters int) float64 {
	f.tmp = f.tmp[:0]
	for _, r := range f.residual {
		f.tmp = append(f.tmp, math.Abs(r))
	}
	n := float64(max(0, len(f.residual)-1-parameters))
	s := 0.0
	if n > 0 {
		s = stats.MADScale * stats.Median(f.tmp)
	}
	if m := len(f.Machines.Numbers); m > 1 && len(f.residual) >= 3*m {
		left := float64(len(f.residual))
		s = min(s, f.scatterWithin()*math.Sqrt(left/(left-float64(m))))
	}
	return max(sigmaMin, math.Sqrt((guess.Precision*guess.Mean*guess.Mean+n*s*s)/(guess.Precision+n)))
}

// scatterWithin returns the scatter of the residuals around the medians of their machines.
func (f *Fitter) scatterWithin() float64 {
	f.tmp = f.tmp[:0]
	for k := range f.Machines.Numbers {
		from := len(f.tmp)
		for _, i := range f.Machines.Tasks(int32(k)) {
			if j := f.row[i]; j >= 0 {
				f.tmp = append(f.tmp, f.residual[j])
			}
		}
		own := f.tmp[from:]
		if len(own) < 2 { // says nothing about scatter
			f.tmp = f.tmp[:from]
			continue
		}
		m := stats.Median(own)
		for i := range own {
			own[i] = math.Abs(own[i] - m)
		}
	}
	return stats.MADScale * stats.Median(f.tmp)
}

// firstVariance returns the variance that the residuals of the first tasks have besides Sigma²: how long processes load, compile
// and connect differs, most of all where hosts are busy. Its prior is 0, with the weight of sigmaWeight tasks. With few first
// tasks, or few later ones, the two scatters cannot be distinguished.
func (f *Fitter) firstVariance() float64 {
	f.tmp = f.tmp[:0]
	later := 0
	for j, i := range f.Rows {
		switch {
		case f.X[ByFirst][i] == 0:
			later++
		case f.X[ByFirst][i] == 1 && !f.Cold(i):
			f.tmp = append(f.tmp, f.residual[j])
		}
	}
	if len(f.tmp) < support || later < support {
		return 0
	}
	median := stats.Median(f.tmp)
	for k, r := range f.tmp {
		f.tmp[k] = math.Abs(r - median)
	}
	n, own := float64(len(f.tmp)), stats.MADScale*stats.Median(f.tmp)
	return n / (n + sigmaWeight) * max(0, own*own-f.Regression.Sigma*f.Regression.Sigma)
}

// Variance returns the variance of ln(body / prediction) if task i is ordinary.
func (f *Fitter) Variance(i int32) float64 {
	v := f.Regression.Sigma * f.Regression.Sigma
	if f.X[ByFirst][i] == 1 {
		v += f.Regression.First
	}
	return v
}

// finish computes the scatter and the share of variance explained.
func (f *Fitter) finish(sigma Prior) {
	g := &f.Regression
	k := 0
	for _, s := range g.Status {
		if s == Used {
			k++
		}
	}
	g.Sigma = f.scatter(sigma, k)
	g.First = f.firstVariance()
	var mean, total, left float64
	for _, y := range f.y {
		mean += y / float64(len(f.y))
	}
	for j, y := range f.y {
		p := f.prediction[j] * f.unit
		total += (y - mean) * (y - mean)
		left += (y - p) * (y - p)
	}
	if total > 0 && k > 0 {
		g.R2 = max(0, 1-left/total)
	}
}

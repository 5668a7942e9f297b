package fit

import (
	"math"

	"straggler/causes/stats"
)

// StartOrWork is what a phase says about one task that began early, which its executor's start may have slowed, and that also has more
// work than the median: how its time grows with work beside what beginning early adds. Work that varies among the early tasks, or among
// the later ones, tells that; where neither does, the prior is all that is known (MODEL.md, section 3).
type StartOrWork struct {
	Work     Predictor // that it has more of
	Seconds  float64   // what its work adds to the body of the median task
	SD       float64
	Body     float64 // beyond the median task's on a machine like its own, by whichever of the two
	Start    float64 // probability that beginning early took time
	Scatter  float64 // variance of the body by ordinary scatter
	ByPrior  bool    // the prior of work weighs more than all that the phase and its stage say
	Together int     // tasks that began early
}

// StartOrWork looks at task i; ok is false where it did not begin early or has no more work than the median task.
func (f *Fitter) StartOrWork(i int32) (s StartOrWork, ok bool) {
	g := &f.Regression
	j := f.row[i]
	if j < 0 || f.beginning(i) == later || f.beginning(i) == firstOfPhase && g.Mid[ByFirst] > 0 { // as the median task
		return s, false
	}
	p, known := f.workVaries()
	if !known {
		return s, false
	}
	scale, mid := f.scale(p), g.Mid[p]
	u := (f.X[p][i] - mid) / scale
	if u*scale <= spreadMin*mid {
		return s, false
	}
	prior := f.prior(p, &f.given)
	information, value, early := f.withinGroups(p, scale, f.beginning(i))
	s.Together = early
	s2 := g.Sigma * g.Sigma
	precision := information/s2 + prior.Precision
	elasticity := max(0, (value/s2+prior.Precision*prior.Mean)/precision)
	base := g.Base
	s.Work, s.Seconds, s.SD = p, elasticity*u*base, u*base/math.Sqrt(precision)
	s.Body = f.y[j] - base
	s.ByPrior = precision < 2*WorkPrior.Precision
	predicted := base + s.Seconds
	s.Scatter = s2 * predicted * predicted
	// as outliers have it, a start multiplies the body by e^(0 ± the standard deviation of a slow machine); seconds are those at what work predicts
	v := s.Scatter + s.SD*s.SD
	slow := v + SlowMachineVariance*predicted*predicted
	d := s.Body - s.Seconds
	usual, starts := (1-f.SlowStart)*stats.NormalPDF(d, v), f.SlowStart*stats.NormalPDF(d, slow)
	s.Start = starts / (usual + starts)
	return s, true
}

// workVaries is the predictor of work that is used, or else the first that was dropped because nothing but the prior spoke for it.
func (f *Fitter) workVaries() (Predictor, bool) {
	for _, is := range [...]Status{Used, Insignificant} {
		for p := ByBytes; p <= ByCPU; p++ {
			if f.Regression.Status[p] == is && f.Regression.Mid[p] > 0 {
				return p, true
			}
		}
	}
	return 0, false
}

// How a task began.
const (
	later        = iota
	firstOfPhase // of the phase on its machine, on an executor that had run others
	coldStart    // on an executor that had run none
	beginnings
)

func (f *Fitter) beginning(i int32) int {
	switch {
	case f.Cold(i):
		return coldStart
	case f.X[ByFirst][i] == 1:
		return firstOfPhase
	}
	return later
}

// withinGroups is what tasks say about the elasticity of their work when those that began alike have a level of their own: the sums of
// squares and of products about the weighted means (Frisch and Waugh 1933), in units of σ²; and how many began so.
func (f *Fitter) withinGroups(p Predictor, scale float64, so int) (squares, products float64, early int) {
	type group struct{ w, u, y, uu, uy float64 }
	var groups [beginnings]group
	sigma := f.Regression.Sigma
	base := f.Regression.Base
	for j, i := range f.Rows {
		k := f.beginning(i)
		if k == so {
			early++
		}
		prediction := f.prediction[j] * f.unit / base
		w := stats.HuberWeight(f.residual[j]/sigma) / (prediction * prediction)
		u, y := (f.X[p][i]-f.Regression.Mid[p])/scale, f.y[j]/base
		q := &groups[k]
		q.w += w
		q.u += w * u
		q.y += w * y
		q.uu += w * u * u
		q.uy += w * u * y
	}
	for k := range groups {
		if q := &groups[k]; q.w > 0 {
			squares += max(0, q.uu-q.u*q.u/q.w)
			products += q.uy - q.u*q.y/q.w
		}
	}
	return squares, products, early
}

// chance is the probability of an error, on both sides together, up to which figures are said to tell something.
const chance = 0.05

// CannotTell reports whether it is open which of the two took more of the task's time, for all that is known beside the prior.
func (s *StartOrWork) CannotTell() bool {
	if !s.ByPrior || s.Body <= 0 {
		return false
	}
	lead := s.Seconds - (s.Body - s.Seconds) // its sd is 2·SD
	work := 1 - s.Start*(1-normalCDF(lead/math.Sqrt(4*s.SD*s.SD+s.Scatter)))
	return work > chance/2 && work < 1-chance/2
}

// normalCDF is the standard normal distribution function.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

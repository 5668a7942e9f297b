package fit

import (
	"math"

	"straggler/stats"
)

// StartOrWork describes a task that began early, so that the start of its executor may have slowed it, and that also has more
// work than the median: how much of its time is due to its work and how much to beginning early. The two can be separated if
// work varies among the early tasks, or among the later ones; otherwise only the prior is known (MODEL.md, section 3).
type StartOrWork struct {
	Work     Predictor // the measure of work of which it has more
	Seconds  float64   // the effect of its work on the body of the median task
	SD       float64
	Body     float64 // excess over the median task on a machine like its own, by either of the two
	Start    float64 // probability that beginning early took time
	Scatter  float64 // variance of the body by ordinary scatter
	ByPrior  bool    // the prior of work weighs more than the data of the phase and its stage
	Together int     // tasks that began early
}

// StartOrWork examines task i; ok is false if it did not begin early or has no more work than the median task.
func (f *Fitter) StartOrWork(i int32) (s StartOrWork, ok bool) {
	g := &f.Regression
	j := f.row[i]
	if j < 0 || f.beginning(i) == later || f.beginning(i) == firstOfPhase && g.Mid[ByFirst] > 0 { // as the median task
		return s, false
	}
	shown := f.workEvidence()
	if !shown.varies {
		return s, false
	}
	p, scale, mid := shown.by, shown.scale, g.Mid[shown.by]
	u := (f.X[p][i] - mid) / scale
	if u*scale <= spreadMin*mid {
		return s, false
	}
	prior := f.prior(p, &f.given)
	s.Together = shown.began[f.beginning(i)]
	s2 := g.Sigma * g.Sigma
	precision := shown.squares/s2 + prior.Precision
	elasticity := max(0, (shown.products/s2+prior.Precision*prior.Mean)/precision)
	base := g.Base
	s.Work, s.Seconds, s.SD = p, elasticity*u*base, u*base/math.Sqrt(precision)
	s.Body = f.y[j] - base
	s.ByPrior = precision < 2*WorkPrior.Precision
	predicted := base + s.Seconds
	s.Scatter = s2 * predicted * predicted
	// like an outlier, a start multiplies the body by e^(0 ± the standard deviation of a slow machine); seconds are relative to
	// the prediction from work
	v := s.Scatter + s.SD*s.SD
	slow := v + SlowMachineVariance*predicted*predicted
	d := s.Body - s.Seconds
	usual, starts := (1-f.SlowStart)*stats.NormalPDF(d, v), f.SlowStart*stats.NormalPDF(d, slow)
	s.Start = starts / (usual + starts)
	return s, true
}

// workVaries returns the predictor of work in use, or else the first that was dropped for lack of evidence other than the prior.
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

// workEvidence is the evidence of a phase's fitted tasks about the elasticity of work, with a separate level for tasks that
// began alike: the sums of squares and of products about the weighted means (Frisch and Waugh 1933), in units of σ².
type workEvidence struct {
	varies            bool // there is a predictor of work
	by                Predictor
	scale             float64
	squares, products float64
	began             [beginnings]int // tasks that began so
}

// workEvidence returns the evidence about work, computed once per fit, since many tasks of a phase may need it.
func (f *Fitter) workEvidence() *workEvidence {
	if f.shown != nil {
		return f.shown
	}
	f.shown = &workEvidence{}
	s := f.shown
	if s.by, s.varies = f.workVaries(); !s.varies {
		return s
	}
	s.scale = f.scale(s.by)
	type group struct{ w, u, y, uu, uy float64 }
	var groups [beginnings]group
	sigma := f.Regression.Sigma
	base := f.Regression.Base
	for j, i := range f.Rows {
		k := f.beginning(i)
		s.began[k]++
		prediction := f.prediction[j] * f.unit / base
		w := stats.HuberWeight(f.residual[j]/sigma) / (prediction * prediction)
		u, y := (f.X[s.by][i]-f.Regression.Mid[s.by])/s.scale, f.y[j]/base
		q := &groups[k]
		q.w += w
		q.u += w * u
		q.y += w * y
		q.uu += w * u * u
		q.uy += w * u * y
	}
	for k := range groups {
		if q := &groups[k]; q.w > 0 {
			s.squares += max(0, q.uu-q.u*q.u/q.w)
			s.products += q.uy - q.u*q.y/q.w
		}
	}
	return s
}

// chance is the two-sided significance level.
const chance = 0.05

// CannotTell reports whether the data, apart from the prior, leave open which of the two took more of the task's time.
func (s *StartOrWork) CannotTell() bool {
	if !s.ByPrior || s.Body <= 0 {
		return false
	}
	lead := s.Seconds - (s.Body - s.Seconds) // its sd is 2·SD
	work := 1 - s.Start*stats.NormalSurvival(lead/math.Sqrt(4*s.SD*s.SD+s.Scatter))
	return work > chance/2 && work < 1-chance/2
}

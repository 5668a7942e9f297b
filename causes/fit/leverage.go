package fit

import (
	"math"

	"straggler/stats"
)

// The prior probability that a machine is slow, and the variance of its ln(factor) in that case, for durations and for
// processor times.
const SlowMachine, SlowMachineVariance = 0.05, 0.6 * 0.6

// influential returns the row of the task with more information about a coefficient than all others and the prior together (a
// leverage over one half); -1 if there is none. Its residual is no evidence, since the fit follows the task.
func (f *Fitter) influential(active []Predictor, given *Priors) int {
	variance := given.Sigma.Mean * given.Sigma.Mean
	for _, p := range active {
		prior := f.prior(p, given)
		if prior.Precision == 0 { // without a prior it takes several tasks
			continue
		}
		at, most, sum := 0, 0.0, prior.Precision*variance
		for j, u := range f.u[p][:len(f.Rows)] {
			x := u / max(1, 1+prior.Mean*u)
			sum += x * x
			if x*x > most {
				at, most = j, x*x
			}
		}
		if 2*most > sum {
			return at
		}
	}
	return -1
}

// probabilityOrdinary returns the probability that the influential task is an ordinary one, given what the prior and the other
// tasks predict for it; otherwise the task, or its machine, is slow by itself. It is used as the weight of the task.
func (f *Fitter) probabilityOrdinary(c *coefficients, active []Predictor, given *Priors) float64 {
	e := f.iterate(c, active, given)
	j := f.lone
	predicted := c.base
	row := [unknowns]float64{1}
	for i, p := range active {
		row[i+1] = f.u[p][j]
		predicted += max(0, c.coef[i]) * f.u[p][j]
	}
	predicted = max(predicted, c.base/20)
	s2 := f.Regression.Sigma * f.Regression.Sigma
	v := s2 * (1 + e.leverage(&row, len(active)+1)/(predicted*predicted))
	r := math.Log(f.y[j] / (predicted * f.unit))
	m := f.Outliers.Around(v)
	own, ordinary := m.Densities(r)
	own += SlowMachine * stats.NormalPDF(r, v+SlowMachineVariance)
	if q := ordinary / (ordinary + own); q >= 0 {
		return q
	}
	return 0
}

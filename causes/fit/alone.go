package fit

// FitAlone fits a phase by itself, without what is known of machines and of other executions, so that its own part in
// what all phases say can be taken out again. It reports false when nothing can be fitted.
func (f *Fitter) FitAlone(tasks []Task) bool {
	f.CPUFactor = nil
	f.Load(tasks)
	if len(f.Rows) < 2 {
		return false
	}
	f.Survey()
	f.SolveAlone()
	return true
}

// SolveAlone is Solve with the priors of a phase of which nothing is known.
func (f *Fitter) SolveAlone() {
	f.Outliers, f.SlowStart = OutlierPrior, startPrior
	f.Solve(nil, Priors{Work: WorkPrior, Sigma: SigmaPrior})
}

// Elasticity is the fitted one of the phase's work, with its precision; ok where work varies.
func (f *Fitter) Elasticity() (e, precision float64, ok bool) {
	g := &f.Regression
	for p := ByBytes; p <= ByCPU; p++ {
		if g.Status[p] == Used && g.Mid[p] > 0 {
			s := g.Mid[p] / g.Base
			return g.Coef[p] * s, 1 / max(1e-6, g.SE[p]*s*g.SE[p]*s), true
		}
	}
	return 0, 0, false
}

// SpillCost is what a spilled byte took in this phase, with the variance that errors, attempts slow by themselves and
// different disks give it: phases differ by half of it.
func (f *Fitter) SpillCost() (seconds, variance float64, ok bool) {
	g := &f.Regression
	if g.Status[BySpill] != Used {
		return 0, 0, false
	}
	var xx float64
	for _, i := range f.Rows {
		d := f.X[BySpill][i] - g.Mid[BySpill]
		xx += d * d
	}
	c, o := g.Coef[BySpill], &f.Outliers
	return c, g.SE[BySpill]*g.SE[BySpill] + o.Probability*(o.Variance+o.Mean*o.Mean)*g.Base*g.Base/xx + c*c/4, true
}

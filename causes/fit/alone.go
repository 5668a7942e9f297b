package fit

// FitAlone fits a phase without knowledge of machines and of other executions, so that the contribution of the phase to the
// common model can be removed again. It reports false if nothing can be fitted.
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

// SolveAlone is Solve with the priors for a phase about which nothing is known.
func (f *Fitter) SolveAlone() {
	f.Outliers, f.SlowStart = OutlierPrior, startPrior
	f.Solve(nil, Priors{Work: WorkPrior, Sigma: SigmaPrior})
}

// Elasticity returns the fitted elasticity of the phase's work, with its precision; ok if the work varies.
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

// SpillCost returns the time per spilled byte in this phase. Its variance includes estimation errors, outliers and differences
// between disks: phases differ by half of it.
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

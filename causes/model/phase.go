package model

import (
	"math"

	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/stats"
)

// PhaseFit fits one phase given the model of all other phases, as attribution and replays need it. It reuses its memory for the
// next phase and must not be used concurrently.
type PhaseFit struct {
	fit.Fitter

	LogFactor         []float64 // ln(factor) of each machine by its local number, without this phase
	LogFactorVariance []float64
	LogFactorPhases   []int64   // other phases that it is estimated from
	CPUFactorSD       []float64 // standard deviation of ln(CPUFactor); nil if processor time is not used as work
	Usual             float64   // ln(factor) of the median task's machine

	model      *Model
	factors    []float64
	posteriors []posterior // by machine
	tmp        []float64
}

// NewPhaseFit returns a PhaseFit that uses the model.
func (m *Model) NewPhaseFit() *PhaseFit { return &PhaseFit{model: m} }

// Fit fits a phase.
func (f *PhaseFit) Fit(p *fit.Phase) {
	m := f.model
	f.WindowS, f.CPUFactor = m.Machines.WindowS, nil
	f.Load(p.Tasks)
	f.Survey()
	own, surveyed := Stage{}, f.Regression
	alone := len(f.Rows) >= 2 && !f.selfInfluenceNegligible(p)
	if alone {
		f.SolveAlone()
		own = stageOf(&f.Fitter)
	}
	f.LogFactor, f.LogFactorVariance, f.LogFactorPhases, f.factors = f.LogFactor[:0], f.LogFactorVariance[:0], f.LogFactorPhases[:0], f.factors[:0]
	for k := range f.Machines.Numbers {
		w := m.Window(&p.Tasks[f.Machines.Tasks(int32(k))[0]])
		var mean, variance float64
		phases := m.Machines.Of(f.Machines.Numbers[k]).Phases
		if alone {
			var t machines.SufficientStats
			if z, v, n := f.MachineMean(int32(k)); n > 0 {
				t.Add(z, v, n)
			}
			mean, variance = m.Machines.Prior(w, t)
			phases -= t.Phases
		} else {
			c := f.cachedPosterior(w)
			mean, variance = c.mean, c.variance
		}
		f.LogFactor = append(f.LogFactor, mean)
		f.LogFactorVariance = append(f.LogFactorVariance, variance)
		f.LogFactorPhases = append(f.LogFactorPhases, phases)
		f.factors = append(f.factors, math.Exp(mean))
	}
	cpu, sd := f.cpuFactors()
	if f.CPUFactorSD = sd; cpu != nil {
		f.CPUFactor = cpu
		f.Load(p.Tasks)
		f.Survey()
	} else {
		f.Regression = surveyed
	}
	f.Outliers, f.SlowStart = m.Outliers, m.SlowStart
	if len(f.Rows) > 0 {
		f.Solve(f.factors, m.Priors(p.Signature, own))
	}
	f.Usual = f.usualMachine()
}

// Predicted returns the expected body of task i on a machine of factor 1, in seconds: its time without the parts that the log
// measures.
func (f *PhaseFit) Predicted(i int) float64 {
	var x [fit.Predictors]float64
	for k := range x {
		x[k] = f.X[k][i]
	}
	return f.Regression.Predict(&x)
}

// selfInfluenceNegligible reports whether the phase contributes so little to the estimates for its machines and its stage that
// its contribution need not be removed.
func (f *PhaseFit) selfInfluenceNegligible(p *fit.Phase) bool {
	const many = 30
	m := f.model
	if p.Signature != 0 && m.stages[p.Signature].N < many*float64(len(f.Rows)) {
		return false
	}
	for k, machine := range f.Machines.Numbers {
		phases := m.Machines.Of(machine).Phases
		here := f.cachedPosterior(m.Window(&p.Tasks[f.Machines.Tasks(int32(k))[0]])).phases
		if here < many && here != phases || phases < many {
			return false
		}
	}
	return true
}

// posterior is the estimate for a machine in a window of time from all phases.
type posterior struct {
	window         int64
	mean, variance float64
	phases         int64 // that observed it in the window
	ok             bool
}

// cachedPosterior returns the posterior of a machine and caches it for the last window of each machine.
func (f *PhaseFit) cachedPosterior(w machines.Window) posterior {
	for int64(len(f.posteriors)) <= w.Machine {
		f.posteriors = append(f.posteriors, posterior{})
	}
	c := &f.posteriors[w.Machine]
	if !c.ok || c.window != w.Number {
		mean, variance := f.model.Machines.Prior(w, machines.SufficientStats{})
		*c = posterior{w.Number, mean, variance, f.model.Machines.In(w).Phases, true}
	}
	return *c
}

// cpuFactors returns the processor time factors of the phase's machines and the standard deviations of their logarithms; nil if
// bytes or records measure work. The phase itself contributes for machines that ran at least three of its tasks, since the
// median of fewer would be dominated by the task in question.
func (f *PhaseFit) cpuFactors() (out, sd []float64) {
	m := f.model
	f.EachCPU(func(k int32, z, v float64) {
		if out == nil {
			out, sd = make([]float64, len(f.Machines.Numbers)), make([]float64, len(f.Machines.Numbers))
			for i := range out {
				out[i], sd[i] = 1, math.Sqrt(m.cpuPopulation.Variance())
			}
		}
		if machine := f.Machines.Numbers[k]; machine < int64(len(m.CPU)) {
			t := m.CPU[machine]
			if len(f.Machines.Tasks(k)) < 3 {
				own := machines.SufficientStats{}
				own.Add(z, v, 1)
				t = t.Minus(own)
			}
			if t.Phases > 0 {
				z, v, _ := t.Spread()
				mean, variance, _ := m.cpuPopulation.Posterior(z, v)
				out[k], sd[k] = math.Exp(mean), math.Sqrt(variance)
			}
		}
	})
	return out, sd
}

// usualMachine returns the median of ln(factor) over the tasks. Excess is relative to the median task, so machines are too.
func (f *PhaseFit) usualMachine() float64 {
	f.tmp = f.tmp[:0]
	for _, i := range f.Rows {
		if k := f.Machines.Of[i]; k >= 0 {
			f.tmp = append(f.tmp, f.LogFactor[k])
		}
	}
	if len(f.tmp) == 0 {
		return 0
	}
	return stats.Median(f.tmp)
}

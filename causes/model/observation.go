package model

import (
	"math"

	"straggler/causes/fit"
	"straggler/causes/machines"
)

// Observation is the result of fitting one phase alone.
type Observation struct {
	Stage    Stage
	Outliers fit.OutlierCounts
	Starts   fit.StartCounts
	Machines []MachineObservation
}

// MachineObservation is the part of an Observation about one machine.
type MachineObservation struct {
	Window         machines.Window
	Mean, Variance float64 // of ln(factor)
	N              int     // attempts

	CPUKnown             bool    // the phase has no other measure of work than processor time
	CPUMean, CPUVariance float64 // of ln(factor) of processor time
}

// Fitter makes observations of phases. It must not be used concurrently.
type Fitter struct {
	WindowS float64

	fitter fit.Fitter
}

// Fit fits a phase alone and returns its observation; ok is false if nothing can be fitted.
func (f *Fitter) Fit(p *fit.Phase) (o Observation, ok bool) {
	b := &f.fitter
	b.WindowS = f.WindowS
	if !b.FitAlone(p.Tasks) {
		return o, false
	}
	factors := machines.Factors{WindowS: f.WindowS}
	o.Stage = stageOf(b)
	o.Outliers, o.Starts = b.CountOutliers(), b.CountStarts()
	var cpu map[int32]MachineObservation
	b.EachCPU(func(k int32, z, v float64) {
		if cpu == nil {
			cpu = map[int32]MachineObservation{}
		}
		cpu[k] = MachineObservation{CPUKnown: true, CPUMean: z, CPUVariance: v}
	})
	o.Machines = make([]MachineObservation, 0, len(b.Machines.Numbers))
	for k, machine := range b.Machines.Numbers {
		if z, v, n := b.MachineMean(int32(k)); n > 0 {
			s := cpu[int32(k)]
			s.Window = machines.Window{Machine: machine, Number: factors.WindowOf(p.Tasks[b.Machines.Tasks(int32(k))[0]].Start)}
			s.Mean, s.Variance, s.N = z, v, n
			o.Machines = append(o.Machines, s)
		}
	}
	return o, true
}

// stageOf returns the observation of the fitted phase about its stage.
func stageOf(f *fit.Fitter) Stage {
	n := float64(f.Regression.N)
	s := Stage{N: n, LogSigma: n * math.Log(f.Regression.Sigma)}
	if e, precision, ok := f.Elasticity(); ok {
		s.ElasticityW, s.Elasticity = precision, e*precision
	}
	if c, v, ok := f.SpillCost(); ok {
		s.SpillW, s.Spill = 1/v, c/v
	}
	return s
}

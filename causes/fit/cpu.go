package fit

import (
	"math"

	"straggler/stats"
)

// ProcessorTime is the evidence of an attempt's processor time, in addition to its duration: a task that waits for the
// processor, or for something that is not logged, takes longer with the same processor time; in a task that computes more both
// grow (MODEL.md, section 4).
type ProcessorTime struct {
	Residual float64 // ln of the processor time over that expected from its work and from other tasks on its machine
	Variance float64 // of that in ordinary attempts
	Shared   float64 // covariance with the scatter of their durations, since scatter of the work affects both
	Known    bool
}

const (
	cpuTick = 0.01 // s: the resolution of processor times (USER_HZ of Linux)
	cpuMost = 64   // tasks of a machine that are examined
	// sigmaGuess, of the processor time: scatter of ln(processor time) before the phase is seen, worth sigmaWeight tasks
	cpuSigma = 0.12
)

// ProcessorTime returns the evidence for task i, if the log has processor times of most tasks and they are not a predictor of
// the fit.
func (f *Fitter) ProcessorTime(i int32) (p ProcessorTime) {
	if f.row[i] < 0 || !(f.Tasks[i].CPU > 0) || f.Regression.Status[ByCPU] == Used || !(f.Regression.Mid[ByCPU] > 0) {
		return p
	}
	if f.cpuScatter == 0 {
		f.loadCPU()
		f.cpuScatter, f.cpuCorrelation = f.scatterOfCPU()
	}
	own, unsure := f.cpu[f.row[i]], f.cpuUnsure[f.row[i]]
	if math.IsNaN(own) {
		return p
	}
	v := stats.Square(f.cpuScatter) + stats.Square(cpuTick/f.Tasks[i].CPU) + unsure*unsure
	n := 0.0
	if k := f.Machines.Of[i]; k >= 0 {
		var centre float64
		if centre, n = f.cpuOfMachine(k, i); n > 0 {
			own -= centre * SlowMachineVariance / (SlowMachineVariance + v/n)
		}
	}
	return ProcessorTime{Residual: own, Variance: v + 1/(n/v+1/SlowMachineVariance), Shared: f.cpuCorrelation * f.cpuScatter * f.Regression.Sigma, Known: true}
}

// cpuResidual returns ln of the processor time of task i over the phase's median adjusted for its work, or NaN if unknown.
// Spilling, remote reads and being among the first add to the processor time between 0 and what they add to the duration; unsure
// is the standard deviation of that.
func (f *Fitter) cpuResidual(i int32) (c, unsure float64) {
	g := &f.Regression
	cpu := f.Tasks[i].CPU
	if !(cpu > 0) || math.IsInf(cpu, 0) {
		return nan, 0
	}
	work, all := 1.0, 1.0
	for p := range Predictors {
		if g.Status[p] == Used {
			d := g.Coef[p] * (f.X[p][i] - g.Mid[p]) / g.Base
			all += d
			if p <= ByCPU {
				work += d
			}
		}
	}
	work, all = max(work, 0.05), max(all, 0.05)
	half := 0.0
	if all != work {
		half = math.Log(all/work) / 2
	}
	return math.Log(cpu/(g.Mid[ByCPU]*work)) - half, half
}

// loadCPU computes the cpuResidual of each fitted task once for all methods that use them.
func (f *Fitter) loadCPU() {
	f.cpu, f.cpuUnsure = grow(f.cpu, len(f.Rows)), grow(f.cpuUnsure, len(f.Rows))
	for j, i := range f.Rows {
		f.cpu[j], f.cpuUnsure[j] = f.cpuResidual(i)
	}
}

// cpuOfMachine returns the median residual of processor time of the other tasks on machine k, with their number.
func (f *Fitter) cpuOfMachine(k, except int32) (centre, n float64) {
	f.tmp = f.tmp[:0]
	for _, j := range f.Machines.Tasks(k) {
		if j == except || f.row[j] < 0 {
			continue
		}
		if c := f.cpu[f.row[j]]; !math.IsNaN(c) {
			f.tmp = append(f.tmp, c)
		}
		if len(f.tmp) == cpuMost {
			break
		}
	}
	if len(f.tmp) == 0 {
		return 0, 0
	}
	n = float64(len(f.tmp))
	return stats.Median(f.tmp), n
}

// scatterOfCPU returns the standard deviation of the phase's processor times, and their correlation with the residuals, both
// robust (Gnanadesikan and Kettenring 1972): by the scatter of the sum and of the difference of the two, each in its own units.
func (f *Fitter) scatterOfCPU() (sd, correlation float64) {
	about := func(value func(j int, c float64) float64) (sd, n float64) {
		f.tmp = f.tmp[:0]
		for j, c := range f.cpu {
			if !math.IsNaN(c) {
				f.tmp = append(f.tmp, value(j, c))
			}
		}
		m := stats.Median(f.tmp)
		for k, x := range f.tmp {
			f.tmp[k] = math.Abs(x - m)
		}
		return stats.MADScale * stats.Median(f.tmp), float64(len(f.tmp))
	}
	own, n := about(func(_ int, c float64) float64 { return c })
	of, _ := about(func(j int, _ float64) float64 { return f.residual[j] })
	if own > 0 && of > 0 {
		sum, _ := about(func(j int, c float64) float64 { return c/own + f.residual[j]/of })
		difference, _ := about(func(j int, c float64) float64 { return c/own - f.residual[j]/of })
		sum, difference = sum*sum, difference*difference
		correlation = (sum - difference) / (sum + difference) * n / (n + sigmaWeight)
	}
	return math.Sqrt((sigmaWeight*cpuSigma*cpuSigma + n*own*own) / (sigmaWeight + n)), max(0, correlation)
}

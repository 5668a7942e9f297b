package machines

import (
	"math"

	"straggler/causes/fit"
	"straggler/stats"
)

// A process that has just started loads classes, compiles, connects and fills caches: the first tasks of an executor, the cold
// ones, may all be slow, which is no evidence about its machine. The other cold tasks on the machine, its warm tasks, and cold
// tasks elsewhere in the phase distinguish the three hypotheses (MODEL.md, section 5).

const (
	priorStarts  = 1   // weight, in executors of the phase, of the store's share of slow starts
	startDiffers = 0.5 // standard deviation of the effect of a start between its tasks, as a share of the effect
)

// start weighs the hypotheses about the cold tasks of one phase.
type start struct {
	known          bool
	machines, slow float64   // machines with cold tasks, and those where they are slow
	median         []float64 // median residual of the cold tasks, by local number of the machine; NaN: none

	warm, cold, all []float64 // residuals
}

// compare weighs the hypotheses for task i by the other tasks on its machine. The weights sum to 1.
func (s *start) compare(f *fit.Fitter, i int32, known float64, p stats.SpikeSlab) (is, slow, warming Hypothesis) {
	if !s.known {
		s.load(f)
	}
	const sampled = 64 // of either kind
	first := func(r []float64) []float64 { return r[:min(len(r), sampled)] }
	cold := append(s.cold[:0], first(f.ColdResiduals(f.Machines.Of[i], i))...)
	warm := append(s.warm[:0], first(f.MachineResiduals(f.Machines.Of[i], i))...)
	s.cold, s.warm = cold, warm
	all := append(append(s.all[:0], warm...), cold...)
	s.all = all
	n := len(all)

	as, va, l0 := fitLocation(f, all, 0, p.Spike+known)
	at, vt, l1 := 0., p.Slab, 0.
	if n > 0 {
		at, vt, l1 = fitLocation(f, all, stats.HuberMean(all, f.Regression.Sigma), p.Slab)
	}
	usual, vu, lu := fitLocation(f, warm, 0, p.Spike+known)
	for k := range cold {
		cold[k] -= usual
	}
	up, vs, ls := 0., p.Slab, 0.
	if len(cold) > 0 {
		up, vs, ls = fitLocation(f, cold, stats.HuberMean(cold, f.Regression.Sigma), p.Slab)
	}
	vs += stats.Square(startDiffers * up)

	starts := s.prior(f, i)
	logs := [...]float64{math.Log((1-starts)*(1-p.SlabProbability)) + l0, math.Log((1-starts)*p.SlabProbability) + l1, math.Log(starts) + lu + ls}
	top := max(logs[0], logs[1], logs[2])
	sum := 0.0
	for k := range logs {
		logs[k] = math.Exp(logs[k] - top)
		sum += logs[k]
	}
	is = Hypothesis{Mean: as, Variance: va, Weight: logs[0] / sum, N: n}
	slow = Hypothesis{Mean: at, Variance: vt, Weight: logs[1] / sum, N: n}
	return is, slow, Hypothesis{Mean: usual + up, Variance: vu + vs, MachineMean: usual, MachineVariance: vu, Weight: logs[2] / sum, N: len(cold)}
}

// prior returns the probability that the start of task i's executor was slow, given the other machines of the phase.
func (s *start) prior(f *fit.Fitter, i int32) float64 {
	machines, slow := s.machines, s.slow
	if m := s.median[f.Machines.Of[i]]; !math.IsNaN(m) {
		machines--
		if m > fit.OutlierLeast {
			slow--
		}
	}
	return (f.SlowStart*priorStarts + slow) / (priorStarts + machines)
}

// load finds which machines have cold tasks, and where these are slow.
func (s *start) load(f *fit.Fitter) {
	s.known, s.machines, s.slow, s.median = true, 0, 0, s.median[:0]
	for k := range f.Machines.Numbers {
		s.median = append(s.median, math.NaN())
		r := f.ColdResiduals(int32(k), -1)
		if len(r) == 0 {
			continue
		}
		s.median[k] = stats.Median(r)
		s.machines++
		if s.median[k] > fit.OutlierLeast {
			s.slow++
		}
	}
}

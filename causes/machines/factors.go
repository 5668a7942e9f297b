package machines

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"straggler/causes/fit"
	"straggler/schema"
	"straggler/stats"
)

// Priors of ln(factor). Most machines are alike to a few per cent; one in twenty differs by a factor of e^±0.6 or more. That a
// machine changes from one window of time to the next, or is slow in one phase only (a disk, a cache), is rarer still.
var (
	machinePrior = stats.SpikeSlab{Spike: 0.03 * 0.03, Slab: fit.SlowMachineVariance, SlabProbability: fit.SlowMachine}
	WindowPrior  = stats.SpikeSlab{Spike: 0.03 * 0.03, Slab: 0.6 * 0.6, SlabProbability: 0.03}
	PhasePrior   = stats.SpikeSlab{Spike: 0.04 * 0.04, Slab: 0.7 * 0.7, SlabProbability: 0.01}
)

// leastPhases is the number of phases required to judge a machine.
const leastPhases = 3

// Factors are the factors of all machines, by window of time: the time that a machine takes relative to a typical one.
type Factors struct {
	WindowS float64  // length of the windows in which a factor may change; 0: one window
	Names   []string // of the machines, by number; may be missing
	Racks   []string // of the machines, by number; "" unknown; may be missing

	Machines   []SufficientStats // by number
	Windows    map[Window]*SufficientStats
	Population stats.SpikeSlab // how machines of this store differ

	generations
	racks
}

// Window is a machine in a window of time.
type Window struct{ Machine, Number int64 }

// Observe adds the observation of a machine by a phase: ln(factor), its variance, and the number of attempts.
func (m *Factors) Observe(w Window, z, v float64, n int) {
	machine, window := m.at(w)
	machine.Add(z, v, n)
	window.Add(z, v, n)
}

// Merge adds the observations of several phases about a machine in a window.
func (m *Factors) Merge(w Window, t SufficientStats) {
	machine, window := m.at(w)
	machine.Merge(&t)
	window.Merge(&t)
}

// at returns the statistics of a machine in all windows and in one.
func (m *Factors) at(w Window) (machine, window *SufficientStats) {
	for int64(len(m.Machines)) <= w.Machine {
		m.Machines = append(m.Machines, SufficientStats{})
	}
	t := m.Windows[w]
	if t == nil {
		if m.Windows == nil {
			m.Windows = map[Window]*SufficientStats{}
		}
		t = new(SufficientStats)
		m.Windows[w] = t
	}
	return &m.Machines[w.Machine], t
}

// Settle must be called after the last observation: it estimates the variation between machines, and finds generations and
// racks.
func (m *Factors) Settle() {
	m.Population = PopulationOf(m.Machines)
	m.generations = findGenerations(m.Machines)
	m.settleRacks()
}

// PopulationOf returns the distribution of machines of a store: their prior, whose spike has the variance of the population if
// that is larger.
func PopulationOf(machines []SufficientStats) stats.SpikeSlab {
	p := machinePrior
	p.Spike = max(p.Spike, populationVariance(machines))
	return p
}

// populationVariance returns the variance of ln(factor) between machines, beyond the errors of the estimates. It is computed from
// the median absolute deviation, so that it includes generations of hardware but not a few bad machines.
func populationVariance(machines []SufficientStats) float64 {
	var z, v []float64
	for k := range machines {
		if t := &machines[k]; t.Phases >= leastPhases {
			mean, variance := t.mean()
			z, v = append(z, mean), append(v, variance)
		}
	}
	if len(z) < 4 {
		return 0
	}
	at := stats.Median(z)
	for i := range z {
		z[i] = math.Abs(z[i] - at)
	}
	s := stats.MADScale * stats.Median(z)
	return max(0, s*s-stats.Median(v))
}

// Prior returns the distribution of a machine's ln(factor) in a window, given all phases except one, own. The variance is that of
// the factor in a single phase.
func (m *Factors) Prior(w Window, own SufficientStats) (mean, variance float64) {
	if w.Machine < 0 || w.Machine >= int64(len(m.Machines)) {
		return 0, m.Population.Spike
	}
	here := m.In(w)
	elsewhere := m.Machines[w.Machine].Minus(here)
	here = here.Minus(own)
	p := m.Population
	variance = m.Population.Spike
	if elsewhere.Phases > 0 {
		z, v, differ := elsewhere.Spread()
		mean, variance, _ = p.Posterior(z, v)
		variance += differ
		p = WindowPrior
	}
	if here.Phases > 0 {
		z, v, differ := here.Spread()
		d, dv, _ := p.Posterior(z-mean, v)
		return mean + d, dv + differ
	}
	return mean, variance
}

// In returns the observations of a machine in a window of time.
func (m *Factors) In(w Window) SufficientStats {
	if t := m.Windows[w]; t != nil {
		return *t
	}
	return SufficientStats{}
}

// Of returns the observations of a machine in all windows.
func (m *Factors) Of(machine int64) SufficientStats {
	if machine < 0 || machine >= int64(len(m.Machines)) {
		return SufficientStats{}
	}
	return m.Machines[machine]
}

// WindowOf returns the number of the window that contains a time, such as a task's start, or 0 if the time is unknown.
func (m *Factors) WindowOf(t schema.Null[schema.Time]) int64 {
	return fit.WindowOf(t, m.WindowS)
}

// Name returns the name of a machine, or "" if unknown.
func (m *Factors) Name(machine int64) string {
	if machine < 0 || machine >= int64(len(m.Names)) {
		return ""
	}
	return m.Names[machine]
}

// Rack returns the rack of a machine, or "" if unknown.
func (m *Factors) Rack(machine int64) string {
	if machine < 0 || machine >= int64(len(m.Racks)) {
		return ""
	}
	return m.Racks[machine]
}

// SortedWindows returns the keys sorted by machine and time.
func SortedWindows[V any](windows map[Window]V) []Window {
	return slices.SortedFunc(maps.Keys(windows), func(a, b Window) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Number, b.Number))
	})
}

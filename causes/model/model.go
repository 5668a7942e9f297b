package model

import (
	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/schema"
	"straggler/stats"
)

// Model holds the parameters common to the phases of a store (MODEL.md): each machine's factor by window of time, how time
// depends on work in recurring stages, and the distribution of outliers.
type Model struct {
	Machines machines.Factors
	CPU      []machines.SufficientStats // by machine: factors of processor time, where logs have no other measure of work
	Outliers fit.OutlierComponent

	SlowStart     float64         // probability that the cold tasks of an executor are slow
	cpuPopulation stats.SpikeSlab // distribution of the factors of processor time

	stages map[uint64]Stage
	all    Stage
}

// WindowS returns the length, in seconds, of the windows in which a machine's speed may change, for attempts that span a number
// of seconds: an hour, doubled until there are at most 1 000 windows. As a store grows, each length lasts for as long as all
// lengths before it.
func WindowS(spanS float64) float64 {
	const hour, most = 3600, 1000
	length := float64(hour)
	for spanS > most*length {
		length *= 2
	}
	return length
}

// Learner builds a Model from phases, in any order.
type Learner struct {
	model  Model
	counts fit.OutlierCounts
	starts fit.StartCounts
	fitter Fitter
}

// NewLearner takes the length of the windows in which a machine's speed may change (0: one window), and the names and racks of
// the machines by number, which are optional.
func NewLearner(windowS float64, names, racks []string) *Learner {
	return &Learner{model: Model{Machines: machines.Factors{WindowS: windowS, Names: names, Racks: racks}, stages: map[uint64]Stage{}},
		fitter: Fitter{WindowS: windowS}}
}

// Observe fits a phase and adds its observation.
func (l *Learner) Observe(p *fit.Phase) {
	if o, ok := l.fitter.Fit(p); ok {
		l.Add(p.Signature, &o)
	}
}

// Add adds the observation of a phase of a stage. The last bits of the sums depend on the order of the calls.
func (l *Learner) Add(signature uint64, o *Observation) {
	m := &l.model
	m.pool(signature, o.Stage)
	l.counts.Add(o.Outliers)
	l.starts.Add(o.Starts)
	for _, s := range o.Machines {
		m.Machines.Observe(s.Window, s.Mean, s.Variance, s.N)
		for len(m.CPU) < len(m.Machines.Machines) {
			m.CPU = append(m.CPU, machines.SufficientStats{})
		}
		if s.CPUKnown {
			m.CPU[s.Window.Machine].Add(s.CPUMean, s.CPUVariance, 1)
		}
	}
}

// Model returns the result. The Learner must not be used afterwards.
func (l *Learner) Model() *Model {
	m := &l.model
	m.Outliers, m.SlowStart = l.counts.Component(), l.starts.Probability()
	m.Machines.Settle()
	m.cpuPopulation = machines.PopulationOf(m.CPU)
	return m
}

// Window returns the machine of a task and the window of time in which it started.
func (m *Model) Window(t *fit.Task) machines.Window {
	return machines.Window{Machine: t.Machine, Number: m.Machines.WindowOf(t.Start)}
}

// WindowAt returns the window of a machine at a time.
func (m *Model) WindowAt(machine int64, t schema.Time) machines.Window {
	return machines.Window{Machine: machine, Number: m.Machines.WindowOf(schema.Some(t))}
}

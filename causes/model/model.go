package model

import (
	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/causes/stats"
	"straggler/schema"
)

// Model is what the phases of a store say together (MODEL.md): each machine's factor by window of time, how time depends on
// work in stages that are executed again and again, and how attempts are slow by themselves.
type Model struct {
	Machines machines.Factors
	CPU      []machines.SufficientStats // by machine: of processor time, where logs have no other measure of work
	Outliers fit.OutlierComponent

	SlowStart     float64         // probability that the cold tasks of an executor are slow
	cpuPopulation stats.SpikeSlab // how their processor times differ

	stages map[uint64]Stage
	all    Stage
}

// WindowS is how long the windows are in which a machine's speed may change, in seconds, where the attempts span so many: an
// hour, or as many times twice that as it takes for no machine to have more than 1 000 windows. Where a store grows, each
// length stays for as long as all that came before.
func WindowS(spanS float64) float64 {
	const hour, most = 3600, 1000
	length := float64(hour)
	for spanS > most*length {
		length *= 2
	}
	return length
}

// Learner takes phases, in any order, and makes the Model of them.
type Learner struct {
	model  Model
	counts fit.OutlierCounts
	starts fit.StartCounts
	fitter Fitter
}

// NewLearner takes the length of the windows in which a machine's speed may change, 0 = one window, and the names and racks of
// the machines by number, which may be missing.
func NewLearner(windowS float64, names, racks []string) *Learner {
	return &Learner{model: Model{Machines: machines.Factors{WindowS: windowS, Names: names, Racks: racks}, stages: map[uint64]Stage{}},
		fitter: Fitter{WindowS: windowS}}
}

// Observe takes a phase.
func (l *Learner) Observe(p *fit.Phase) {
	if o, ok := l.fitter.Fit(p); ok {
		l.Add(p.Signature, &o)
	}
}

// Add takes what a Fitter found in a phase of a stage. The order of the calls decides the last bits of the sums.
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

// Model is what was learnt. The Learner must not be used afterwards.
func (l *Learner) Model() *Model {
	m := &l.model
	m.Outliers, m.SlowStart = l.counts.Component(), l.starts.Probability()
	m.Machines.Settle()
	m.cpuPopulation = machines.PopulationOf(m.CPU)
	return m
}

// Window is the machine of a task and the window of time in which it started.
func (m *Model) Window(t *fit.Task) machines.Window {
	return machines.Window{Machine: t.Machine, Number: m.Machines.WindowOf(t.Start)}
}

// WindowAt is the window of a machine at a time.
func (m *Model) WindowAt(machine int64, t schema.Time) machines.Window {
	return machines.Window{Machine: machine, Number: m.Machines.WindowOf(schema.Some(t))}
}

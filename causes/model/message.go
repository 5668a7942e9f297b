package model

import (
	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/causes/wire"
)

// Fields implements wire.Message.
func (m *Model) Fields(c *wire.Codec) {
	m.Machines.Fields(c)
	for len(m.CPU) < len(m.Machines.Machines) {
		m.CPU = append(m.CPU, m.Machines.Of(-1))
	}
	for k := range m.CPU {
		m.CPU[k].Fields(c)
	}
	if c.Reading() {
		m.cpuPopulation = machines.PopulationOf(m.CPU)
	}
	c.Float(&m.Outliers.Probability)
	c.Float(&m.Outliers.Mean)
	c.Float(&m.Outliers.Variance)
	c.Float(&m.Outliers.Computing)
	c.Float(&m.SlowStart)
	wire.Map(c, &m.stages, c.Uint64, func(s *Stage) { s.Fields(c) })
	m.all.Fields(c)
}

// Fields implements wire.Message.
func (s *Stage) Fields(c *wire.Codec) {
	for _, x := range [...]*float64{&s.ElasticityW, &s.Elasticity, &s.N, &s.LogSigma, &s.SpillW, &s.Spill} {
		c.Float(x)
	}
}

func countFields(c *wire.Codec, o *fit.OutlierCounts, s *fit.StartCounts) {
	for _, x := range [...]*float64{&o.N, &o.Slow, &o.Sum, &o.Sum2, &o.CPUKnown, &o.Computing, &s.Starts, &s.Slow} {
		c.Float(x)
	}
}

// Fields implements wire.Message.
func (s *Statistics) Fields(c *wire.Codec) {
	wire.Map(c, &s.Stages, c.Uint64, func(t *StageStatistics) {
		t.Stage.Fields(c)
		countFields(c, &t.Outliers, &t.Starts)
	})
	sums := func(t *machines.SufficientStats) { t.Fields(c) }
	wire.MapInOrder(c, &s.Windows, machines.SortedWindows(s.Windows), func(w *machines.Window) { w.Fields(c) }, sums)
	wire.Map(c, &s.CPU, c.Int64, sums)
}

// Fields implements wire.Message.
func (o *Observation) Fields(c *wire.Codec) {
	o.Stage.Fields(c)
	countFields(c, &o.Outliers, &o.Starts)
	wire.Slice(c, &o.Machines, func(m *MachineObservation) {
		m.Window.Fields(c)
		c.Float(&m.Mean)
		c.Float(&m.Variance)
		c.Int(&m.N)
		c.Bool(&m.CPUKnown)
		c.Float(&m.CPUMean)
		c.Float(&m.CPUVariance)
	})
}

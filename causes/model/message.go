package model

import (
	"straggler/causes/machines"
	"straggler/causes/wire"
)

// Fields lists the fields of a message.
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

// Fields lists the fields of a message.
func (s *Stage) Fields(c *wire.Codec) {
	for _, x := range [...]*float64{&s.ElasticityW, &s.Elasticity, &s.N, &s.LogSigma, &s.SpillW, &s.Spill} {
		c.Float(x)
	}
}

// Fields lists the fields of a message.
func (o *Observation) Fields(c *wire.Codec) {
	o.Stage.Fields(c)
	for _, x := range [...]*float64{&o.Outliers.N, &o.Outliers.Slow, &o.Outliers.Sum, &o.Outliers.Sum2,
		&o.Outliers.CPUKnown, &o.Outliers.Computing, &o.Starts.Starts, &o.Starts.Slow} {
		c.Float(x)
	}
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

package synth

import (
	"cmp"
	"fmt"
	"slices"

	"straggler/schema"
)

// machine is one machine and its faults.
type machine struct {
	MachineTruth
	index    int
	rack     int
	platform string
	badUntil int64 // ms; 0 = for good
	random   random
}

// cluster is the machines of a seed; all applications share it.
type cluster struct {
	machines []*machine
	slowRack []float64 // time factor of each rack's uplink
	sources  []int     // machines with a slow uplink
	flaky    Flaky
	replicas int
}

// Machines returns the machines of the options, and their faults.
func Machines(o *Options) []MachineTruth {
	var all []MachineTruth
	for _, m := range newCluster(o).machines {
		all = append(all, m.MachineTruth)
	}
	return all
}

func newCluster(o *Options) *cluster {
	root := random(mix(o.Seed)).of(0)
	c := &cluster{flaky: o.Cluster.Flaky, replicas: o.Cluster.Replicas, slowRack: make([]float64, o.Cluster.Racks)}
	for i := range o.Cluster.Machines {
		rack := i % o.Cluster.Racks
		m := &machine{index: i, rack: rack, random: root.of(i), MachineTruth: MachineTruth{
			Machine: fmt.Sprintf("m%04d", i+1), Rack: fmt.Sprintf("r%02d", rack+1),
			Generation: 1, Factor: 1, Downlink: 1, Uplink: 1,
		}}
		m.generation(o.Cluster.Generations)
		c.machines = append(c.machines, m)
	}
	for i := range c.slowRack {
		c.slowRack[i] = 1
	}
	c.choose(o, root)
	return c
}

// generation draws the machine's hardware; shares that do not sum to 1 leave the rest at factor 1.
func (m *machine) generation(all []Generation) {
	m.platform = "g0"
	u := m.random.uniform(forGeneration)
	for i, g := range all {
		if u < g.Share {
			m.Generation, m.platform = g.Factor, fmt.Sprintf("g%d", i)
			return
		}
		u -= g.Share
	}
	if len(all) > 0 {
		m.platform = fmt.Sprintf("g%d", len(all))
	}
}

// choose assigns faults to machines and racks: different machines for different faults, if there are enough.
func (c *cluster) choose(o *Options, root random) {
	order := slices.Clone(c.machines)
	slices.SortFunc(order, func(a, b *machine) int {
		return cmp.Or(cmp.Compare(a.random.bits(forBad), b.random.bits(forBad)), cmp.Compare(a.index, b.index))
	})
	next := 0
	take := func(n int, give func(*machine)) {
		for range min(n, len(order)) {
			give(order[next%len(order)])
			next++
		}
	}
	take(o.Cluster.Bad.Machines, func(m *machine) {
		m.Factor = m.random.between(forBad, o.Cluster.Bad.Factor)
		if o.Cluster.Bad.UntilS > 0 {
			m.badUntil = ms(o.Start.Add(o.Cluster.Bad.UntilS))
		}
	})
	take(o.Cluster.Flaky.Machines, func(m *machine) {
		m.Flaky, m.Factor = true, m.random.between(forFlaky, o.Cluster.Flaky.Factor)
	})
	net := o.Faults.Network
	take(net.Machines, func(m *machine) { m.Downlink = m.random.between(forNetwork, net.Factor) })
	take(net.Sources, func(m *machine) {
		m.Uplink = m.random.between(forNetwork, net.Factor)
		c.sources = append(c.sources, m.index)
	})
	take(o.Faults.GC.Machines, func(m *machine) { m.GC = true })
	first := root.intn(forNetwork, len(c.slowRack))
	for i := range min(net.Racks, len(c.slowRack)) {
		r := (first + i) % len(c.slowRack)
		c.slowRack[r] = root.of(r).between(forNetwork, net.Factor)
	}
}

// factorAt returns the machine's time factor at an instant, without that of its generation.
func (c *cluster) factorAt(m *machine, at int64) float64 {
	switch {
	case m.Flaky:
		window := int(at / int64(c.flaky.WindowS*1000))
		if !m.random.of(window).chance(forWindow, c.flaky.Share) {
			return 1
		}
	case m.badUntil > 0 && at >= m.badUntil:
		return 1
	}
	return m.Factor
}

// executor is a set of slots on a machine while it exists.
type executor struct {
	id       string
	machine  *machine
	slots    int
	launched int
	warm     bool // an attempt has succeeded on it
	gone     bool
	row      schema.Machine
}

func ms(t schema.Time) int64 { return int64(t) / 1000 }

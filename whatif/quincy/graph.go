package quincy

import (
	"slices"
)

// build makes the nodes of the cluster.
func (s *Scheduler) build(c Cluster) {
	n := s.network
	s.sink, s.cluster = n.AddNode(0), n.AddNode(0)
	s.racks = make([]place, slices.Max(c.Rack)+1)
	s.inRack = make([][]int32, len(s.racks))
	s.machines = make([]place, len(c.Rack))
	s.rackOf, s.slots, s.up = make([]int32, len(c.Rack)), slices.Clone(c.Slots), make([]bool, len(c.Rack))
	inRack := make([]int64, len(s.racks))
	for m, r := range c.Rack {
		s.rackOf[m], s.up[m] = int32(r), true
		s.inRack[r] = append(s.inRack[r], int32(m))
		inRack[r] += int64(c.Slots[m])
		s.usable += c.Slots[m]
	}
	for r := range s.racks {
		s.racks[r].node = n.AddNode(0)
		s.racks[r].in = n.AddArc(s.cluster, s.racks[r].node, inRack[r], 0)
	}
	for m := range s.machines {
		slots := int64(c.Slots[m])
		u := n.AddNode(0)
		s.machines[m] = place{
			node: u,
			in:   n.AddArc(s.racks[c.Rack[m]].node, u, slots, 0),
			out:  n.AddArc(u, s.sink, slots, s.slotCost()),
		}
	}
}

// addUnscheduled gives a job its unscheduled node.
func (s *Scheduler) addUnscheduled(j *job) {
	j.node = s.network.AddNode(0)
	j.toSink = s.network.AddArc(j.node, s.sink, 0, 0)
}

// setUnscheduled bounds how many tasks of a job stay unscheduled (§4.2, appendix): at least so many end at its
// unscheduled node, and so many more may go on to the sink.
func (s *Scheduler) setUnscheduled(j *job, least, more int) {
	s.kept += int64(least) - j.kept
	j.kept = int64(least)
	s.network.SetSupply(j.node, -j.kept)
	s.network.SetCapacity(j.toSink, int64(more))
}

// addTaskNode gives a waiting task its node and edges.
func (s *Scheduler) addTaskNode(b *task) {
	n := s.network
	b.node = n.AddNode(1)
	s.units++
	b.toUnscheduled = n.AddArc(b.node, s.jobs[b.job].node, 1, s.waitCost(b))
	b.toCluster = n.AddArc(b.node, s.cluster, 1, b.input.cluster)
	b.toMachines, b.toRacks = b.toMachines[:0], b.toRacks[:0]
	for _, p := range b.input.racks {
		if s.preferred(&b.input, p.Bytes) {
			a := n.AddArc(b.node, s.racks[p.Where].node, 1, s.rackCost(&b.input, p.Where))
			b.toRacks = append(b.toRacks, edge{a, int32(p.Where)})
		}
	}
	for _, p := range b.input.machines {
		if s.preferred(&b.input, p.Bytes) {
			a := n.AddArc(b.node, s.machines[p.Where].node, 1, s.machineCost(&b.input, p.Where))
			b.toMachines = append(b.toMachines, edge{a, int32(p.Where)})
		}
	}
}

// start puts a waiting task on a machine, in the state and in the network.
func (s *Scheduler) start(b *task, m int32) {
	b.on, b.started = m, s.now
	b.waited += s.now - b.ready
	s.jobs[b.job].running++
	b.extra = true
	for _, e := range b.toMachines {
		if e.where == m {
			b.toOwn, b.extra = e, false
		}
	}
	if b.extra {
		b.toOwn = edge{s.network.AddArc(b.node, s.machines[m].node, 1, s.stayCost(b)), m}
	} else {
		s.network.SetCost(b.toOwn.arc, s.stayCost(b))
	}
	s.network.SetCost(b.toUnscheduled, s.stopCost(b))
	s.unshared = true
}

// stop takes a running task off its machine; it waits again.
func (s *Scheduler) stop(b *task) {
	m := b.on
	b.on, b.ready = waiting, s.now
	s.jobs[b.job].running--
	if b.extra {
		s.network.RemoveArc(b.toOwn.arc)
	} else {
		s.network.SetCost(b.toOwn.arc, s.machineCost(&b.input, int(m)))
	}
	s.network.SetCost(b.toUnscheduled, s.waitCost(b))
	s.unshared = true
}

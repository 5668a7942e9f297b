package quincy

import (
	"slices"

	"straggler/whatif/schedule/mincost"
)

// build creates the nodes of the cluster.
func (s *Scheduler) build(c Cluster) {
	n := s.network
	s.sink, s.cluster = n.AddNode(0), n.AddNode(0)
	s.racks = make([]place, slices.Max(c.Rack)+1)
	s.inRack = make([][]int32, len(s.racks))
	s.machines = make([]place, len(c.Rack))
	s.rackOf, s.slots = make([]int32, len(c.Rack)), slices.Clone(c.Slots)
	s.load, s.capacity = make([]int, len(c.Rack)), make([]int, len(c.Rack))
	for m, r := range c.Rack {
		s.rackOf[m] = int32(r)
		s.inRack[r] = append(s.inRack[r], int32(m))
	}
	// Only machines limit what runs on them: the arcs to racks and machines are unlimited.
	for r := range s.racks {
		s.racks[r].node = n.AddNode(0)
		s.racks[r].in = s.arc(s.cluster, s.racks[r].node, mincost.MaxCapacity, 0, nobody)
	}
	for m, r := range c.Rack {
		u := n.AddNode(0)
		s.machines[m] = place{
			node: u,
			in:   s.arc(s.racks[r].node, u, mincost.MaxCapacity, 0, nobody),
			out:  s.arc(u, s.sink, 0, s.slotCost(), nobody),
		}
		s.resize(m)
	}
}

// nobody owns the arcs that belong to no task.
const nobody = Task(-1)

// arc adds an arc and records its owner.
func (s *Scheduler) arc(from, to mincost.Node, capacity, cost int64, t Task) mincost.Arc {
	a := s.network.AddArc(from, to, capacity, cost)
	for int(a) >= len(s.owner) {
		s.owner = append(s.owner, nobody)
	}
	s.owner[a] = t
	return a
}

// resize updates the capacity of a machine's arc to the sink.
func (s *Scheduler) resize(m int) {
	c := s.slots[m]
	if !s.o.Preempt {
		c = max(c, s.load[m])
	}
	if c != s.capacity[m] {
		s.usable += c - s.capacity[m]
		s.capacity[m] = c
		s.network.SetCapacity(s.machines[m].out, int64(c))
		s.unshared = true
	}
}

// addUnscheduled adds the unscheduled node of a job.
func (s *Scheduler) addUnscheduled(j *job) {
	j.node = s.network.AddNode(0)
	j.toSink = s.arc(j.node, s.sink, 0, 0, nobody)
}

// setUnscheduled bounds how many tasks of a job stay unscheduled (§4.2, appendix): at least the first number of units end at
// its unscheduled node, and at most the second number of further units continue to the sink.
func (s *Scheduler) setUnscheduled(j *job, least, more int) {
	s.kept += int64(least) - j.kept
	j.kept = int64(least)
	s.network.SetSupply(j.node, -j.kept)
	s.network.SetCapacity(j.toSink, int64(more))
}

// addTaskNode adds the node and edges of a waiting task.
func (s *Scheduler) addTaskNode(t Task, b *task) {
	b.node = s.network.AddNode(1)
	s.units++
	b.toUnscheduled = s.arc(b.node, s.jobs[b.job].node, 1, s.waitCost(b), t)
	b.toCluster = s.arc(b.node, s.cluster, 1, b.input.cluster, t)
	b.toMachines, b.toRacks = b.toMachines[:0], b.toRacks[:0]
	for _, p := range b.input.racks {
		if s.preferred(&b.input, p.Bytes) {
			a := s.arc(b.node, s.racks[p.Where].node, 1, s.rackCost(&b.input, p.Where), t)
			b.toRacks = append(b.toRacks, edge{a, int32(p.Where)})
		}
	}
	for _, p := range b.input.machines {
		if s.preferred(&b.input, p.Bytes) {
			a := s.arc(b.node, s.machines[p.Where].node, 1, s.machineCost(&b.input, p.Where), t)
			b.toMachines = append(b.toMachines, edge{a, int32(p.Where)})
		}
	}
}

// start starts a waiting task on a machine, in the state and in the network.
func (s *Scheduler) start(t Task, b *task, m int32) {
	b.on, b.started = m, s.now
	s.load[m]++
	at, _ := slices.BinarySearch(s.on, t)
	s.on = slices.Insert(s.on, at, t)
	s.fresh = append(s.fresh, t)
	b.waited += s.now - b.ready
	s.jobs[b.job].running++
	b.extra = true
	for _, e := range b.toMachines {
		if e.where == m {
			b.toOwn, b.extra = e, false
		}
	}
	if b.extra {
		b.toOwn = edge{s.arc(b.node, s.machines[m].node, 1, s.stayCost(b), t), m}
	} else {
		s.network.SetCost(b.toOwn.arc, s.stayCost(b))
	}
	s.network.SetCost(b.toUnscheduled, s.stopCost(b))
	s.unshared = true
}

// stop removes a running task from its machine; it waits again.
func (s *Scheduler) stop(t Task, b *task) {
	m := b.on
	s.leave(t, b)
	b.on, b.ready = waiting, s.now
	s.fresh = append(s.fresh, t)
	if b.extra {
		s.network.RemoveArc(b.toOwn.arc)
	} else {
		s.network.SetCost(b.toOwn.arc, s.machineCost(&b.input, int(m)))
	}
	s.network.SetCost(b.toUnscheduled, s.waitCost(b))
	s.unshared = true
}

// leave frees a running task's slot.
func (s *Scheduler) leave(t Task, b *task) {
	s.jobs[b.job].running--
	s.load[b.on]--
	at, _ := slices.BinarySearch(s.on, t)
	s.on = slices.Delete(s.on, at, at+1)
	s.resize(int(b.on))
}

package quincy

import "slices"

// queues are the units that pass through the cluster and through each rack.
type queues struct {
	look    []Task // tasks whose edges' flow changed, or that started or stopped since the last decision
	round   uint32
	cluster []Task
	racks   [][]Task
}

// decide derives the changes from the flow and applies them to the state.
//
// A unit that passes through a rack or the cluster has no machine of its own: which of these units takes which machine below
// does not affect the cost, so they take them in order of task and machine. The edge of a running task to its machine is
// cheaper than that path, so only that edge is checked.
func (s *Scheduler) decide() []Change {
	s.changes = s.changes[:0]
	s.gather()
	for _, t := range s.queues.look {
		if b := &s.tasks[t]; b.on >= 0 && s.network.Flow(b.toOwn.arc) == 0 {
			s.changes = append(s.changes, Change{Preempt, t, int(b.on)})
		}
	}
	preempted := len(s.changes)
	s.match()
	for _, c := range s.changes[:preempted] {
		s.stop(c.Task, &s.tasks[c.Task])
	}
	for _, c := range s.changes[preempted:] {
		s.start(c.Task, &s.tasks[c.Task], int32(c.Machine))
	}
	return s.changes
}

// gather lists the tasks that may have moved, in order.
func (s *Scheduler) gather() {
	q := &s.queues
	q.round++
	q.look = q.look[:0]
	for _, t := range s.fresh {
		s.look(t)
	}
	s.fresh = s.fresh[:0]
	for _, a := range s.network.Moved() {
		s.look(s.owner[a])
	}
	slices.Sort(q.look)
}

func (s *Scheduler) look(t Task) {
	if t == nobody {
		return
	}
	if b := &s.tasks[t]; b.on != finished && b.looked != s.queues.round {
		b.looked = s.queues.round
		s.queues.look = append(s.queues.look, t)
	}
}

// match finds machines for the units that have moved, and appends their starts.
func (s *Scheduler) match() {
	q := &s.queues
	q.cluster = q.cluster[:0]
	if q.racks == nil {
		q.racks = make([][]Task, len(s.racks))
	}
	for r := range q.racks {
		q.racks[r] = q.racks[r][:0]
	}
	for _, t := range q.look {
		if b := &s.tasks[t]; s.flows(b) {
			s.route(t, b)
		}
	}
	next := 0
	for r := range s.racks {
		queue := q.racks[r]
		n := int(s.network.Flow(s.racks[r].in))
		queue = append(queue, q.cluster[next:next+n]...)
		next += n
		q.racks[r] = queue
		for _, m := range s.inRack[r] {
			if len(queue) == 0 {
				break
			}
			for n := s.network.Flow(s.machines[m].in); n > 0; n-- {
				s.changes = append(s.changes, Change{Start, queue[0], int(m)})
				queue = queue[1:]
			}
		}
	}
}

// flows reports whether a task is to run on another machine than now, or to start.
func (s *Scheduler) flows(b *task) bool {
	if s.network.Flow(b.toUnscheduled) > 0 {
		return false
	}
	return b.on < 0 || s.network.Flow(b.toOwn.arc) == 0
}

// route finds the edge that carries a task's unit.
func (s *Scheduler) route(t Task, b *task) {
	q := &s.queues
	if s.network.Flow(b.toCluster) > 0 {
		q.cluster = append(q.cluster, t)
		return
	}
	for _, e := range b.toRacks {
		if s.network.Flow(e.arc) > 0 {
			q.racks[e.where] = append(q.racks[e.where], t)
			return
		}
	}
	for _, e := range b.toMachines {
		if s.network.Flow(e.arc) > 0 {
			s.changes = append(s.changes, Change{Start, t, int(e.where)})
			return
		}
	}
	panic("quincy: a task's unit got lost")
}

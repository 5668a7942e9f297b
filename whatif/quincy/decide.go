package quincy

// decide reads the changes off the flow and carries them out in the state.
//
// A unit that goes by a rack or the cluster has no machine of its own: which of the units takes which machine below makes
// no difference to the cost, and they take them in order of task and machine.
func (s *Scheduler) decide() []Change {
	s.changes = s.changes[:0]
	for t := range s.tasks {
		if b := &s.tasks[t]; b.on >= 0 && s.network.Flow(b.toOwn.arc) == 0 {
			s.changes = append(s.changes, Change{Preempt, Task(t), int(b.on)})
		}
	}
	preempted := len(s.changes)
	s.match()
	for _, c := range s.changes[:preempted] {
		s.stop(&s.tasks[c.Task])
	}
	for _, c := range s.changes[preempted:] {
		s.start(&s.tasks[c.Task], int32(c.Machine))
	}
	return s.changes
}

// match finds the machines of units that are not where they were, and appends their starts.
func (s *Scheduler) match() {
	q := &s.queues
	q.reset(len(s.racks))
	for t := range s.tasks {
		if b := &s.tasks[t]; b.on != finished && s.flows(b) {
			s.route(Task(t), b)
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
			for n := s.network.Flow(s.machines[m].in); n > 0; n-- {
				s.changes = append(s.changes, Change{Start, queue[0], int(m)})
				queue = queue[1:]
			}
		}
	}
}

// flows says whether a task is to run, and not where it runs.
func (s *Scheduler) flows(b *task) bool {
	if s.network.Flow(b.toUnscheduled) > 0 {
		return false
	}
	return b.on < 0 || s.network.Flow(b.toOwn.arc) == 0
}

// route finds the edge that a task's unit takes.
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

// queues are the units that go by the cluster and by each rack.
type queues struct {
	cluster []Task
	racks   [][]Task
}

func (q *queues) reset(racks int) {
	q.cluster = q.cluster[:0]
	if q.racks == nil {
		q.racks = make([][]Task, racks)
	}
	for r := range q.racks {
		q.racks[r] = q.racks[r][:0]
	}
}

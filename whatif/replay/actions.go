package replay

import (
	"slices"

	"straggler/whatif/heap"
)

// look calls the policy for phases, in the order of their numbers, and carries out its actions.
func (s *Sim) look(list *[]int32) {
	if len(*list) == 0 {
		return
	}
	phases := *list
	slices.Sort(phases)
	*list = (*list)[:0] // looks are added only for later instants
	for _, i := range phases {
		ph := &s.phases[i]
		ph.looking = false
		s.view.ph = i
		again := s.o.Policy.Look(&s.view, &s.actions)
		ph.looks++
		if s.phaseOver(i) { // for the last time
			ph.memory = nil
			s.keepStarted(ph)
			again = Again{}
		}
		ph.onEnd, ph.onLaunched = again.End, again.Launched
		if again.At > 0 {
			at := max(int64(again.At), soonest(s.now, ph.released, ph.looks))
			if at != ph.lookAt || at <= s.now {
				ph.lookAt = at
				s.timers.push(timerOf(at, look, i))
			}
		}
		s.act(i)
	}
}

// act carries out the actions of the policy for phase i.
func (s *Sim) act(i int32) {
	if len(s.actions.list) > 8 {
		s.touch(i)
	}
	for n := range s.actions.list {
		a := &s.actions.list[n]
		task := s.p.Phases[i].FirstTask + a.task
		switch a.verb {
		case doCopy:
			s.copyNow(s.refOf(i, task), -1)
		case doCopyOn:
			s.copyNow(s.refOf(i, task), a.where)
		case doQueue:
			r := s.refOf(i, task)
			if t := &s.tasks[r.place]; !t.done && !t.over {
				s.enqueue(queued{taskRef: r, first: a.first, fresh: a.fresh})
			}
		case doClone:
			if t := s.task(task); !t.done && !t.over {
				s.enqueueClone(i, task)
			}
		case doWithdraw:
			s.withdraw(func(q queued) bool { return q.task == task && !q.restart })
		case doKill:
			if s.runs(i, a) && s.tasks[s.slots[a.where].place].live > 1 {
				s.kill(a.where)
			}
		case doRestart:
			if s.runs(i, a) {
				s.restart(taskRef{i, task, s.slots[a.where].place}, a.where)
			}
		case doLongestFirst:
			s.longestFirst(i)
		case doAvoid:
			s.avoid(a.where, int64(a.till))
		case doCancelCopies:
			s.cancelCopies(a.where)
		case doRead:
			s.phases[i].reading, s.phases[i].cloned = s.actions.reads[a.where], true
		}
	}
	s.actions.reset()
}

// touch prefetches the state of the tasks of actions. Read in a tight loop, distant memory locations are fetched in parallel;
// later each would be a separate cache miss. Places, from which the rest is found, come first.
func (s *Sim) touch(i int32) {
	read := int32(0)
	for n := range s.actions.list {
		read += s.refOfAction(i, &s.actions.list[n]).place
	}
	s.drawn = s.drawn[:0]
	for n := range s.actions.list {
		r := s.refOfAction(i, &s.actions.list[n])
		w, t := s.workOf(r), &s.tasks[r.place]
		read += t.last + w.ratio + int32(w.bytes)
		if s.p.Phases[i].Ratios > 0 {
			s.drawn = append(s.drawn, s.drawnRatio(r, int32(t.copies)+1, &w))
		}
	}
	for _, k := range s.drawn {
		read += int32(s.p.Ratios[k])
	}
	s.touched = read
}

// refOfAction returns the task of an action, for touch. That of an attempt is found by its slot, which the policy has just read.
func (s *Sim) refOfAction(i int32, a *action) taskRef {
	task := s.p.Phases[i].FirstTask + a.task
	if a.verb == doRestart || a.verb == doKill {
		if sr := &s.slots[a.where]; sr.phase == i {
			return taskRef{i, task, sr.place}
		}
	}
	return s.refOf(i, task)
}

// runs reports whether the attempt of an action still runs.
func (s *Sim) runs(i int32, a *action) bool {
	sr := &s.slots[a.where]
	if sr.at < 0 || sr.phase != i {
		return false
	}
	r := &s.phases[i].running[sr.at]
	return r.Task == a.task && r.Number == a.number
}

// copyNow starts a copy of a running task on a free slot, of one machine or of any on which the task does not run.
func (s *Sim) copyNow(r taskRef, machine int32) {
	t := &s.tasks[r.place]
	if t.done || t.over || t.live == 0 || s.idleIn(s.p.Phases[r.phase].Class) <= 0 {
		return
	}
	if slot := s.slotElsewhere(r, machine, false); slot >= 0 {
		s.copy(r, slot)
	}
}

// slotElsewhere returns a free slot for a copy: on a machine where the task does not run, or never ran (fresh), chosen by the
// task's random number, so that no machine is preferred; -1 if there is none.
func (s *Sim) slotElsewhere(r taskRef, machine int32, fresh bool) int32 {
	var used [8]int32
	on, t := used[:0], &s.tasks[r.place]
	if t.live > 0 {
		for at := t.slot; at >= 0; at = s.slots[at].next {
			on = append(on, s.phases[r.phase].running[s.slots[at].at].Machine)
		}
	} else if t.copies > 0 || t.last >= 0 { // a restart: on another machine
		on = append(on, s.workOf(r).machine)
	}
	if fresh {
		on = s.visited(t, on)
	}
	ok := func(m int32) bool {
		return !slices.Contains(on, m) || len(s.p.Machines) == 1 || s.p.Machines[m].Name == ""
	}
	free := &s.free[s.p.Phases[r.phase].Class]
	if machine >= 0 {
		for _, slot := range s.p.Machines[machine].Slots {
			if free.has(slot) && ok(machine) {
				return slot
			}
		}
		return -1
	}
	bits := s.phases[r.phase].places.draw(s.local(r), int32(t.copies)+1)
	s.out.Drew = true
	first := free.from(int32(below(bits, len(s.p.Slots))))
	for slot := first; slot >= 0; {
		if ok(s.slots[slot].machine) {
			return slot
		}
		if slot = free.from((slot + 1) % int32(len(s.p.Slots))); slot == first {
			break
		}
	}
	return -1
}

// copy starts a copy or restart of a task. It takes the work of the task times a ratio drawn from the other tasks of its
// phase times the factor of its machine.
func (s *Sim) copy(r taskRef, slot int32) {
	i := r.phase
	p, t := &s.p.Phases[i], &s.tasks[r.place]
	t.copies++
	s.out.Jobs[p.Job].Copies++
	s.speculating++
	waits := s.scheduled() && s.phases[i].gates > 0
	if first := t.last; p.Gated > 0 && !waits {
		if first < 0 {
			first = s.firstAttempt(i, r.task)
		}
		waits = s.p.Attempts[first].Gated
	}
	w := s.workOf(r)
	took, curve := s.copyTakes(r, slot, &w)
	if s.phases[i].reading != nil {
		took = s.slowed(i, int32(t.copies), took)
	}
	s.start(i, slot, r.place, took, Running{
		Task: s.local(r), Number: int32(t.copies), Machine: s.slots[slot].machine, curve: curve, Start: Time(s.now + p.CopyLag),
		observed: -1, ok: true, bytes: w.bytes, waits: waits,
	})
}

// firstAttempt returns the launch of a task in the log, or the phase's first launch if it has none.
func (s *Sim) firstAttempt(i, task int32) int32 {
	p, ph := &s.p.Phases[i], &s.phases[i]
	if ph.launches == nil { // indexed by task, since all tasks of a phase may be needed
		ph.launches = slices.Repeat([]int32{p.First}, int(p.Tasks))
		for a := p.First; a < p.First+p.Launches; a++ {
			ph.launches[s.p.Attempts[a].Task-p.FirstTask] = a
		}
	}
	return ph.launches[task-p.FirstTask]
}

// copyTakes draws how long the latest copy of a task takes on a slot, in µs, and the attempt of the log whose reports it follows,
// -1 if none.
func (s *Sim) copyTakes(r taskRef, slot int32, w *work) (took int64, curve int32) {
	p := &s.p.Phases[r.phase]
	s.out.Drew = true
	ratio := float32(1)
	curve = -1
	if p.Ratios > 0 {
		k := s.drawnRatio(r, int32(s.tasks[r.place].copies), w)
		ratio = s.p.Ratios[k]
		if len(s.p.RatioOf) > 0 && len(s.p.Points) > 0 {
			curve = s.curveOf(s.p.RatioOf[k])
		}
	}
	by := float64(w.seconds) * float64(ratio) * float64(s.factorOn(slot, s.now))
	if s.slots[slot].machine != w.machine {
		by *= float64(p.Far)
	}
	return max(int64(by*1e6+0.5), 1), curve
}

// drawnRatio returns the index of the ratio that a copy of a task draws from those of its phase, excluding that of the task
// itself. There must be at least one.
func (s *Sim) drawnRatio(r taskRef, number int32, w *work) int32 {
	p := &s.p.Phases[r.phase]
	others := int(p.Ratios)
	if w.ratio >= 0 {
		others--
	}
	if others == 0 { // alone in its phase: its own ratio
		return p.FirstRatio + w.ratio
	}
	k := int32(below(s.phases[r.phase].ratios.draw(s.local(r), number), others))
	if w.ratio >= 0 && k >= w.ratio {
		k++
	}
	return p.FirstRatio + k
}

// enqueue queues a copy: those with priority come before all others, in the order of arrival.
func (s *Sim) enqueue(q queued) {
	s.queueOf(q.first).push(q)
	s.lined(&q, 1)
	if s.scheduled() && !q.first {
		i := q.phase
		s.sched.tell(Change{CopyQueued, s.p.Phases[i].Job, i, q.task - s.p.Phases[i].FirstTask, -1, -1})
	}
}

// lined counts the copies that wait for slots from the scheduler, by job.
func (s *Sim) lined(q *queued, by int32) {
	if s.scheduled() && !q.first {
		p := &s.p.Phases[q.phase]
		s.sched.jobs[p.Job].copies[p.Class] += by
	}
}

// dequeue starts the copy that has waited longest among those that can start, if any; only copies with priority if firsts is
// set.
func (s *Sim) dequeue(firsts bool) bool {
	line := s.queueOf(firsts)
	for n := line.head; n < len(line.list); n++ {
		q := line.list[n]
		i, t := q.phase, &s.tasks[q.place]
		over := (t.done || t.over) && !q.remake
		if !over && s.idleIn(s.p.Phases[i].Class) <= 0 {
			continue
		}
		slot := int32(-1)
		if !over {
			// no other machine: on any
			if slot = s.slotElsewhere(q.taskRef, -1, q.fresh); slot < 0 && (q.restart || q.remake) {
				slot = s.free[s.p.Phases[i].Class].from(0)
			}
			if slot < 0 {
				continue
			}
		}
		s.unqueue(line, n)
		if q.restart {
			t.pending--
			s.phases[i].waiting--
		}
		if over {
			n = line.head - 1
			continue
		}
		if q.remake {
			s.launchAgain(q.taskRef, slot)
		} else {
			s.copy(q.taskRef, slot)
		}
		return true
	}
	return false
}

// enqueueClone queues a copy right behind its task.
func (s *Sim) enqueueClone(i, task int32) {
	if s.scheduled() {
		s.enqueue(queued{taskRef: s.refOf(i, task)})
		return
	}
	s.clones.Push(head{s.p.Attempts[s.firstAttempt(i, task)].Key, task})
}

func (s *Sim) queueOf(first bool) *queue {
	if first {
		return &s.firsts
	}
	return &s.queue
}

// unqueue removes the copy at a position from a queue.
func (s *Sim) unqueue(line *queue, n int) {
	s.lined(&line.list[n], -1)
	line.remove(n)
}

// restart kills the attempt of a task on a slot and queues a new one with priority.
func (s *Sim) restart(r taskRef, slot int32) {
	s.kill(slot)
	s.tasks[r.place].pending++
	s.phases[r.phase].waiting++
	s.enqueue(queued{taskRef: r, first: true, restart: true})
}

// cancelCopies removes the waiting and running copies of a phase, keeping one attempt of each task.
func (s *Sim) cancelCopies(i int32) {
	p, run := &s.p.Phases[i], &s.phases[i]
	run.reading = nil
	s.withdraw(func(q queued) bool { return q.phase == i && !q.restart })
	for n := 0; n < len(run.running); {
		if r := &run.running[n]; r.observed < 0 && s.task(p.FirstTask+r.Task).live > 1 {
			s.kill(r.slot)
			continue
		}
		n++
	}
}

// withdraw removes waiting copies from their queues.
func (s *Sim) withdraw(which func(queued) bool) {
	for _, line := range []*queue{&s.firsts, &s.queue} {
		rest := line.list[:line.head]
		for _, q := range line.list[line.head:] {
			if !which(q) {
				rest = append(rest, q)
				continue
			}
			s.lined(&q, -1)
		}
		line.list = rest
	}
	var rest heap.Heap[head]
	for _, c := range s.clones {
		if !which(queued{taskRef: s.refOf(s.p.Tasks[c.queue].Phase, c.queue)}) {
			rest.Push(c)
		}
	}
	s.clones = rest
}

// avoid starts no new attempts on a machine for some time.
func (s *Sim) avoid(machine int32, till int64) {
	if till <= s.now {
		return
	}
	if s.avoided == nil {
		s.avoided = make([]int64, len(s.p.Machines))
	}
	others := false
	for m, t := range s.avoided {
		others = others || int32(m) != machine && t <= s.now
	}
	if !others {
		return
	}
	s.avoided[machine] = till
	for _, n := range s.p.Machines[machine].Slots {
		if s.free[s.p.Slots[n].Class].has(n) {
			s.takeFree(n)
		}
	}
	s.timers.push(timerOf(till, machineBack, machine))
	if s.scheduled() {
		s.sched.tell(Change{SlotRemoved, -1, -1, -1, -1, machine})
	}
}

func (s *Sim) machineBack(machine int32) {
	if s.avoided[machine] > s.now {
		return
	}
	if s.scheduled() {
		s.sched.tell(Change{SlotAdded, -1, -1, -1, -1, machine})
	}
	for _, n := range s.p.Machines[machine].Slots {
		if s.slots[n].at < 0 && !s.free[s.p.Slots[n].Class].has(n) {
			s.freeSlot(n)
		}
	}
}

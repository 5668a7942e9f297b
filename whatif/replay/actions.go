package replay

import (
	"math"
	"math/bits"
	"slices"

	"straggler/whatif/heap"
	"straggler/whatif/workload"
)

// look lets the policy look at phases, in order of their number, and does what it asks for.
func (s *Sim) look(list *[]int32) {
	if len(*list) == 0 {
		return
	}
	phases := *list
	slices.Sort(phases)
	*list = (*list)[:0] // looking adds to it only at later instants
	for _, i := range phases {
		ph := &s.phases[i]
		ph.looking = false
		s.view.ph = i
		again := s.o.Policy.Look(&s.view, &s.actions)
		if s.phaseOver(i) { // for the last time
			ph.memory = nil
			s.keepStarted(ph)
			again = Again{}
		}
		ph.onEnd = again.End
		if again.At > 0 {
			at := max(int64(again.At), s.now+1)
			if at != ph.lookAt || at <= s.now {
				ph.lookAt = at
				s.timers.push(timerOf(at, look, i))
			}
		}
		s.act(i)
	}
}

// act does what the policy asked for about phase i.
func (s *Sim) act(i int32) {
	if first := s.p.Phases[i].FirstTask; len(s.actions.list) > 8 {
		for n := range s.actions.list {
			s.touch(first + s.actions.list[n].task)
		}
	}
	for n := range s.actions.list {
		a := &s.actions.list[n]
		task := s.p.Phases[i].FirstTask + a.task
		switch a.verb {
		case doCopy:
			s.copyNow(i, task, -1)
		case doCopyOn:
			s.copyNow(i, task, a.where)
		case doQueue:
			if t := &s.tasks[task]; !t.done && !t.over {
				s.enqueue(queued{task: task, first: a.first, fresh: a.fresh})
			}
		case doClone:
			if t := &s.tasks[task]; !t.done && !t.over {
				s.enqueueClone(i, task)
			}
		case doWithdraw:
			s.withdraw(func(q queued) bool { return q.task == task && !q.restart })
		case doKill:
			if s.runs(i, a) && s.tasks[task].live > 1 {
				s.kill(a.where)
			}
		case doRestart:
			s.restart(i, task, a)
		case doLongestFirst:
			s.longestFirst(i)
		case doAvoid:
			s.avoid(a.where, int64(a.till))
		case doCancelCopies:
			s.cancelCopies(a.where)
		case doRead:
			s.phases[i].reading, s.phases[i].cloned = a.read, true
		}
	}
	s.actions.list = s.actions.list[:0]
}

// touch reads what will be asked of a task soon. Read in a row the tasks of a large phase, which lie far apart where they are not
// launched in the order of the log, come from memory side by side; later each would be waited for.
func (s *Sim) touch(task int32) {
	s.touched += s.tasks[task].last + s.p.Tasks[task].Machine + int32(s.p.Tasks[task].Bytes)
}

// runs is whether the attempt that an action names still runs.
func (s *Sim) runs(i int32, a *action) bool {
	sr := &s.slots[a.where]
	if sr.at < 0 || sr.phase != i {
		return false
	}
	r := &s.phases[i].running[sr.at]
	return r.Task == a.task && r.Number == a.number
}

// copyNow starts a copy of a running task on a free slot, of one machine or of any on which the task does not run.
func (s *Sim) copyNow(i, task, machine int32) {
	t := &s.tasks[task]
	if t.done || t.over || t.live == 0 || s.idleIn(s.p.Phases[i].Class) <= 0 {
		return
	}
	slot := s.slotElsewhere(i, task, machine, false)
	if slot >= 0 {
		s.copy(i, task, slot)
	}
}

// slotElsewhere is a free slot for a copy: on a machine where the task does not run, or never did (fresh), chosen by the
// task's own draw, so that no machine is preferred; -1 when there is none.
func (s *Sim) slotElsewhere(i, task, machine int32, fresh bool) int32 {
	var used [8]int32
	on := used[:0]
	if s.tasks[task].live > 0 {
		for at := s.tasks[task].slot; at >= 0; at = s.slots[at].next {
			on = append(on, s.phases[i].running[s.slots[at].at].Machine)
		}
	} else if s.tasks[task].copies > 0 || s.tasks[task].last >= 0 { // a restart: not where it was
		on = append(on, s.p.Tasks[task].Machine)
	}
	if fresh {
		on = s.visited(task, on)
	}
	ok := func(m int32) bool {
		return len(s.p.Machines) == 1 || s.p.Machines[m].Name == "" || !slices.Contains(on, m)
	}
	free := &s.free[s.p.Phases[i].Class]
	if machine >= 0 {
		for _, slot := range s.p.Machines[machine].Slots {
			if free.has(slot) && ok(machine) {
				return slot
			}
		}
		return -1
	}
	bits := draw(s.o.Seed, s.p.Phases[i].Key, task-s.p.Phases[i].FirstTask, int32(s.tasks[task].copies)+1, drawPlace)
	s.out.Drew = true
	first := free.from(int32(below(bits, len(s.p.Slots))))
	for slot := first; slot >= 0; {
		if ok(s.p.Slots[slot].Machine) {
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
func (s *Sim) copy(i, task, slot int32) {
	p, t := &s.p.Phases[i], &s.tasks[task]
	t.copies++
	m := s.p.Slots[slot].Machine
	local := task - p.FirstTask
	s.out.Jobs[p.Job].Copies++
	s.speculating++
	waits := s.scheduled() && s.phases[i].gates > 0
	if first := t.last; p.Gated > 0 && !waits {
		if first < 0 {
			first = s.firstAttempt(i, task)
		}
		waits = s.p.Attempts[first].Gated
	}
	took, reports := s.copyTakes(i, task, int32(t.copies), m)
	if s.phases[i].reading != nil {
		took = s.slowed(i, int32(t.copies), took)
	}
	s.start(i, slot, Running{
		Task: local, Number: int32(t.copies), Machine: m, Start: Time(s.now + p.CopyLag), observed: -1, ok: true,
		done: took, reports: reports, waits: waits,
	})
}

// firstAttempt is the launch of a task in the log; the phase's first where it has none.
func (s *Sim) firstAttempt(i, task int32) int32 {
	p, ph := &s.p.Phases[i], &s.phases[i]
	if ph.launches == nil { // kept by task: all of a phase may be asked for
		ph.launches = slices.Repeat([]int32{p.First}, int(p.Tasks))
		for a := p.First; a < p.First+p.Launches; a++ {
			ph.launches[s.p.Attempts[a].Task-p.FirstTask] = a
		}
	}
	return ph.launches[task-p.FirstTask]
}

// copyTakes draws how long a copy takes, in µs, and how it makes progress.
func (s *Sim) copyTakes(i, task, number, machine int32) (took int64, reports workload.Curve) {
	p, t := &s.p.Phases[i], &s.p.Tasks[task]
	s.out.Drew = true
	ratio := float32(1)
	if others := int(p.Ratios); others > 0 {
		if t.Ratio >= 0 {
			others--
		}
		k := t.Ratio // alone in its phase: as long as it was
		if others > 0 {
			bits := draw(s.o.Seed, p.Key, task-p.FirstTask, number, drawRatio)
			k = int32(below(bits, others))
			if t.Ratio >= 0 && k >= t.Ratio {
				k++
			}
		}
		ratio = s.p.Ratios[p.FirstRatio+k]
		if len(s.p.RatioOf) > 0 && len(s.p.Points) > 0 {
			reports = s.p.Attempts[s.p.RatioOf[p.FirstRatio+k]].Reports
		}
	}
	by := float64(t.Work) * float64(ratio) * float64(s.p.Machines[machine].At(s.now))
	if machine != t.Machine {
		by *= float64(p.Far)
	}
	return max(int64(by*1e6+0.5), 1), reports
}

// enqueue lets a copy wait: those that go first stand before all others, in the order in which they came.
func (s *Sim) enqueue(q queued) {
	s.queueOf(q.first).push(q)
	s.lined(&q, 1)
	if s.scheduled() && !q.first {
		i := s.p.Tasks[q.task].Phase
		s.sched.tell(Change{CopyCame, s.p.Phases[i].Job, i, q.task - s.p.Phases[i].FirstTask, -1, -1})
	}
}

// lined counts the copies of jobs that wait for what the scheduler gives them.
func (s *Sim) lined(q *queued, by int32) {
	if s.scheduled() && !q.first {
		p := &s.p.Phases[s.p.Tasks[q.task].Phase]
		s.sched.jobs[p.Job].copies[p.Class] += by
	}
}

// dequeue starts the copy that has waited longest of those that can be started, if any; of those that go first only
// where firsts is set.
func (s *Sim) dequeue(firsts bool) bool {
	line := s.queueOf(firsts)
	for n := line.head; n < len(line.list); n++ {
		q := line.list[n]
		t := &s.tasks[q.task]
		i := s.p.Tasks[q.task].Phase
		over := (t.done || t.over) && !q.remake
		if !over && s.idleIn(s.p.Phases[i].Class) <= 0 {
			continue
		}
		slot := int32(-1)
		if !over {
			if slot = s.slotElsewhere(i, q.task, -1, q.fresh); slot < 0 && (q.restart || q.remake) { // no other machine: anywhere
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
			s.launchAgain(i, q.task, slot)
		} else {
			s.copy(i, q.task, slot)
		}
		return true
	}
	return false
}

// enqueueClone lets a copy wait in line with its task.
func (s *Sim) enqueueClone(i, task int32) {
	if s.scheduled() {
		s.enqueue(queued{task: task})
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

// unqueue takes the copy at a position out of a queue.
func (s *Sim) unqueue(line *queue, n int) {
	s.lined(&line.list[n], -1)
	line.remove(n)
}

// restart kills an attempt and queues a new one before everything else.
func (s *Sim) restart(i, task int32, a *action) {
	if !s.runs(i, a) {
		return
	}
	s.kill(a.where)
	t := &s.tasks[task]
	t.pending++
	s.phases[i].waiting++
	s.enqueue(queued{task: task, first: true, restart: true})
}

// cancelCopies ends the copies of a phase that wait or run; one attempt of each task is left.
func (s *Sim) cancelCopies(i int32) {
	p, run := &s.p.Phases[i], &s.phases[i]
	run.reading = nil
	s.withdraw(func(q queued) bool { return s.p.Tasks[q.task].Phase == i && !q.restart })
	for n := 0; n < len(run.running); {
		if r := &run.running[n]; r.observed < 0 && s.tasks[p.FirstTask+r.Task].live > 1 {
			s.kill(r.slot)
			continue
		}
		n++
	}
}

// withdraw takes copies that wait out of their queues.
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
		if !which(queued{task: c.queue}) {
			rest.Push(c)
		}
	}
	s.clones = rest
}

// longestFirst orders the launches of a phase by the data of their tasks, most first; equal ones keep their order.
func (s *Sim) longestFirst(i int32) {
	p, ph := &s.p.Phases[i], &s.phases[i]
	if ph.next > 0 || p.Launches < 2 {
		return
	}
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for a := p.First; a < p.First+p.Launches; a++ {
		bytes := s.p.Tasks[s.p.Attempts[a].Task].Bytes
		least, most = min(least, bytes), max(most, bytes)
	}
	width := bits.Len32(uint32(p.Launches))
	most = min(most, least+1<<(63-width)) // of larger ones, from many terabytes on, the order is that of the log
	s.sizes = s.sizes[:0]                 // a number each, which is faster to sort than the two it is made of
	for a := p.First; a < p.First+p.Launches; a++ {
		bytes := min(s.p.Tasks[s.p.Attempts[a].Task].Bytes, most)
		s.sizes = append(s.sizes, uint64(most-bytes)<<width|uint64(a-p.First))
	}
	s.sizes, s.sorted = bySize(s.sizes, s.sorted, width, bits.Len64(uint64(most-least)))
	ph.order = slices.Grow(ph.order[:0], len(s.sizes))
	for _, x := range s.sizes {
		ph.order = append(ph.order, p.First+int32(x&(1<<width-1)))
	}
}

// bySize sorts numbers by the size above their lowest bits, by which they are in order already; it gives the two lists, the sorted one
// first. Many are sorted by eleven bits of the size after the other, which takes as many passes and no comparisons.
func bySize(list, other []uint64, low, size int) (sorted, spare []uint64) {
	const digit = 11
	if len(list) < 1<<digit {
		slices.Sort(list)
		return list, other
	}
	other = resize(other, len(list))
	for ; size > 0; size -= digit {
		var from [1<<digit + 1]int32
		for _, x := range list {
			from[x>>low&(1<<digit-1)+1]++
		}
		for d := range 1 << digit {
			from[d+1] += from[d]
		}
		for _, x := range list {
			d := x >> low & (1<<digit - 1)
			other[from[d]] = x
			from[d]++
		}
		list, other, low = other, list, low+digit
	}
	return list, other
}

// avoid keeps new attempts off a machine for a while.
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
		s.sched.tell(Change{SlotWent, -1, -1, -1, -1, machine})
	}
}

func (s *Sim) machineBack(machine int32) {
	if s.avoided[machine] > s.now {
		return
	}
	if s.scheduled() {
		s.sched.tell(Change{SlotCame, -1, -1, -1, -1, machine})
	}
	for _, n := range s.p.Machines[machine].Slots {
		if s.slots[n].at < 0 && !s.free[s.p.Slots[n].Class].has(n) {
			s.freeSlot(n)
		}
	}
}

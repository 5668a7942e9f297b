package replay

import "straggler/whatif/workload"

// idle returns how many more attempts could run now if all slots are alike, idleIn the same for a class of slots.
func (s *Sim) idle() int                       { return min(s.free[0].n, s.p.Limit-s.busy) }
func (s *Sim) idleIn(class workload.Class) int { return min(s.free[class].n, s.p.Limit-s.busy) }

// heldHead is the head of a queue whose observed wait is not over.
type heldHead struct {
	held, queue, attempt int32 // held: how many idle slots it leaves unused
	key                  int64
}

// Before orders heads by how many idle slots they leave unused.
func (h heldHead) Before(g heldHead) bool {
	if h.held != g.held {
		return h.held < g.held
	}
	return h.key < g.key || h.key == g.key && h.queue < g.queue
}

func (s *Sim) queueRun(queue int32) *queueRun {
	if queue >= 0 {
		return &s.phases[queue].queueRun
	}
	return &s.solo[s.p.Attempts[-1-queue].Solo]
}

// nextHead puts the next launch of a phase at the head of its queue.
func (s *Sim) nextHead(i int32) {
	p, ph := &s.p.Phases[i], &s.phases[i]
	ph.head = -1
	for ph.next < p.Launches {
		a := p.First + ph.next
		if s.tasks[s.nextPlace(i)].done { // a clone finished before its start
			ph.next++
			ph.waiting--
			continue
		}
		s.setHead(i, a)
		if own := s.nextSlot(i); own >= 0 && int(own) < len(s.p.Slots) {
			s.touched = s.slots[own].machine // prefetched for claim
		}
		return
	}
}

func (s *Sim) setHead(queue, a int32) {
	at, q := &s.p.Attempts[a], s.queueRun(queue)
	q.head = a
	switch {
	case at.Wait == 0:
		q.place = inReady
	case at.Held == 0:
		q.place = inSoon
	default:
		q.place, q.until = inHeld, s.now+at.Wait
		s.timers.push(timerOf(q.until, waitOver, queue))
	}
	s.line(queue, q)
}

// line adds the head of a queue to the set in which it waits for a slot.
func (s *Sim) line(queue int32, q *queueRun) {
	at := &s.p.Attempts[q.head]
	switch q.place {
	case inReady:
		s.ready.Push(head{at.Key, queue})
	case inSoon:
		s.soon.Push(head{at.Key, queue})
	case inHeld:
		s.held.Push(heldHead{at.Held, queue, q.head, at.Key})
	}
}

func (s *Sim) waitOver(queue int32) {
	if q := s.queueRun(queue); q.head >= 0 && q.place == inHeld && q.until == s.now {
		q.place = inReady
		if !q.parked {
			s.line(queue, q)
		}
	}
}

// park removes the head of a queue while its job runs as many tasks as its observed maximum.
func (s *Sim) park(queue int32, q *queueRun) bool {
	i := queue
	if queue < 0 {
		i = s.p.Tasks[s.p.Attempts[q.head].Task].Phase
	}
	j := s.p.Phases[i].Job
	if s.jobs[j].busy < s.p.Jobs[j].Limit {
		return false
	}
	q.parked = true
	s.jobs[j].parked = append(s.jobs[j].parked, queue)
	return true
}

// unpark adds the heads of a job's queues again.
func (s *Sim) unpark(job *jobRun) {
	for _, queue := range job.parked {
		q := s.queueRun(queue)
		q.parked = false
		s.line(queue, q)
	}
	job.parked = job.parked[:0]
}

// soloReady queues a retry, a recomputation or a copy of the log.
func (s *Sim) soloReady(a int32) {
	at := &s.p.Attempts[a]
	t := s.task(at.Task)
	t.pending--
	if t.done || t.over {
		return
	}
	if int(at.Slot) >= len(s.p.Slots) {
		s.launchLogged(a, at.Slot, at.Lag)
		return
	}
	t.pending++
	if s.scheduled() {
		s.taskWaits(a)
		return
	}
	s.phases[s.p.Tasks[at.Task].Phase].waiting++
	s.setHead(-1-a, a)
}

// dispatch assigns idle slots to waiting attempts: restarts and copies with priority, then tasks in the observed order, then
// other copies. A task that takes an idle slot before its observed wait is over comes last, at the end of the instant: in the
// log it left slots unused that others took in the same instant.
func (s *Sim) dispatch() {
	if s.scheduled() {
		s.assign()
		return
	}
	for s.idle() > 0 {
		switch {
		case s.dequeue(true):
		case s.cloneFirst():
		case len(s.ready) > 0:
			s.claim(s.ready.Pop().queue)
		case s.pending():
			return
		case len(s.soon) > 0:
			s.claim(s.soon.Pop().queue)
		case s.claimHeld():
		case s.dequeue(false):
		default:
			return
		}
	}
}

// cloneFirst starts the next clone, if no waiting task precedes it: clones are queued together with their tasks.
func (s *Sim) cloneFirst() bool {
	for len(s.clones) > 0 {
		c := s.clones[0]
		i := s.p.Tasks[c.queue].Phase
		if len(s.ready) > 0 && !(head{c.key, i}).Before(s.ready[0]) {
			return false
		}
		r := s.refOf(i, c.queue)
		if t := &s.tasks[r.place]; !t.done && !t.over {
			slot := s.slotElsewhere(r, -1, false)
			if slot < 0 {
				return false
			}
			s.clones.Pop()
			s.copy(r, slot)
			return true
		}
		s.clones.Pop()
	}
	return false
}

// pending reports whether there are more events at this instant.
func (s *Sim) pending() bool {
	return s.tree.next() == s.now || len(s.timers) > 0 && s.timers[0].at == s.now
}

// claimHeld serves a head whose wait is not over when more slots are idle than it ever left unused.
func (s *Sim) claimHeld() bool {
	for len(s.held) > 0 {
		h := s.held[0]
		if q := s.queueRun(h.queue); q.place != inHeld || q.parked || q.head != h.attempt {
			s.held.Pop()
			continue
		}
		if s.idle() <= int(h.held) {
			return false
		}
		s.held.Pop()
		s.claim(h.queue)
		return true
	}
	return false
}

// claim assigns an idle slot to the head of a queue: its observed one, if that is free.
func (s *Sim) claim(queue int32) {
	q := s.queueRun(queue)
	if s.park(queue, q) {
		return
	}
	a := q.head
	q.head = -1
	if queue >= 0 {
		ph := &s.phases[queue]
		x, place := s.nextTurn(queue), s.nextPlace(queue)
		ph.next++
		ph.waiting--
		if !s.tasks[place].done {
			s.launch(queue, place, x, s.slotFor(x.slot), s.p.Attempts[a].Lag)
		}
		s.nextHead(queue)
		return
	}
	t := s.task(s.p.Attempts[a].Task)
	t.pending--
	s.phases[s.p.Tasks[s.p.Attempts[a].Task].Phase].waiting--
	if !t.done && !t.over {
		s.launchLogged(a, s.slotFor(s.p.Attempts[a].Slot), s.p.Attempts[a].Lag)
	}
}

// slotFor returns the slot that an attempt had in the log, else another of its executor, else the next free one.
func (s *Sim) slotFor(own int32) int32 {
	if s.free[0].has(own) {
		return own
	}
	return s.free[0].from(s.slots[own].executor) // the slots of an executor are adjacent, and its number is that of the first
}

// launchLogged starts an attempt of the log on a slot.
func (s *Sim) launchLogged(a, slot int32, lag int64) {
	var x turn
	s.turnOf(a, &x)
	s.launch(s.p.Tasks[x.task].Phase, s.place(x.task), &x, slot, lag)
}

// launch starts an attempt of the log on a slot, with the lag of the current launch.
func (s *Sim) launch(i, place int32, x *turn, slot int32, lag int64) {
	dur, m := x.dur, x.machine
	p := &s.p.Phases[i]
	t := &s.tasks[place]
	if int(slot) < len(s.p.Slots) {
		now := s.slots[slot].machine
		switch {
		case s.o.Took != nil:
		case x.slot < 0: // planned on a normal machine
			dur = scale(dur, s.factorOn(slot, s.now))
		case slot != x.slot && int(x.slot) < len(s.p.Slots):
			if s.slots[x.slot].machine != now {
				dur = scale(dur, s.factorOn(slot, s.now)/s.factorOn(x.slot, x.key))
			}
		}
		m = now
		if s.scheduled() && !s.staged() {
			dur = s.reads(x.task, m, dur)
		}
	}
	if s.phases[i].reading != nil {
		dur = s.slowed(i, 0, dur)
	}
	t.last, t.again = x.attempt, x.again
	if int(slot) < len(s.p.Slots) {
		s.jobs[p.Job].busy++
	}
	start := s.now + lag
	s.start(i, slot, place, dur, Running{
		Task: x.task - p.FirstTask, Number: 0, Machine: m, curve: x.curve, Start: Time(start), observed: x.attempt, bytes: x.bytes, ok: x.ok,
		waits: x.gated || s.scheduled() && s.phases[i].gates > 0,
	})
	if x.forks && !t.preempted {
		fork := s.p.Attempts[x.attempt].Fork
		t.pending++
		s.timers.push(timerOf(max(start+s.p.Attempts[fork].Ready, s.now), attemptReady, fork))
	}
}

// start starts an attempt of the task at a place, which takes took µs.
func (s *Sim) start(i, slot, place int32, took int64, r Running) {
	s.out.Events++
	ph := &s.phases[i]
	r.slot, r.noise = slot, nan32
	if int(slot) < len(s.p.Slots) {
		s.takeFree(slot)
		s.busy++
		if s.scheduled() {
			s.tellStart(i, &r)
		}
	}
	switch {
	case s.staged():
		s.takes[slot] = took
		s.begin(i, slot, &r)
	case !r.waits:
		s.tree.set(slot, max(int64(r.Start)+took, s.now))
	case s.phases[i].gates > 0:
		s.takes[slot] = took
		s.tree.set(slot, workload.Forever)
	default: // its parents ended, possibly just after its start
		r.waits = false
		s.tree.set(slot, max(max(int64(r.Start), s.phases[i].opened)+took, s.now))
	}
	if n := len(s.spare) - 1; ph.running == nil && n >= 0 {
		ph.running, s.spare = s.spare[n], s.spare[:n]
	}
	t, sr := &s.tasks[place], &s.slots[slot]
	sr.phase, sr.at, sr.next, sr.place = i, int32(len(ph.running)), t.slot, place
	t.slot = slot
	t.live++
	r.copies = t.live
	ph.running = append(ph.running, r)
	if t.live > 1 {
		s.countCopies(i, t)
	}
	if s.o.Policy != nil {
		if n := len(s.spareTasks) - 1; ph.started == nil && n >= 0 {
			ph.started, s.spareTasks = s.spareTasks[n], s.spareTasks[:n]
		}
		ph.started = append(ph.started, r.Task)
		if t.live > 1 {
			ph.joined = append(ph.joined, r.Task)
		}
		if ph.onLaunched && ph.waiting == 0 && !ph.looking {
			ph.looking = true
			s.due = append(s.due, i)
		}
	}
	if r.waits && s.staged() {
		s.fetchMore(slot)
	}
}

// takeFree removes a slot from the free ones.
func (s *Sim) takeFree(slot int32) {
	c := s.slots[slot].class
	s.free[c].remove(slot)
	if s.scheduled() {
		s.sched.freeOn[c][s.slots[slot].machine]--
	}
}

func scale(t int64, by float32) int64 { return int64(float64(t)*float64(by) + 0.5) }

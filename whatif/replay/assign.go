package replay

import (
	"slices"

	"straggler/whatif/workload"
)

// schedRun is the state of a replay under a Scheduler.
type schedRun struct {
	view     Cluster
	changes  []Change
	wake     int64   // the instant last requested
	due      bool    // a requested instant has come
	sampling bool    // Sample is to be called at the end of the instant
	active   []int32 // jobs
	jobs     []jobSched
	first    []int32 // by task: the attempt of the log that waits, -1 none
	after    []int32 // by attempt: the next that waits for the same task, -1 none
	phases   []phaseSched
	cursors  []int32 // by entry of the pool's index of inputs
	slots    [workload.Classes]int
	slotsOn  [workload.Classes][]int32 // by machine
	freeOn   [workload.Classes][]int32
}

// phaseSched holds what a scheduler may start of a phase.
type phaseSched struct {
	waiting int32
	again   []int32 // requeued tasks, the last first
}

// jobSched is the state of a job for a scheduler.
type jobSched struct {
	phases  []int32
	waiting [workload.Classes]int32
	running [workload.Classes]int32
	copies  [workload.Classes]int32 // that wait
}

func (s *Sim) scheduled() bool { return s.o.Scheduler != nil }

// resetSched prepares a replay under a scheduler; the slots have been reset before.
func (s *Sim) resetSched() {
	r, p := &s.sched, s.p
	r.view.s, r.wake, r.due, r.sampling = s, 0, false, false
	r.changes, r.active = r.changes[:0], r.active[:0]
	r.jobs = resize(r.jobs, len(p.Jobs))
	for j := range r.jobs {
		r.jobs[j] = jobSched{phases: r.jobs[j].phases[:0]}
	}
	r.first, r.after = resize(r.first, len(p.Tasks)), resize(r.after, len(p.Attempts))
	for n := range r.first {
		r.first[n] = -1
	}
	for n := range r.after {
		r.after[n] = -1
	}
	r.phases = resize(r.phases, len(p.Phases))
	for n := range r.phases {
		r.phases[n] = phaseSched{again: r.phases[n].again[:0]}
	}
	if p.Index(); p.Inputs != nil {
		r.cursors = append(r.cursors[:0], p.Inputs.From...)
	}
	for c := range workload.Classes {
		r.slots[c] = 0
		r.slotsOn[c], r.freeOn[c] = resize(r.slotsOn[c], len(p.Machines)), resize(r.freeOn[c], len(p.Machines))
		clear(r.slotsOn[c])
		clear(r.freeOn[c])
	}
	for n := range p.Slots {
		if c, m := p.Slots[n].Class, p.Slots[n].Machine; s.free[c].has(int32(n)) {
			r.slots[c]++
			r.slotsOn[c][m]++
			r.freeOn[c][m]++
		}
	}
}

func (r *schedRun) tell(c Change) { r.changes = append(r.changes, c) }

// assign serves restarts first, then calls the scheduler, then serves the remaining copies.
func (s *Sim) assign() {
	for s.dequeue(true) || s.makeRoom() {
	}
	r := &s.sched
	if len(r.changes) > 0 || r.due {
		r.due = false
		again := s.o.Scheduler.Assign(&r.view)
		r.changes = r.changes[:0]
		if at := max(int64(again), s.now+1); again > 0 && at != r.wake {
			r.wake = at
			s.timers.push(timerOf(at, scheduler, 0))
		}
	}
	for s.dequeue(false) {
	}
}

// phaseWaits queues the tasks of a released phase.
func (s *Sim) phaseWaits(i int32) {
	p, r := &s.p.Phases[i], &s.sched
	for a := p.First; a < p.First+p.Launches; a++ {
		r.first[s.p.Attempts[a].Task] = a
	}
	r.jobs[p.Job].phases = append(r.jobs[p.Job].phases, i)
	r.jobs[p.Job].waiting[p.Class] += p.Launches
	r.phases[i].waiting = p.Launches
	r.tell(Change{PhaseReleased, p.Job, i, -1, -1, -1})
}

// taskWaits queues an attempt of the log, before those of its task that wait already.
func (s *Sim) taskWaits(a int32) {
	task := s.p.Attempts[a].Task
	i := s.p.Tasks[task].Phase
	p, r := &s.p.Phases[i], &s.sched
	r.after[a], r.first[task] = r.first[task], a
	r.phases[i].again = append(r.phases[i].again, task-p.FirstTask)
	r.phases[i].waiting++
	s.phases[i].waiting++
	r.jobs[p.Job].waiting[p.Class]++
	for e, till := s.p.Inputs.Entries(i); e < till; e++ {
		r.cursors[e] = s.p.Inputs.From[e]
	}
	r.tell(Change{TaskQueued, p.Job, i, task - p.FirstTask, -1, -1})
}

// unwait removes and returns the first waiting attempt of a task; -1 if none waits.
func (s *Sim) unwait(i, task int32) int32 {
	r, p := &s.sched, &s.p.Phases[i]
	a := r.first[task]
	if a < 0 {
		return -1
	}
	r.first[task], r.after[a] = r.after[a], -1
	s.phases[i].waiting--
	r.phases[i].waiting--
	r.jobs[p.Job].waiting[p.Class]--
	if s.p.Attempts[a].Solo >= 0 {
		s.task(task).pending--
	}
	return a
}

// stopWaiting removes the waiting attempts of a task that is done.
func (s *Sim) stopWaiting(i, task int32) {
	p := &s.p.Phases[i]
	for s.unwait(i, task) >= 0 {
		s.sched.tell(Change{TaskDequeued, p.Job, i, task - p.FirstTask, -1, -1})
	}
}

// nextWaiting returns the next waiting task of a phase, requeued tasks first; -1 if none waits.
func (s *Sim) nextWaiting(i int32) int32 {
	p, ph, r := &s.p.Phases[i], &s.phases[i], &s.sched
	q := &r.phases[i]
	if q.waiting <= 0 {
		return -1
	}
	for n := len(q.again) - 1; n >= 0; n-- {
		if t := q.again[n]; r.first[p.FirstTask+t] >= 0 {
			return t
		}
		q.again = q.again[:n]
	}
	for ; ph.next < p.Launches; ph.next++ {
		if t := s.nextTask(i); r.first[t] >= 0 {
			return t - p.FirstTask
		}
	}
	return -1
}

// startTask starts the attempt of a task that waits on a free slot of a machine.
func (s *Sim) startTask(i, task, machine int32) bool {
	p := &s.p.Phases[i]
	if s.idleIn(p.Class) <= 0 || s.sched.freeOn[p.Class][machine] <= 0 || s.atLimit(i) || !s.hasRoom(i, machine) {
		return false
	}
	a := s.unwait(i, p.FirstTask+task)
	if a < 0 {
		return false
	}
	s.launchLogged(a, s.freeSlotOf(machine, p.Class), p.CopyLag)
	return true
}

// startCopy starts on a machine the copy of a job that has waited longest of those that may run there.
func (s *Sim) startCopy(job, machine int32, class workload.Class) bool {
	if s.sched.jobs[job].copies[class] <= 0 || s.idleIn(class) <= 0 || s.sched.freeOn[class][machine] <= 0 {
		return false
	}
	for n := s.queue.head; n < len(s.queue.list); n++ {
		q := s.queue.list[n]
		i := q.phase
		if p := &s.p.Phases[i]; p.Job != job || p.Class != class {
			continue
		}
		if t := &s.tasks[q.place]; t.done || t.over {
			s.unqueue(&s.queue, n)
			continue
		}
		if slot := s.slotElsewhere(q.taskRef, machine, q.fresh); slot >= 0 && s.hasRoom(i, machine) {
			s.unqueue(&s.queue, n)
			s.copy(q.taskRef, slot)
			return true
		}
	}
	return false
}

// freeSlotOf returns a free slot of a machine that has one.
func (s *Sim) freeSlotOf(machine int32, class workload.Class) int32 {
	for _, n := range s.p.Machines[machine].Slots {
		if s.free[class].has(n) {
			return n
		}
	}
	return -1
}

// preempt kills an attempt for the scheduler. Its task waits again, as if never started (FAIR §3.2), unless another attempt
// of it runs.
func (s *Sim) preempt(i int32, a Running) bool {
	if int(a.slot) >= len(s.p.Slots) || !s.runs(i, &action{task: a.Task, where: a.slot, number: a.Number}) {
		return false
	}
	task := s.p.Phases[i].FirstTask + a.Task
	t := s.task(task)
	s.kill(a.slot)
	t.preempted = true
	switch {
	case t.live > 0 || t.pending > 0 || s.sched.first[task] >= 0:
	case a.observed >= 0:
		if s.p.Attempts[a.observed].Solo >= 0 {
			t.pending++
		}
		s.taskWaits(a.observed)
	default: // a restart of a policy
		t.pending++
		s.phases[i].waiting++
		s.enqueue(queued{taskRef: s.refOf(i, task), first: true, restart: true})
	}
	return true
}

// atLimit reports whether the job of a phase runs as many tasks as it may. Limits of a log do not apply: they were those of its
// own scheduler.
func (s *Sim) atLimit(i int32) bool {
	j := s.p.Phases[i].Job
	return s.staged() && s.jobs[j].busy >= s.p.Jobs[j].Limit
}

// hasRoom reports whether a machine would accept another attempt of a phase, apart from its slots.
func (s *Sim) hasRoom(i, machine int32) bool {
	most := s.p.Machines[machine].Computing
	if most == 0 || s.p.Phases[i].Class != workload.ReduceSlots {
		return true
	}
	copying := int32(0)
	for _, n := range s.p.Machines[machine].Slots {
		sr := &s.slots[n]
		if sr.at >= 0 && s.p.Slots[n].Class == workload.ReduceSlots && s.p.Phases[sr.phase].Job == s.p.Phases[i].Job &&
			s.phases[sr.phase].running[sr.at].waits {
			copying++
		}
	}
	return copying < most
}

func (s *Sim) jobLeft(j int32) {
	r := &s.sched
	n := slices.Index(r.active, j)
	r.active = slices.Delete(r.active, n, n+1)
	r.tell(Change{JobEnded, j, -1, -1, -1, -1})
}

func (s *Sim) phaseLeft(i int32) {
	q := &s.sched.jobs[s.p.Phases[i].Job]
	n := slices.Index(q.phases, i)
	q.phases = slices.Delete(q.phases, n, n+1)
}

func (s *Sim) tellStart(i int32, a *Running) {
	p := &s.p.Phases[i]
	s.sched.jobs[p.Job].running[p.Class]++
	s.sched.tell(Change{AttemptStarted, p.Job, i, a.Task, a.Number, a.Machine})
}

func (s *Sim) reportEnd(how ChangeKind, i int32, a *Running) {
	if int(a.slot) >= len(s.p.Slots) {
		return
	}
	p := &s.p.Phases[i]
	s.sched.jobs[p.Job].running[p.Class]--
	s.sched.tell(Change{how, p.Job, i, a.Task, a.Number, a.Machine})
}

func (s *Sim) slotCame(n int32) {
	x := &s.p.Slots[n]
	s.sched.slots[x.Class]++
	s.sched.slotsOn[x.Class][x.Machine]++
	s.sched.tell(Change{SlotAdded, -1, -1, -1, -1, x.Machine})
}

func (s *Sim) slotWent(n int32) {
	x := &s.p.Slots[n]
	s.sched.slots[x.Class]--
	s.sched.slotsOn[x.Class][x.Machine]--
	s.sched.tell(Change{SlotRemoved, -1, -1, -1, -1, x.Machine})
}

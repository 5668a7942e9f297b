package replay

import "straggler/whatif/workload"

// end ends the attempt that runs on a slot.
func (s *Sim) end(slot int32) {
	s.out.Events++
	if s.staged() && s.goesOn(slot) {
		return
	}
	ph, t, r := s.take(slot)
	s.watch(ph, &r, false)
	if s.scheduled() {
		s.reportEnd(AttemptEnded, ph, &r)
	}
	took := s.now - int64(r.Start)
	task := s.p.Phases[ph].FirstTask + r.Task
	s.out.Jobs[s.p.Phases[ph].Job].Slots += took
	if s.madeAgain(ph, &r) {
		return
	}
	run := &s.phases[ph]
	if run.onEnd && !run.looking {
		run.looking = true
		s.due = append(s.due, ph)
	}
	if !r.ok {
		s.recordVisit(t, r.Machine)
		s.failed(ph, t, r.observed)
		return
	}
	s.finished(run, t, true)
	copied := Time(0)
	if s.staged() {
		copied = s.stages.slots[slot].read
		s.leaves(ph, task, r.Machine)
		if s.losses.on {
			s.keepsOutput(ph, task, r.Machine, took)
		}
	}
	if s.scheduled() {
		s.stopWaiting(ph, task)
	}
	run.done = append(run.done, Done{Task: r.Task, Number: r.Number, Machine: r.Machine, curve: r.curve, Took: Time(took), At: Time(s.now), copied: copied, bytes: r.bytes})
	if r.observed < 0 {
		s.out.Jobs[s.p.Phases[ph].Job].Wins++
	}
	if t.live > 0 {
		if run.cloned {
			s.keepCloneEnds(ph, r.Task)
		}
		s.killOthers(t)
	}
	if t.again {
		s.finished(run, t, false)
		s.awaitAttempt(s.p.Attempts[t.last].AfterOK)
		return
	}
	s.taskOver(ph, t)
}

// take removes the attempt from its slot. It returns its phase and its task too.
func (s *Sim) take(slot int32) (int32, *taskRun, Running) {
	s.tree.set(slot, workload.Forever)
	sr := &s.slots[slot]
	ph, t := sr.phase, &s.tasks[sr.place]
	run := &s.phases[ph]
	r := run.running[sr.at]
	last := len(run.running) - 1
	if int(sr.at) != last {
		run.running[sr.at] = run.running[last]
		s.slots[run.running[last].slot].at = sr.at
	}
	run.running = run.running[:last]
	if run.asleep != nil {
		run.asleep.move(last, int(sr.at))
	}
	sr.at = -1
	s.offTask(ph, t, slot)
	if r.observed < 0 {
		s.speculating--
	}
	if int(slot) < len(s.p.Slots) {
		if s.staged() {
			s.leave(slot, r.Machine)
		}
		s.busy--
		if job := &s.jobs[s.p.Phases[ph].Job]; r.observed >= 0 {
			job.busy--
			if len(job.parked) > 0 {
				s.unpark(job)
			}
		}
		if sr.leaves && s.now >= s.p.Slots[slot].Till {
			sr.gone = true
		}
		s.freeSlot(slot)
	}
	return ph, t, r
}

// offTask removes a slot from those that run a task.
func (s *Sim) offTask(i int32, t *taskRun, slot int32) {
	t.live--
	at := &t.slot
	for *at != slot {
		at = &s.slots[*at].next
	}
	*at, s.slots[slot].next = s.slots[slot].next, -1
	if t.live > 0 {
		s.countCopies(i, t)
	}
}

// countCopies updates the number of running attempts in each attempt of a task.
func (s *Sim) countCopies(i int32, t *taskRun) {
	for slot := t.slot; slot >= 0; slot = s.slots[slot].next {
		s.phases[i].running[s.slots[slot].at].copies = t.live
	}
}

// finished records that a task has succeeded, or that its output is lost.
func (s *Sim) finished(run *phaseRun, t *taskRun, done bool) {
	switch {
	case done && !t.done:
		run.finished++
	case !done && t.done:
		run.finished--
	}
	t.done = done
}

func (s *Sim) freeSlot(slot int32) {
	sr := &s.slots[slot]
	if sr.gone || s.avoided != nil && s.avoided[sr.machine] > s.now {
		return
	}
	s.free[sr.class].add(slot)
	if s.scheduled() {
		s.sched.freeOn[sr.class][sr.machine]++
	}
}

// failed queues the retry in the log, if any.
func (s *Sim) failed(ph int32, t *taskRun, a int32) {
	if t.done || t.over {
		return
	}
	if next := s.p.Attempts[a].Next; next >= 0 {
		s.awaitAttempt(next)
		return
	}
	if t.live == 0 && t.pending == 0 {
		s.taskOver(ph, t)
	}
}

func (s *Sim) awaitAttempt(a int32) {
	s.task(s.p.Attempts[a].Task).pending++
	s.timers.push(timerOf(s.now+s.p.Attempts[a].Ready, attemptReady, a))
}

func (s *Sim) killOthers(t *taskRun) {
	for t.slot >= 0 {
		s.kill(t.slot)
	}
}

// kill ends an attempt whose result is not wanted.
func (s *Sim) kill(slot int32) {
	ph, t, r := s.take(slot)
	s.watch(ph, &r, true)
	if s.scheduled() {
		s.reportEnd(AttemptKilled, ph, &r)
	}
	s.recordVisit(t, r.Machine)
	out := &s.out.Jobs[s.p.Phases[ph].Job]
	took := max(s.now-int64(r.Start), 0)
	out.Slots += took
	out.Waste += took
	out.Kills++
}

// visit is a machine on which an attempt of a task failed or was killed, and the visit before it, see taskRun.been.
type visit struct{ machine, before int32 }

// recordVisit records where an attempt ran whose task continues.
func (s *Sim) recordVisit(t *taskRun, machine int32) {
	if s.o.Policy != nil && !t.done && !t.over {
		s.visits = append(s.visits, visit{machine, t.been})
		t.been = int32(len(s.visits))
	}
}

// visited appends the machines on which attempts of a task failed or were killed.
func (s *Sim) visited(t *taskRun, to []int32) []int32 {
	for n := t.been; n > 0; n = s.visits[n-1].before {
		to = append(to, s.visits[n-1].machine)
	}
	return to
}

func (s *Sim) watch(ph int32, r *Running, killed bool) {
	if s.o.Watch != nil {
		s.o.Watch(Span{ph, r.Task, r.Number, r.Machine, r.slot, r.Start, Time(s.now), killed, r.observed})
	}
}

func (s *Sim) taskOver(ph int32, t *taskRun) {
	if t.over {
		return
	}
	t.over = true
	run := &s.phases[ph]
	run.over++
	s.unfinished[s.p.Phases[ph].Class]--
	s.reached(ph)
	if !s.phaseOver(ph) {
		return
	}
	s.keep(run)
	if s.scheduled() {
		s.phaseLeft(ph)
	}
	for _, i := range s.p.Phases[ph].Gates {
		s.phases[i].gates--
		if s.phases[i].gates > 0 {
			continue
		}
		if s.phases[i].begun && !s.hasInput(i) {
			s.phases[i].gates = 1 // until its inputs have been recomputed
			s.losses.needs[i].open = true
			s.out.Jobs[s.p.Phases[i].Job].Losses.Held++
			continue
		}
		s.openGate(i)
	}
	j := s.p.Phases[ph].Job
	s.jobs[j].phases--
	if s.jobs[j].phases == 0 {
		s.endJob(j)
	}
}

// keep reuses the memory of a finished phase for another one.
func (s *Sim) keep(ph *phaseRun) {
	if cap(ph.running) > 0 && len(ph.running) == 0 { // an output may still be recomputed
		s.spare = append(s.spare, ph.running[:0])
		ph.running = nil
	}
	ph.launches = nil
	if !ph.looking {
		s.keepStarted(ph)
	}
}

func (s *Sim) keepStarted(ph *phaseRun) {
	if cap(ph.started) > 0 {
		s.spareTasks = append(s.spareTasks, ph.started[:0])
		ph.started, ph.joined = nil, nil
	}
}

// openGate resumes the attempts of a phase that began before its parents ended.
func (s *Sim) openGate(i int32) {
	s.phases[i].gates, s.phases[i].opened = 0, s.now
	if s.phases[i].begun {
		s.startReading(i)
	}
	if s.staged() {
		s.fetchAll(i)
		return
	}
	for _, r := range s.phases[i].running {
		if r.waits {
			s.tree.set(r.slot, max(s.now, int64(r.Start))+s.takes[r.slot])
		}
	}
}

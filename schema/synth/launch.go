package synth

import (
	"slices"
	"strconv"

	"straggler/schema"
)

// lookAhead is the number of waiting tasks that are searched for one whose data is on the machine of a free slot.
const lookAhead = 16

// dispatch assigns free slots: first to waiting tasks, then to copies of slow ones. It never leaves a slot free that something
// could run on.
func (s *sim) dispatch() {
	for len(s.free) > 0 && s.err == nil {
		for len(s.waiting) > 0 && s.waiting[0].over {
			s.waiting = s.waiting[1:]
		}
		if len(s.waiting) == 0 {
			if !s.launchCopy() {
				return
			}
			continue
		}
		r := s.waiting[0]
		at := s.drawSlot()
		x := s.free[at]
		task, queued, ok := r.take(s.cluster, s.execs[x].machine)
		if !ok {
			s.waiting = s.waiting[1:]
			continue
		}
		s.occupy(at)
		s.launch(r, task, x, queued, ref{})
	}
}

// drawSlot picks a free slot at random, like a cluster that offers its slots in shuffled order.
func (s *sim) drawSlot() int {
	s.given++
	return s.random.of(s.given).intn(forSlot, len(s.free))
}

func (s *sim) occupy(at int) {
	n := len(s.free) - 1
	s.free[at] = s.free[n]
	s.free = s.free[:n]
}

// take returns the next task to launch on a machine: one to retry, one whose data is there, or the first that waits.
func (r *run) take(c *cluster, m *machine) (task int32, queued int64, ok bool) {
	queued = ms(r.row.SubmitTime.V)
	for len(r.retry) > 0 {
		t := r.retry[0]
		r.retry = r.retry[1:]
		if !r.stage.isDone(t.task) {
			return t.task, t.at, true
		}
	}
	r.fill()
	if len(r.window) == 0 {
		return 0, 0, false
	}
	pick := 0
	if r.stage.source() {
		for i, t := range r.window {
			if c.localityOf(r.stage.random.of(int(t)), m) == schema.NodeLocal {
				pick = i
				break
			}
		}
	}
	task = r.window[pick]
	r.window = slices.Delete(r.window, pick, pick+1)
	return task, queued, true
}

// fill keeps the window full of waiting tasks without an output.
func (r *run) fill() {
	n := len(r.tasks)
	if r.tasks == nil {
		n = r.stage.tasks
	}
	r.window = slices.DeleteFunc(r.window, r.stage.isDone)
	for r.next < n && len(r.window) < lookAhead {
		task := int32(r.next)
		if r.tasks != nil {
			task = r.tasks[r.next]
		}
		r.next++
		if !r.stage.isDone(task) {
			r.window = append(r.window, task)
		}
	}
}

// localityOf returns the locality of a task's block of storage on a machine.
func (c *cluster) localityOf(task random, m *machine) schema.Locality {
	level := schema.AnyLocality
	for i := range max(1, c.replicas) {
		at := c.machines[task.of(i).intn(forReplica, len(c.machines))]
		if at == m {
			return schema.NodeLocal
		}
		if at.rack == m.rack {
			level = schema.RackLocal
		}
	}
	return level
}

// launch starts an attempt of a task on an executor; original is the attempt that it copies.
func (s *sim) launch(r *run, task, exec int32, queued int64, original ref) {
	at := s.allocate()
	a, x := &s.slab[at], s.execs[exec]
	s.nextTaskID++
	x.launched++
	*a = attempt{run: r, exec: exec, task: task, serial: s.nextTaskID, sibling: original, start: s.now, loss: -1, marked: original.serial > 0}
	number := r.nextTry[task]
	a.row = s.attemptRow(a, x, number, queued)
	self := ref{at, a.serial}
	if a.marked {
		s.slab[original.at].sibling = self
	}
	whole, fetch := s.cost(a, x)
	a.whole, a.end, a.fetched = whole, s.now+whole, s.now+fetch
	s.planEnd(a)
	s.dropDead(r)
	r.live = append(r.live, self)
	r.running++
	r.lastSerial = a.serial
	if !r.row.StartTime.OK {
		r.row.StartTime = s.time(s.now)
		if j := r.stage.job; !j.row.StartTime.OK {
			j.row.StartTime = s.time(s.now)
		}
	}
	s.queue.push(event{at: a.end, kind: attemptEnds, ref: self})
	s.send(&Event{Kind: AttemptStarted, Attempt: &a.row, Phase: &r.row})
	if s.o.Speculation != nil {
		s.planLook(r)
	}
}

// recordTry records the number of an attempt of a task, if the task may be retried.
func (r *run) recordTry(task, number int32) {
	if r.nextTry == nil {
		r.nextTry = map[int32]int32{}
	}
	r.nextTry[task] = max(r.nextTry[task], number+1)
}

// allocate returns a free position in the slab.
func (s *sim) allocate() int32 {
	if n := len(s.spare); n > 0 {
		at := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return at
	}
	s.slab = append(s.slab, attempt{})
	return int32(len(s.slab) - 1)
}

func (s *sim) attemptRow(a *attempt, x *executor, number int32, queued int64) schema.Attempt {
	r, m := a.run, x.machine
	locality := schema.ProcessLocal
	if r.stage.source() {
		locality = s.cluster.localityOf(r.stage.random.of(int(a.task)), m)
	}
	_, lost := r.stage.lost[a.task]
	row := schema.Attempt{
		AttemptID: s.attemptKeys.Nth(a.serial - 1), PhaseID: r.row.PhaseID, JobID: r.row.JobID, ApplicationID: s.app.ApplicationID,
		Task: int64(a.task), Number: number, NativeID: strconv.FormatInt(a.serial-1, 10),
		Machine: schema.Some(m.Machine), Executor: schema.Some(x.id), QueuedTime: s.time(queued), StartTime: s.time(s.now),
		Status: schema.Running, Speculative: schema.Some(a.marked), Recompute: lost,
		Locality: schema.Some(locality), Quality: schema.RackUnknown,
	}
	if !s.o.Hide.Racks {
		row.Rack, row.Quality = schema.Some(m.Rack), 0
	}
	return row
}

// planEnd decides how an attempt will end if nothing intervenes.
func (s *sim) planEnd(a *attempt) {
	own := a.run.stage.random.of(int(a.task)).of(int(a.run.number)).of(int(a.row.Number))
	for _, p := range a.run.stage.parents {
		if p.missing > 0 { // its input is already gone; it will soon find out
			s.failToFetch(a, p, s.now+50+int64(450*own.uniform(forDetection)))
			return
		}
	}
	if own.chance(forFailure, s.o.Faults.Failure.Probability) {
		a.outcome = fails
		a.end = s.now + max(1, int64(float64(a.whole)*own.between(forFailurePoint, Range{0.05, 0.95})))
	}
}

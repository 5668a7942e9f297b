package replay

import (
	"slices"

	"straggler/whatif/workload"
)

// turn is a launch of the log with the data to carry it out and to copy its task. A phase whose tasks are launched in another
// order than the log's stores its turns in that order, which avoids a cache miss per launch.
type turn struct {
	dur     int64 // of the attempt in the replay
	key     int64 // its observed claim
	attempt int32
	curve   int32 // as of Running
	slot    int32
	task    int32
	ok      bool
	gated   bool
	again   bool // an attempt of the log waits for its success
	forks   bool // an attempt of the log waits for its start
	work
}

// work is the data from which a copy of a task is drawn.
type work struct {
	bytes   int64
	seconds float32 // on an average machine
	ratio   int32   // its own index among the ratios of its phase, -1 none
	machine int32   // where its first attempt ran in the log
}

// turnOf sets x to the turn of an attempt of the log.
func (s *Sim) turnOf(a int32, x *turn) {
	at := &s.p.Attempts[a]
	x.dur, x.key, x.curve = at.Dur, at.Key, s.curveOf(a)
	if s.o.Took != nil {
		x.dur = s.o.Took[a]
	}
	x.attempt, x.slot, x.task = a, at.Slot, at.Task
	x.ok, x.gated, x.again, x.forks = at.Ok, at.Gated, at.AfterOK >= 0, at.Fork >= 0
	x.work = workOf(&s.p.Tasks[at.Task])
}

func workOf(t *workload.Task) work { return work{t.Bytes, t.Work, t.Ratio, t.Machine} }

// workOf returns the work of a task.
func (s *Sim) workOf(r taskRef) work {
	if turns := s.phases[r.phase].turns; len(turns) > 0 {
		if n := r.place - s.p.Phases[r.phase].FirstTask; int(n) < len(turns) {
			return turns[n].work
		}
	}
	return workOf(&s.p.Tasks[r.task])
}

// nextTurn returns the turn of the next launch of a phase; there must be one.
func (s *Sim) nextTurn(i int32) *turn {
	ph := &s.phases[i]
	if len(ph.turns) > 0 {
		return &ph.turns[ph.next]
	}
	s.turnOf(s.p.Phases[i].First+ph.next, &s.logged)
	return &s.logged
}

// nextTask returns the task of the next launch.
func (s *Sim) nextTask(i int32) int32 {
	ph := &s.phases[i]
	if len(ph.turns) > 0 {
		return ph.turns[ph.next].task
	}
	return s.p.Attempts[s.p.Phases[i].First+ph.next].Task
}

// nextSlot returns the slot in the log of that task's launch.
func (s *Sim) nextSlot(i int32) int32 {
	ph := &s.phases[i]
	if len(ph.turns) > 0 {
		return ph.turns[ph.next].slot
	}
	return s.p.Attempts[s.p.Phases[i].First+ph.next].Slot
}

// nextPlace returns the place of that task.
func (s *Sim) nextPlace(i int32) int32 {
	p, ph := &s.p.Phases[i], &s.phases[i]
	if len(ph.turns) > 0 {
		return p.FirstTask + ph.next
	}
	return s.place(s.p.Attempts[p.First+ph.next].Task)
}

// taskRef is a task with its phase and its place. Reading a place usually misses the cache, so it is read once per action.
type taskRef struct{ phase, task, place int32 }

func (s *Sim) refOf(i, task int32) taskRef { return taskRef{i, task, s.place(task)} }

// local returns the number of a task within its phase.
func (s *Sim) local(r taskRef) int32 { return r.task - s.p.Phases[r.phase].FirstTask }

// task returns the state of a task.
func (s *Sim) task(n int32) *taskRun { return &s.tasks[s.place(n)] }

// place returns the index of the state of a task. In a phase with turns it follows their order, so that running tasks are near
// each other in memory.
func (s *Sim) place(n int32) int32 {
	if len(s.places) == 0 {
		return n
	}
	return s.places[n]
}

// longestFirst puts the launches of a phase in descending order of the data of their tasks.
func (s *Sim) longestFirst(i int32) {
	p, ph := &s.p.Phases[i], &s.phases[i]
	if ph.next == 0 && p.Launches > 1 && len(ph.turns) == 0 {
		s.inOrder(i, s.p.BySize[p.First:p.First+p.Launches])
	}
}

// inOrder stores the turns of a phase in an order, which has the position of each launch of the log.
func (s *Sim) inOrder(i int32, order []int32) {
	p, ph := &s.p.Phases[i], &s.phases[i]
	ph.turns = resize(ph.turns, len(order))
	if len(s.places) == 0 {
		s.places = resize(s.places, len(s.p.Tasks))
		for n := range s.places {
			s.places[n] = int32(n)
		}
	}
	places, states := s.places[p.FirstTask:p.FirstTask+p.Tasks], s.tasks[p.FirstTask:p.FirstTask+p.Tasks]
	for n := range places {
		places[n] = -1
	}
	const ahead = 64 // turns are read before they are written, so that many cache misses overlap, as in touch
	for from := 0; from < len(order); from += ahead {
		some, read := order[from:min(from+ahead, len(order))], int32(0)
		for _, at := range some {
			read += ph.turns[at].task
		}
		s.touched = read
		for n, at := range some {
			x := &ph.turns[at]
			s.turnOf(p.First+int32(from+n), x)
			places[x.task-p.FirstTask] = p.FirstTask + at
		}
	}
	last := p.FirstTask + p.Launches // where tasks go that the log does not launch from its queue
	for n := range places {
		if places[n] < 0 {
			places[n] = last
			last++
		}
	}
	if ph.looks > 1 || len(s.actions.list) > 1 { // copies may wait
		s.updateQueued(i)
	}
	if len(ph.started) == 0 { // no state has changed
		return
	}
	before := slices.Clone(states)
	for n, at := range places {
		s.tasks[at] = before[n]
	}
	for n := range ph.running {
		r := &ph.running[n]
		s.slots[r.slot].place = places[r.Task]
	}
}

// updateQueued updates the places of the tasks of a phase of which copies wait.
func (s *Sim) updateQueued(i int32) {
	for _, line := range []*queue{&s.firsts, &s.queue} {
		for n := range line.list {
			if q := &line.list[n]; q.phase == i {
				q.place = s.places[q.task]
			}
		}
	}
}

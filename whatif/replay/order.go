package replay

import (
	"math"
	"math/bits"
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

// longestFirst sorts the launches of a phase by the data of their tasks, largest first; the sort is stable.
func (s *Sim) longestFirst(i int32) {
	p, ph := &s.p.Phases[i], &s.phases[i]
	if ph.next > 0 || p.Launches < 2 || len(ph.turns) > 0 {
		return
	}
	s.sizes = resize(s.sizes, int(p.Launches))
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for n := range s.sizes {
		bytes := s.p.Tasks[s.p.Attempts[p.First+int32(n)].Task].Bytes
		least, most = min(least, bytes), max(most, bytes)
		s.sizes[n] = uint64(bytes)
	}
	width := bits.Len32(uint32(p.Launches))
	most = min(most, least+1<<(63-width)) // beyond many terabytes, larger tasks are in the order of the log
	// combined with its index in the log into one number, which is faster to sort than a pair
	for n, bytes := range s.sizes {
		s.sizes[n] = uint64(most-min(int64(bytes), most))<<width | uint64(n)
	}
	s.sizes, s.sorted = bySize(s.sizes, s.sorted, width, bits.Len64(uint64(most-least)))
	s.order = resize(s.order, int(p.Launches))
	for n, x := range s.sizes {
		s.order[x&(1<<width-1)] = int32(n)
	}
	s.inOrder(i, s.order)
}

// inOrder stores the turns of a phase in the order given by launches.
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

// bySize sorts numbers by their upper bits, the size; by the lower bits they are already in order. It returns both lists, the
// sorted one first. Long lists are radix-sorted, eleven bits at a time.
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

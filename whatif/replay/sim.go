package replay

import (
	"straggler/whatif/heap"
	"straggler/whatif/workload"
)

// Options are the options of one replay.
type Options struct {
	Policy    Policy // nil: none
	Seed      int64
	Sigma     float64        // initial relative standard deviation of estimates from synthetic progress
	Watch     func(Span)     // called with every attempt that ended; may be nil
	Took      []int64        // duration of each attempt, µs, instead of the observed one; nil: as observed
	Stop      func() bool    // polled from time to time; true aborts the replay; nil: never
	Sample    func(*Cluster) // under a scheduler: called with the cluster every Every; may be nil
	Every     Time
	Scheduler Scheduler // nil: tasks are launched as the log did
	Protector Protector // protects outputs, in a planned pool whose machines lose some; nil: none
}

// Sim replays pools. It reuses its memory from one replay to the next and must not be used concurrently.
type Sim struct {
	p   *workload.Pool
	o   Options
	now int64

	tree        tree
	timers      timers
	slots       []slotRun
	takes       []int64 // by slot: µs that the attempt on it takes, where that does not follow from its end
	free        [workload.Classes]freeSlots
	busy        int             // slots in use that count towards the limit
	ready       heap.Heap[head] // queues whose head may have a slot
	soon        heap.Heap[head] // the same, once nothing else happens at the instant
	held        heap.Heap[heldHead]
	firsts      queue           // waiting copies that precede tasks that were never started
	queue       queue           // other waiting copies
	clones      heap.Heap[head] // clones queued with their tasks; not under a scheduler
	phases      []phaseRun
	tasks       []taskRun // by place
	places      []int32   // see place
	jobs        []jobRun
	solo        []queueRun // of solo attempts, by attempt; only made where a pool has any
	dones       []Done
	logged      turn        // for use within nextTurn
	spare       [][]Running // of phases that are over
	spareTasks  [][]int32   // the same
	fresh, due  []int32     // phases to look at
	speculating int
	unfinished  [workload.Classes]int // tasks of released phases that are not over, by class of slots
	visits      []visit
	drawn       []int32 // for use within touch
	touched     int32   // what was read ahead
	avoided     []int64 // by machine, until when; nil where none is
	view        View
	observed    *Observed // a live application, which is not simulated; nil in a replay
	actions     Actions
	sched       schedRun // under a scheduler of its own
	stages      stagesRun
	losses      lossRun
	out         Outcome
}

// slotRun is half a cache line: starts and ends read and write slots in no order.
type slotRun struct {
	phase int32
	at    int32 // index into the phase's running attempts, -1: none
	next  int32 // another slot that runs the same task, -1: none
	place int32 // of its task, see Sim.place
	kept
}

// kept is the data of a slot of the pool needed at every start and end, stored with the rest of the slot so that it is in the
// cache.
type kept struct {
	machine, executor int32
	factor            float32 // of its machine; NaN where that changes, see factorOn
	class             workload.Class
	leaves            bool // it is removed at some time
	gone              bool // it does not exist at this time
}

func keptOf(p *workload.Pool, slot int) kept {
	x := &p.Slots[slot]
	factor := nan32
	if m := &p.Machines[x.Machine]; len(m.Windows) == 0 {
		factor = m.Factor
	}
	return kept{machine: x.Machine, executor: x.Executor, factor: factor, class: x.Class, leaves: x.Till < workload.Forever}
}

// factorOn returns the factor of the machine of a slot of the pool at an instant.
func (s *Sim) factorOn(slot int32, at int64) float32 {
	if f := s.slots[slot].factor; f == f {
		return f
	}
	return s.p.Machines[s.slots[slot].machine].At(at)
}

type queueRun struct {
	head   int32 // attempt at its head, -1 none
	place  place
	parked bool  // its job runs as many tasks as allowed
	until  int64 // end of its wait
}

// place is the set in which the head of a queue waits.
type place uint8

const (
	inReady place = iota // it may have a slot
	inSoon               // the same, once nothing else happens at the instant
	inHeld               // its wait is not over, and it lets some idle slots pass
)

type phaseRun struct {
	queueRun
	next       int32 // launches taken from its order
	over       int32
	anchors    int32
	gates      int32
	watch      int32
	waiting    int32
	released   int64
	opened     int64 // when its parents ended, if attempts waited for that
	lookAt     int64
	looks      int // of the policy at the phase
	onEnd      bool
	onLaunched bool
	looking    bool
	begun      bool    // it was released
	turns      []turn  // see longestFirst; none: as in the log
	launches   []int32 // see firstAttempt
	running    []Running
	asleep     asleep  // of running
	started    []int32 // tasks, of attempts in the order in which they got their slots; only under a policy
	joined     []int32 // the same, of attempts whose task ran already
	done       []Done
	finished   int32         // tasks that have succeeded
	reading    *Reading      // how its clones read; nil: it has none
	cloneEnds  [][]cloneEnds // by rank, of its tasks
	cloned     bool          // later phases may need its cloneEnds
	anywhere   float64       // of a planned pool: the factor of reading on any machine; 0 until it is needed
	read       float64       // the sum of the factors at which as many attempts that succeeded have read
	counted    int
	memory     any
	ratios     stream // of its copies
	places     stream // the same
	errors     stream // of the progress of its attempts
}

type taskRun struct {
	last      int32 // attempt of the log that was started last
	slot      int32 // that runs it, the one that was taken last; -1: none
	been      int32 // its last visit and one more; 0: none
	copies    int16
	live      int16
	pending   int16
	done      bool
	over      bool
	preempted bool // the scheduler has killed an attempt of it
	again     bool // an attempt of the log waits for its success, and was after the one that was started last
}

type jobRun struct {
	phases   int32
	released int64
	ended    bool
	busy     int32 // slots that its own attempts, not copies, use
	parked   []int32
	memory   any
}

type queued struct {
	taskRef
	first   bool // precedes tasks that were never started
	fresh   bool // only on a machine that never ran the task
	restart bool
	remake  bool // its output is lost
}

// Run replays a pool. The outcome is valid until the next call.
func (s *Sim) Run(p *workload.Pool, o Options) *Outcome {
	s.reset(p, o)
	for j := range p.Jobs {
		if p.Jobs[j].After < 0 {
			s.timers.push(timerOf(p.Jobs[j].Gap, jobReleased, int32(j)))
		}
	}
	if s.o.Sample != nil && s.scheduled() {
		s.timers.push(timerOf(int64(s.o.Every), sample, 0))
	}
	for n := 1; s.step(); n++ {
		if n&0xff == 0 && o.Stop != nil && o.Stop() {
			break
		}
	}
	for j := range s.jobs {
		if !s.jobs[j].ended {
			s.out.Stopped++
		}
	}
	return &s.out
}

// step processes all events of the next instant; false if there are none.
func (s *Sim) step() bool {
	at := s.tree.next()
	if len(s.timers) > 0 && s.timers[0].at < at {
		at = s.timers[0].at
	}
	if s.staged() {
		at = min(at, s.nextFlow())
	}
	if at == workload.Forever {
		return false
	}
	s.now = at
	if s.staged() && s.stages.net != nil {
		s.moveFlows()
	}
	for {
		for s.tree.next() == s.now {
			s.end(s.tree.first())
		}
		if len(s.timers) == 0 || s.timers[0].at != s.now {
			break
		}
		s.fire(s.timers.pop())
	}
	s.look(&s.fresh)
	s.dispatch()
	for len(s.due) > 0 && !s.pending() {
		s.look(&s.due)
		s.dispatch()
	}
	if s.sched.sampling {
		s.sampled()
	}
	return true
}

// sampled calls Options.Sample.
func (s *Sim) sampled() {
	s.sched.sampling = false
	s.o.Sample(&s.sched.view)
	if len(s.sched.active) > 0 || s.moreToCome() {
		s.timers.push(timerOf(s.now+max(int64(s.o.Every), 1), sample, 0))
	}
}

func (s *Sim) fire(t timer) {
	s.out.Events++
	n := t.n()
	switch t.kind() {
	case slotAdded:
		if s.scheduled() {
			s.slotCame(n)
		}
		s.slots[n].gone = false
		s.freeSlot(n)
	case slotRemoved:
		s.slots[n].gone = true
		if s.scheduled() {
			s.slotWent(n)
		}
		if c := s.p.Slots[n].Class; s.slots[n].at < 0 && s.free[c].has(n) {
			s.takeFree(n)
		}
	case jobReleased:
		s.releaseJob(n)
	case phaseReleased:
		if s.phases[n].gates == 0 && !s.hasInput(n) {
			s.losses.needs[n].release = true
			s.out.Jobs[s.p.Phases[n].Job].Losses.Held++
			return
		}
		s.releasePhase(n)
	case attemptReady:
		s.soloReady(n)
	case waitOver:
		s.waitOver(n)
	case machineBack:
		s.machineBack(n)
	case scheduler:
		s.sched.due = true
	case sample:
		s.sched.sampling = true
	case look:
		if ph := &s.phases[n]; ph.lookAt == s.now && !ph.looking && !s.phaseOver(n) {
			ph.looking = true
			s.due = append(s.due, n)
		}
	}
}

// moreToCome reports whether any events remain.
func (s *Sim) moreToCome() bool { return len(s.timers) > 0 || s.tree.next() < workload.Forever }

// staged reports whether attempts have stages.
func (s *Sim) staged() bool { return s.p.Stages != nil }

func (s *Sim) phaseOver(n int32) bool { return s.phases[n].over == s.p.Phases[n].Tasks }

func (s *Sim) releaseJob(j int32) {
	jb := &s.p.Jobs[j]
	run := &s.jobs[j]
	if run.released >= 0 { // a job without phases, at its end
		s.endJob(j)
		return
	}
	run.released = s.now
	if s.scheduled() {
		s.sched.active = append(s.sched.active, j)
		s.sched.tell(Change{JobReleased, j, -1, -1, -1, -1})
	}
	for _, i := range jb.Roots {
		s.timers.push(timerOf(s.now+s.p.Phases[i].Gap, phaseReleased, i))
	}
	if jb.Phases == 0 {
		s.timers.push(timerOf(s.now+jb.Empty, jobReleased, j))
	}
}

func (s *Sim) endJob(j int32) {
	jb := &s.p.Jobs[j]
	s.jobs[j].ended = true
	if s.scheduled() {
		s.jobLeft(j)
	}
	// the tail is negative if attempts of a log end after their job
	s.out.Jobs[j].Took = max(0, s.now-s.jobs[j].released+jb.Tail)
	for _, f := range jb.Followers {
		s.timers.push(timerOf(s.now+s.p.Jobs[f].Gap, jobReleased, f))
	}
}

func (s *Sim) releasePhase(i int32) {
	p, ph := &s.p.Phases[i], &s.phases[i]
	ph.released, ph.begun = s.now, true
	ph.waiting = p.Launches
	s.unfinished[p.Class] += int(p.Tasks)
	ph.ratios, ph.places, ph.errors = streamOf(s.o.Seed, p.Key, drawRatio), streamOf(s.o.Seed, p.Key, drawPlace), streamOf(s.o.Seed, p.Key, drawProgress)
	if ph.gates == 0 {
		s.startReading(i)
	}
	if s.scheduled() {
		s.phaseWaits(i)
	} else {
		s.nextHead(i)
	}
	for _, a := range p.SoloAtRelease {
		s.launchLogged(a, s.p.Attempts[a].Slot, s.p.Attempts[a].Lag)
	}
	s.reached(i)
	if s.o.Policy != nil && !s.abstains(i) {
		ph.looking = true
		s.fresh = append(s.fresh, i)
	}
}

// abstains reports whether the policy leaves a phase alone: the job has one task, which runs once.
func (s *Sim) abstains(i int32) bool {
	p := &s.p.Phases[i]
	if p.Tasks != 1 || p.Launches != 1 || len(p.SoloAtRelease) > 0 || s.p.Jobs[p.Job].Phases != 1 || s.scheduled() {
		return false
	}
	policy, ok := s.o.Policy.(Abstainer)
	a := &s.p.Attempts[p.First]
	again := a.Next >= 0 || a.AfterOK >= 0 || a.Fork >= 0
	return ok && !again && a.Reports.N == 0 && policy.Abstains(normalMost*s.o.Sigma)
}

// reached releases the phases that waited for as many tasks of phase i as have finished now.
func (s *Sim) reached(i int32) {
	p, ph := &s.p.Phases[i], &s.phases[i]
	for int(ph.watch) < len(p.Watchers) && p.Watchers[ph.watch].Count <= ph.over {
		w := p.Watchers[ph.watch].Phase
		ph.watch++
		s.phases[w].anchors--
		if s.phases[w].anchors == 0 {
			s.timers.push(timerOf(s.now+s.p.Phases[w].Gap, phaseReleased, w))
		}
	}
}

// Released returns when a job was released in the last replay.
func (s *Sim) Released(job int) Time { return Time(s.jobs[job].released) }

package replay

import (
	"cmp"
	"context"
	"slices"

	"straggler/schema"
	"straggler/whatif/workload"
)

// Observed runs policies on a live application, through the same View as in a replay. Reports of its cluster are events;
// Advance calls every policy at the instants at which it would have looked, and returns its decisions. Nothing is simulated and
// nothing is carried out: all policies see the running application, at each instant only what had happened by then. An event
// that is reported late is seen late.
type Observed struct {
	s         Sim
	p         workload.Pool
	policies  []observer
	events    []Event // reported, not yet seen
	active    []int32 // phases released and not over
	executors map[string][]int32
	machines  map[string]int32
	slots     map[int32]int32 // by running attempt
	beyond    []int32         // idle slots of attempts that ran when no slot was known to be free
	sizes     []sizes         // by phase
	estimate  func(*View, *Running) float64
	decided   []Decision
	known     map[Decision]bool
}

// sizes are the bytes and records of the tasks of a phase that are done, in ascending order.
type sizes struct{ bytes, records []int64 }

// Event is a report of a cluster.
type Event struct {
	What     What
	At       Time  // when it happened
	Phase    int32 // of Observed.Phase
	Task     int32 // from 0 within the phase
	Attempt  int32 // the caller's number of it, returned by Running.Observed
	Machine  string
	Executor string
	Slots    int   // of a new executor
	Copy     bool  // the attempt is a copy of a running one
	Bytes    int64 // read by an attempt, in total or so far; -1 unknown. Records likewise
	Records  int64
}

// Kinds of events. Within an instant events are processed in the order of these constants, as in a replay.
type What uint8

const (
	ExecutorCame What = iota
	Succeeded
	Failed // or was killed, or lost
	Released
	Launched
	Reported // progress of an attempt: what it has read so far
	Over     // the end of a phase, whatever its tasks did
	ExecutorLeft
)

// observer is a policy with its memory.
type observer struct {
	policy Policy
	phases []observedPhase
	jobs   []any
	notes  [][]note // by phase, one for each attempt that runs
}

// note is the data that a policy keeps with an attempt: in a replay there is one policy, here each has its own.
type note struct{ note, last float64 }

type observedPhase struct {
	memory     any
	lookAt     Time // 0: at no instant
	looks      int
	onEnd      bool
	onLaunched bool
	due        bool // an attempt ended or started, and the policy requested a look then
}

// Application is what is known about an application from its start.
type Application struct {
	schema.Application
	Settings map[string]string
}

// NewObserved returns the state of an application before its first event. Instants are µs after its start. The estimate is the
// progress of a running attempt now, 0 to 1, from what is known at that instant.
func NewObserved(app *Application, policies []Policy, estimate func(*View, *Running) float64) *Observed {
	o := &Observed{executors: map[string][]int32{}, machines: map[string]int32{}, slots: map[int32]int32{}, known: map[Decision]bool{}}
	o.p = workload.Pool{Applications: []*schema.Application{&app.Application}, Settings: app.Settings}
	o.s.p, o.s.view.s = &o.p, &o.s
	o.s.observed, o.estimate = o, estimate
	for _, p := range policies {
		o.policies = append(o.policies, observer{policy: p})
	}
	return o
}

// Job adds a job.
func (o *Observed) Job(key schema.Key) int32 {
	o.s.jobs = append(o.s.jobs, jobRun{released: -1})
	o.p.Jobs = append(o.p.Jobs, workload.Job{Key: key, App: o.p.Applications[0].ApplicationID})
	for i := range o.policies {
		o.policies[i].jobs = append(o.policies[i].jobs, nil)
	}
	return int32(len(o.p.Jobs)) - 1
}

// Phase adds a phase of a job. It is released by an event.
func (o *Observed) Phase(job int32, key schema.Key, kind string, gang bool, tasks int) int32 {
	o.p.Phases = append(o.p.Phases, workload.Phase{Key: key, Job: job, Kind: kind, Gang: gang, FirstTask: int32(len(o.p.Tasks)), Tasks: int32(tasks), Far: 1})
	o.p.Jobs[job].TaskCount += int32(tasks)
	o.s.phases = append(o.s.phases, phaseRun{waiting: int32(tasks)})
	for range tasks {
		o.p.Tasks = append(o.p.Tasks, workload.Task{Phase: int32(len(o.p.Phases)) - 1, Machine: -1, Ratio: -1, Bytes: -1, Records: -1})
		o.s.tasks = append(o.s.tasks, taskRun{last: -1, slot: -1})
	}
	o.sizes = append(o.sizes, sizes{})
	for i := range o.policies {
		o.policies[i].phases = append(o.policies[i].phases, observedPhase{})
		o.policies[i].notes = append(o.policies[i].notes, nil)
	}
	return int32(len(o.p.Phases)) - 1
}

// Report adds an event. If it happened before the instant of the last Advance, it is seen in the next one.
func (o *Observed) Report(e Event) { o.events = append(o.events, e) }

// Advance proceeds to an instant and returns the decisions of the policies on the way, unless the context ends first.
func (o *Observed) Advance(ctx context.Context, to Time) ([]Decision, error) {
	for i := range o.events {
		if e := &o.events[i]; e.What != Launched {
			e.At = max(e.At, Time(o.s.now))
		}
	}
	slices.SortStableFunc(o.events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(o.seen(&a), o.seen(&b)), cmp.Compare(a.What, b.What))
	})
	o.decided = nil
	for n := 0; ; n++ {
		if n&0xff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		at := o.nextLook()
		if len(o.events) > 0 {
			at = min(at, o.seen(&o.events[0]))
		}
		if at > to {
			break
		}
		o.s.now = int64(at)
		o.instant()
	}
	o.s.now = max(o.s.now, int64(to))
	return o.decided, nil
}

// seen returns the instant at which an event is processed.
func (o *Observed) seen(e *Event) Time { return max(e.At, Time(o.s.now)) }

const never = Time(workload.Forever)

// nextLook returns the next instant at which a policy looks.
func (o *Observed) nextLook() Time {
	next := never
	for i := range o.policies {
		for _, ph := range o.active {
			if at := o.policies[i].phases[ph].lookAt; at > 0 {
				next = min(next, at)
			}
		}
	}
	return next
}

// instant processes the events of the present instant and calls the policies: for released phases before anything starts, for
// the others afterwards, as in a replay.
func (o *Observed) instant() {
	now := Time(o.s.now)
	var released []int32
	for len(o.events) > 0 && o.seen(&o.events[0]) <= now && o.events[0].What < Launched {
		e := o.events[0]
		o.events = o.events[1:]
		o.take(&e)
		if e.What == Released {
			released = append(released, e.Phase)
		}
	}
	o.look(released, func(*observedPhase) bool { return true })
	for len(o.events) > 0 && o.seen(&o.events[0]) <= now && o.events[0].What >= Launched {
		e := o.events[0]
		o.events = o.events[1:]
		o.take(&e)
	}
	o.look(o.active, func(p *observedPhase) bool { return p.due || p.lookAt > 0 && p.lookAt <= now })
	o.active = slices.DeleteFunc(o.active, o.s.phaseOver)
}

// look calls the policies for phases.
func (o *Observed) look(phases []int32, wanted func(*observedPhase) bool) {
	for k := range o.policies {
		x := &o.policies[k]
		for _, i := range phases {
			ph := &x.phases[i]
			if !wanted(ph) {
				continue
			}
			job := o.p.Phases[i].Job
			o.s.view.ph, o.s.phases[i].memory, o.s.jobs[job].memory = i, ph.memory, x.jobs[job]
			running := o.s.phases[i].running
			for j, n := range x.notes[i] {
				running[j].Note, running[j].Last = n.note, n.last
			}
			again := x.policy.Look(&o.s.view, &o.s.actions)
			for j := range x.notes[i] {
				x.notes[i][j] = note{running[j].Note, running[j].Last}
			}
			*ph = observedPhase{memory: o.s.phases[i].memory, onEnd: again.End, onLaunched: again.Launched, looks: ph.looks + 1}
			x.jobs[job] = o.s.jobs[job].memory
			if again.At > 0 {
				ph.lookAt = max(again.At, Time(soonest(o.s.now, o.s.phases[i].released, ph.looks)))
			}
			if o.s.phaseOver(i) {
				*ph = observedPhase{}
			}
			o.keep(k)
		}
	}
}

// take processes an event.
func (o *Observed) take(e *Event) {
	switch e.What {
	case ExecutorCame:
		o.came(e)
	case ExecutorLeft:
		o.left(e.Executor)
	case Released:
		o.s.phases[e.Phase].released = int64(e.At)
		if job := &o.s.jobs[o.p.Phases[e.Phase].Job]; job.released < 0 { // with its first phase
			job.released = int64(e.At)
		}
		o.active = append(o.active, e.Phase)
		slices.Sort(o.active)
	case Over:
		o.s.phases[e.Phase].over = o.p.Phases[e.Phase].Tasks
	case Launched:
		o.started(e)
	case Reported:
		if t := o.p.Phases[e.Phase].FirstTask + e.Task; !o.s.tasks[t].done {
			o.p.Tasks[t].Bytes, o.p.Tasks[t].Records = e.Bytes, e.Records
		}
	case Succeeded, Failed:
		o.ended(e)
	}
}

func (o *Observed) came(e *Event) {
	for range e.Slots {
		n := o.slot(o.machine(e.Machine))
		o.executors[e.Executor] = append(o.executors[e.Executor], n)
		o.s.free[0].add(n)
		o.p.Limit++
	}
	o.p.ExecutorSlots = max(o.p.ExecutorSlots, len(o.executors[e.Executor]))
}

// slot adds a slot, which is not free.
func (o *Observed) slot(machine int32) int32 {
	n := int32(len(o.p.Slots))
	o.p.Slots = append(o.p.Slots, workload.Slot{Machine: machine, Executor: n, Till: workload.Forever})
	o.p.Machines[machine].Slots = append(o.p.Machines[machine].Slots, n)
	o.s.slots = append(o.s.slots, slotRun{at: -1, next: -1, kept: keptOf(&o.p, int(n))})
	o.s.free[0].grow(len(o.p.Slots))
	return n
}

func (o *Observed) left(executor string) {
	for _, n := range o.executors[executor] {
		o.s.slots[n].gone = true
		o.p.Limit--
		if o.s.free[0].has(n) {
			o.s.free[0].remove(n)
		}
	}
	delete(o.executors, executor)
}

// machine returns the number of a machine.
func (o *Observed) machine(name string) int32 {
	n, ok := o.machines[name]
	if !ok {
		n = int32(len(o.p.Machines))
		o.machines[name] = n
		o.p.Machines = append(o.p.Machines, workload.MachineOf(name))
	}
	return n
}

func (o *Observed) started(e *Event) {
	ph, task := &o.s.phases[e.Phase], o.p.Phases[e.Phase].FirstTask+e.Task
	t := &o.s.tasks[task]
	r := Running{Task: e.Task, Machine: o.machine(e.Machine), curve: -1, Start: e.At, observed: e.Attempt, noise: nan32}
	if e.Copy {
		t.copies++
		r.Number = int32(t.copies)
		o.s.speculating++
	}
	r.slot = o.claimed(e.Executor, r.Machine)
	o.slots[e.Attempt] = r.slot
	sr := &o.s.slots[r.slot]
	sr.phase, sr.at, sr.next, sr.place = e.Phase, int32(len(ph.running)), t.slot, task
	if !t.done && t.live == 0 {
		ph.waiting--
	}
	t.slot = r.slot
	t.live++
	ph.running = append(ph.running, r)
	o.s.countCopies(e.Phase, t)
	for k := range o.policies {
		o.policies[k].notes[e.Phase] = append(o.policies[k].notes[e.Phase], note{})
		if x := &o.policies[k].phases[e.Phase]; x.onLaunched && ph.waiting == 0 {
			x.due = true
		}
	}
	ph.started = append(ph.started, r.Task)
	if t.live > 1 {
		ph.joined = append(ph.joined, r.Task)
	}
}

// claimed takes a free slot of an executor, or adds one if it has none.
func (o *Observed) claimed(executor string, machine int32) int32 {
	for _, n := range o.executors[executor] {
		if o.s.free[0].has(n) {
			o.s.free[0].remove(n)
			o.s.busy++
			return n
		}
	}
	if n := len(o.beyond) - 1; n >= 0 {
		slot := o.beyond[n]
		o.beyond = o.beyond[:n]
		return slot
	}
	n := o.slot(machine)
	o.p.Slots[n].Till = 0
	return n
}

func (o *Observed) ended(e *Event) {
	slot, ok := o.slots[e.Attempt]
	if !ok {
		return
	}
	delete(o.slots, e.Attempt)
	ph, sr := &o.s.phases[e.Phase], &o.s.slots[slot]
	r, last := ph.running[sr.at], len(ph.running)-1
	ph.running[sr.at] = ph.running[last]
	o.s.slots[ph.running[sr.at].slot].at = sr.at
	ph.running = ph.running[:last]
	for k := range o.policies {
		notes := o.policies[k].notes[e.Phase]
		notes[sr.at] = notes[last]
		o.policies[k].notes[e.Phase] = notes[:last]
	}
	sr.at = -1
	o.release(slot)
	if r.Number > 0 {
		o.s.speculating--
	}
	task := o.p.Phases[e.Phase].FirstTask + r.Task
	o.s.offTask(e.Phase, &o.s.tasks[task], slot)
	for k := range o.policies {
		if x := &o.policies[k].phases[e.Phase]; x.onEnd {
			x.due = true
		}
	}
	t := &o.s.tasks[task]
	if e.What == Failed {
		if !t.done && t.live == 0 {
			ph.waiting++
		}
		return
	}
	o.p.Tasks[task].Bytes, o.p.Tasks[task].Records = e.Bytes, e.Records
	ph.done = append(ph.done, Done{Task: r.Task, Number: r.Number, Machine: r.Machine, curve: -1, Took: max(e.At-r.Start, 0), At: e.At})
	if !t.done {
		o.s.finished(ph, t, true)
		ph.over++
		o.sizes[e.Phase].bytes = inserted(o.sizes[e.Phase].bytes, e.Bytes)
		o.sizes[e.Phase].records = inserted(o.sizes[e.Phase].records, e.Records)
	}
}

// release frees a slot.
func (o *Observed) release(slot int32) {
	if o.p.Slots[slot].Till == 0 {
		o.beyond = append(o.beyond, slot)
		return
	}
	o.s.busy--
	if !o.s.slots[slot].gone {
		o.s.free[0].add(slot)
	}
}

func inserted(sorted []int64, x int64) []int64 {
	if x < 0 {
		return sorted
	}
	n, _ := slices.BinarySearch(sorted, x)
	return slices.Insert(sorted, n, x)
}

// expected returns the estimated input of a task that is not done: that of the median task, unless it has read more; -1 if
// unknown. A cluster does not report how much a running task will read.
func (o *Observed) expected(task int32, sofar int64, done []int64) int64 {
	if o.s.tasks[task].done || len(done) == 0 {
		return sofar
	}
	return max(sofar, done[len(done)/2])
}

// Observed returns the caller's number of an attempt of a live application; in a replay, the number of the log's attempt, or -1
// for a copy.
func (a *Running) Observed() int { return int(a.observed) }

// MachineName returns the name of a machine.
func (v *View) MachineName(machine int32) string { return v.s.p.Machines[machine].Name }

// progress returns the progress of an attempt of a phase, which need not be the phase of the look.
func (o *Observed) progress(phase int32, a *Running) float64 {
	viewed := o.s.view.ph
	defer func() { o.s.view.ph = viewed }()
	return o.estimate(o.View(phase), a)
}

// View returns the present view of a phase for the policies.
func (o *Observed) View(phase int32) *View {
	o.s.view.ph = phase
	return &o.s.view
}

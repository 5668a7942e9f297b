package replay

import (
	"iter"
	"slices"

	"straggler/whatif/workload"
)

// View is what a policy may see of a phase: what a live scheduler would know at this instant, and nothing of the future.
// Tasks are numbered from 0 within the phase, machines within the pool.
type View struct {
	s  *Sim
	ph int32
}

// Running is an attempt that runs. It fills a cache line: policies read many of them at a look, in no order. What they do not
// read is with the slot.
type Running struct {
	Task    int32
	Number  int32 // 0: the original or its retry; n: the n-th copy or restart
	Machine int32
	curve   int32   // attempt of the log whose reports it follows, -1: synthetic progress
	Start   Time    // when it was or will be started; it already has its slot
	Note    float64 // for use by the policy, kept with the attempt; initially 0
	Last    float64 // the same, for a second number

	slot     int32
	observed int32   // index of the attempt of the log, -1 for a copy
	noise    float32 // of its synthetic progress; NaN until drawn
	waits    bool    // it waits for the parents of its phase
	ok       bool    // it will succeed; never shown to a policy
	copies   int16   // running attempts of its task, including itself
	bytes    int64   // its task's input, -1: unknown
}

// Done is an attempt that succeeded.
type Done struct {
	Task    int32
	Number  int32
	Machine int32
	curve   int32 // as of Running
	Took    Time
	At      Time
	copied  Time  // of a planned pool: from its start until it computed
	bytes   int64 // its task's input, -1: unknown
}

// Now returns the instant.
func (v *View) Now() Time { return Time(v.s.now) }

// In requests the next look after a span.
func (v *View) In(t Time) Again { return Again{At: Time(v.s.now) + t} }

// Phase returns the number of the phase in the pool.
func (v *View) Phase() int { return int(v.ph) }

// Kind returns what the log calls the phase: map, reduce, …
func (v *View) Kind() string { return v.s.p.Phases[v.ph].Kind }

// Parents returns the phases whose outputs the phase reads. The slice must not be changed.
func (v *View) Parents() []int32 { return v.s.p.Phases[v.ph].Parents }

// Gang reports whether the tasks of the phase depend on each other.
func (v *View) Gang() bool { return v.s.p.Phases[v.ph].Gang }

// Released returns when the phase was released.
func (v *View) Released() Time { return Time(v.s.phases[v.ph].released) }

// JobReleased returns when the job was released.
func (v *View) JobReleased() Time { return Time(v.s.jobs[v.s.p.Phases[v.ph].Job].released) }

// Tasks returns the number of tasks of the phase.
func (v *View) Tasks() int { return int(v.s.p.Phases[v.ph].Tasks) }

// Waiting returns the number of tasks of the phase that wait for a slot.
func (v *View) Waiting() int { return int(v.s.phases[v.ph].waiting) }

// Running returns the running attempts of the phase, in no particular order. The slice must not be kept.
func (v *View) Running() []Running { return v.s.phases[v.ph].running }

// Done returns the attempts of the phase that succeeded, in the order in which they did. The slice must not be changed.
func (v *View) Done() []Done { return v.s.phases[v.ph].done }

// Started returns the tasks of all attempts started so far, including copies and finished ones, in the order of their starts, so
// that new ones are at its end. The slice must not be changed.
func (v *View) Started() []int32 { return v.s.phases[v.ph].started }

// Joined returns the tasks of attempts started while another attempt of the task ran, in the order of their starts. The slice
// must not be changed.
func (v *View) Joined() []int32 { return v.s.phases[v.ph].joined }

// Attempts yields the running attempts of a task, the last one started first.
func (v *View) Attempts(task int32) iter.Seq[*Running] {
	return func(yield func(*Running) bool) {
		running := v.s.phases[v.ph].running
		for slot := v.s.task(v.s.p.Phases[v.ph].FirstTask + task).slot; slot >= 0; slot = v.s.slots[slot].next {
			if !yield(&running[v.s.slots[slot].at]) {
				return
			}
		}
	}
}

// Succeeded returns the number of tasks that have succeeded and not lost their output.
func (v *View) Succeeded() int { return int(v.s.phases[v.ph].finished) }

// Copies returns the number of running attempts of a task.
func (v *View) Copies(task int32) int {
	return int(v.s.task(v.s.p.Phases[v.ph].FirstTask + task).live)
}

// CopiesOf returns Copies of the task of an attempt.
func (v *View) CopiesOf(a *Running) int { return int(a.copies) }

// Slot returns the slot on which an attempt runs. On returns the attempt of the phase that runs on a slot, or nil if there is
// none.
func (v *View) Slot(a *Running) int32 { return a.slot }
func (v *View) On(slot int32) *Running {
	if sr := &v.s.slots[slot]; sr.at >= 0 && sr.phase == v.ph {
		return &v.s.phases[v.ph].running[sr.at]
	}
	return nil
}

// Place returns an index of the task of an attempt, below the number of tasks, in the order of launches, so that arrays indexed
// by it have good locality. It is constant unless LongestFirst is called.
func (v *View) Place(a *Running) int32 { return v.s.slots[a.slot].place - v.s.p.Phases[v.ph].FirstTask }

// Launched returns the number of copies and restarts of a task started so far.
func (v *View) Launched(task int32) int {
	return int(v.s.task(v.s.p.Phases[v.ph].FirstTask + task).copies)
}

// Finished reports whether a task has succeeded.
func (v *View) Finished(task int32) bool {
	return v.s.task(v.s.p.Phases[v.ph].FirstTask + task).done
}

// Blocked reports whether an attempt cannot end before upstream phases do: a reduce that began early.
func (v *View) Blocked(a *Running) bool { return a.waits && v.s.phases[v.ph].gates > 0 }

// Elapsed returns how long an attempt has run.
func (v *View) Elapsed(a *Running) Time { return max(Time(v.s.now)-a.Start, 0) }

// Progress returns the progress of an attempt, 0 to 1: as reported in the log, if that has reports, stretched if it takes longer
// in the replay. Otherwise it is synthetic: linear in time, with an error that is drawn once per attempt with the σ of the replay
// and vanishes as the attempt nears its end.
func (v *View) Progress(a *Running) float64 { return v.s.progress(v.ph, a) }

// Steady reports whether the progress of an attempt is synthetic and its end is fixed: its estimated time left,
// elapsed/progress − elapsed, only decreases from now on.
func (v *View) Steady(a *Running) bool {
	return v.s.observed == nil && !v.s.staged() && a.curve < 0 && !a.waits
}

// Line returns elapsed/progress of a steady attempt, up to rounding, as a linear function of the time elapsed, in seconds: its
// value at the start and its slope. With it policies need not poll the progress of attempts that they will not act on.
func (v *View) Line(a *Running) (start, slope float64) {
	z, whole := v.s.noise(v.ph, a), v.s.whole(a)/1e6
	return whole * (1 + z), -z
}

// Bound returns an upper bound of elapsed/progress of a steady attempt, in seconds, computed without drawing the error of its
// progress, which is slower.
func (v *View) Bound(a *Running) float64 {
	return v.s.whole(a) / 1e6 * (1 + v.s.noiseAtMost(v.ph, a))
}

// Reported returns the progress of a steady attempt at an earlier instant.
func (v *View) Reported(a *Running, at Time) float64 { return v.s.progressAt(v.ph, a, int64(at)) }

// Bytes returns the input of a task; -1 if unknown. Schedulers know it before they launch the task; in a live application it is
// estimated until the task is done.
func (v *View) Bytes(task int32) int64 {
	n := v.s.p.Phases[v.ph].FirstTask + task
	if o := v.s.observed; o != nil {
		return o.expected(n, o.p.Tasks[n].Bytes, o.sizes[v.ph].bytes)
	}
	return v.s.p.Tasks[n].Bytes
}

// Input returns Bytes of the task of an attempt.
func (v *View) Input(a *Running) int64 {
	if v.s.observed != nil {
		return v.Bytes(a.Task)
	}
	return a.bytes
}

// InputOf returns Bytes of the task of an attempt that is done.
func (v *View) InputOf(d *Done) int64 {
	if v.s.observed != nil {
		return v.Bytes(d.Task)
	}
	return d.bytes
}

// Lag returns how long an attempt of the phase takes to start once it has a slot, and Far the factor by which it takes longer
// away from its data, both measured over the log: a scheduler knows these about its cluster. In a planned pool, Far is the mean
// duration on any machine relative to that of the successful attempts where they ran; with a network, whose future load is
// unknown, it is 1.
func (v *View) Lag() Time { return Time(v.s.p.Phases[v.ph].CopyLag) }
func (v *View) Far() float64 {
	if v.s.staged() {
		return v.s.farPlanned(v.ph)
	}
	return max(float64(v.s.p.Phases[v.ph].Far), 1)
}

// Slots returns the number of slots, Free that of idle ones, Queued that of waiting copies.
func (v *View) Slots() int  { return v.s.p.Capacity() }
func (v *View) Free() int   { return v.s.idleIn(v.s.p.Phases[v.ph].Class) }
func (v *View) Queued() int { return v.s.firsts.n() + v.s.queue.n() + len(v.s.clones) }

// Unfinished returns the number of tasks of released phases that use slots of the phase's class and have not finished.
func (v *View) Unfinished() (n int) {
	if o := v.s.observed; o != nil {
		for _, i := range o.active {
			n += int(o.p.Phases[i].Tasks - v.s.phases[i].over)
		}
		return n
	}
	return v.s.unfinished[v.s.p.Phases[v.ph].Class]
}

// Load returns the number of slots of the phase's class that a machine has now, and how many of them are in use.
func (v *View) Load(machine int32) (slots, used int) {
	class := v.s.p.Phases[v.ph].Class
	for _, n := range v.s.p.Machines[machine].Slots {
		switch {
		case v.s.p.Slots[n].Class != class:
		case v.s.slots[n].at >= 0:
			slots, used = slots+1, used+1
		case v.s.free[class].has(n):
			slots++
		}
	}
	return slots, used
}

// Speculating returns the number of copies that run in the pool.
func (v *View) Speculating() int { return v.s.speculating }

// ExecutorSlots returns the number of slots of the largest executor.
func (v *View) ExecutorSlots() int { return v.s.p.ExecutorSlots }

// Machines returns the number of machines.
func (v *View) Machines() int { return len(v.s.p.Machines) }

// FreeMachines appends the machines that have a free slot, each once, in order.
func (v *View) FreeMachines(to []int32) []int32 {
	return v.s.freeMachines(v.s.p.Phases[v.ph].Class, to)
}

// freeMachines appends the machines that have a free slot of a class, each once, in order.
func (s *Sim) freeMachines(class workload.Class, to []int32) []int32 {
	if s.idleIn(class) <= 0 {
		return to
	}
	from := len(to)
	for n := range s.free[class].all() {
		to = append(to, s.p.Slots[n].Machine)
	}
	slices.Sort(to[from:]) // almost always sorted already
	return slices.Compact(to)
}

// NodeProgress adds to each machine the progress scores of the attempts that run on it, of all phases of the job.
func (v *View) NodeProgress(scores []float64) {
	job := v.s.p.Phases[v.ph].Job
	for n := range v.s.slots {
		x := &v.s.slots[n]
		if x.at < 0 || v.s.p.Phases[x.phase].Job != job {
			continue
		}
		a := &v.s.phases[x.phase].running[x.at]
		scores[a.Machine] += v.s.progress(x.phase, a)
	}
}

// Memory returns where a policy keeps its state of the phase; initially nil.
func (v *View) Memory() *any { return &v.s.phases[v.ph].memory }

// JobMemory returns where a policy keeps its state of the job; initially nil.
func (v *View) JobMemory() *any { return &v.s.jobs[v.s.p.Phases[v.ph].Job].memory }

// Records returns the number of input records of a task; -1 if unknown.
func (v *View) Records(task int32) int64 {
	n := v.s.p.Phases[v.ph].FirstTask + task
	if o := v.s.observed; o != nil {
		return o.expected(n, o.p.Tasks[n].Records, o.sizes[v.ph].records)
	}
	return v.s.p.Tasks[n].Records
}

// Setting returns a configuration value of the application, if the pool has only one and its log has the value.
func (v *View) Setting(name string) (string, bool) { s, ok := v.s.p.Settings[name]; return s, ok }

// Version returns the version of the application's framework; empty if unknown.
func (v *View) Version() string { return v.s.p.Version() }

// CheckAt returns the first instant at or after t of the periodic checks of the framework.
func (v *View) CheckAt(t, period Time) Time {
	grid := Time(v.s.p.Grid)
	n := (t - grid + period - 1) / period
	return grid + n*period
}

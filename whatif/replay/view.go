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

// Running is an attempt that runs.
type Running struct {
	Task    int32
	Number  int32 // 0: the original or its retry; n: the n-th copy or restart
	Machine int32
	place   int32   // of its task, see Sim.place
	Start   Time    // when it was or will be started; it has its slot already
	Note    float64 // the policy's own, kept with the attempt; 0 at first
	Last    float64 // the same, for a second number

	slot     int32
	observed int32   // index of the attempt of the log, -1 for a copy
	noise    float32 // of its synthetic progress; NaN until drawn
	waits    bool    // for the parents of its phase
	ok       bool    // it will succeed; never shown to a policy
	copies   int16   // attempts of its task that run, itself among them
	bytes    int64   // its task's input, -1: unknown
	done     int64   // µs that it takes; never shown to a policy
	copied   Time    // of a planned pool: from its start until it computed
	reports  workload.Curve
}

// Done is an attempt that succeeded.
type Done struct {
	Task    int32
	Number  int32
	Machine int32
	Took    Time
	At      Time
	copied  Time  // of a planned pool: from its start until it computed
	bytes   int64 // its task's input, -1: unknown
	reports workload.Curve
}

// Now is the instant.
func (v *View) Now() Time { return Time(v.s.now) }

// In is a wish to look again after a span.
func (v *View) In(t Time) Again { return Again{At: Time(v.s.now) + t} }

// Phase is the number of the phase in the pool, Job that of its job.
func (v *View) Phase() int { return int(v.ph) }
func (v *View) Job() int   { return int(v.s.p.Phases[v.ph].Job) }

// Kind is what the log calls the phase: map, reduce, …
func (v *View) Kind() string { return v.s.p.Phases[v.ph].Kind }

// Parents are the phases whose outputs the phase reads. The slice must not be changed.
func (v *View) Parents() []int32 { return v.s.p.Phases[v.ph].Parents }

// Gang is whether the tasks of the phase depend on each other.
func (v *View) Gang() bool { return v.s.p.Phases[v.ph].Gang }

// Released is when the phase was released.
func (v *View) Released() Time { return Time(v.s.phases[v.ph].released) }

// Tasks is the number of tasks of the phase.
func (v *View) Tasks() int { return int(v.s.p.Phases[v.ph].Tasks) }

// Waiting is how many tasks of the phase wait for a slot.
func (v *View) Waiting() int { return int(v.s.phases[v.ph].waiting) }

// Running are the attempts of the phase that run, in no particular order. The slice must not be kept.
func (v *View) Running() []Running { return v.s.phases[v.ph].running }

// Done are the attempts of the phase that succeeded, in the order in which they did. The slice must not be changed.
func (v *View) Done() []Done { return v.s.phases[v.ph].done }

// Started are the tasks of the attempts that were started, in that order, those that are over and copies among them: what
// has begun since an earlier look is found at its end. The slice must not be changed.
func (v *View) Started() []int32 { return v.s.phases[v.ph].started }

// Joined are the tasks of the attempts that were started while another attempt of the task ran, in that order. The slice must
// not be changed.
func (v *View) Joined() []int32 { return v.s.phases[v.ph].joined }

// Attempts are those of a task that run, the one that was started last first.
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

// Succeeded is how many tasks have succeeded and have not lost what they made.
func (v *View) Succeeded() int { return int(v.s.phases[v.ph].finished) }

// Copies is how many attempts of a task run.
func (v *View) Copies(task int32) int {
	return int(v.s.task(v.s.p.Phases[v.ph].FirstTask + task).live)
}

// CopiesOf is Copies of the task of an attempt.
func (v *View) CopiesOf(a *Running) int { return int(a.copies) }

// Place is a number for the task of an attempt, from 0 to that of tasks: tasks that are launched one after the other lie near
// each other by it, in memory too. It stays what it is unless LongestFirst is asked for.
func (v *View) Place(a *Running) int32 { return a.place - v.s.p.Phases[v.ph].FirstTask }

// Launched is how many copies and restarts of a task were ever started.
func (v *View) Launched(task int32) int {
	return int(v.s.task(v.s.p.Phases[v.ph].FirstTask + task).copies)
}

// Finished is whether a task has succeeded.
func (v *View) Finished(task int32) bool {
	return v.s.task(v.s.p.Phases[v.ph].FirstTask + task).done
}

// Blocked is whether an attempt cannot end before phases that its phase reads from do: a reduce that began early.
func (v *View) Blocked(a *Running) bool { return a.waits && v.s.phases[v.ph].gates > 0 }

// Elapsed is how long an attempt has run.
func (v *View) Elapsed(a *Running) Time { return max(Time(v.s.now)-a.Start, 0) }

// Progress is how far an attempt has got, 0 to 1: what it reported in the log, where that holds its progress, stretched
// where it takes longer than it did. Otherwise it is synthetic: linear in time, times an error that is drawn once an
// attempt with the σ of the replay and fades as the attempt nears its end.
func (v *View) Progress(a *Running) float64 { return v.s.progress(v.ph, a) }

// Steady is whether the progress of an attempt is synthetic and its end does not move any more: what it is estimated to need
// still, elapsed/progress − elapsed, only falls from now on.
func (v *View) Steady(a *Running) bool {
	return v.s.observed == nil && !v.s.staged() && a.reports.N == 0 && !a.waits
}

// Line is what elapsed/progress of a steady attempt is, but for rounding: a straight line, in seconds, from what it is at the
// start and with its slope over the time elapsed. It spares policies the progress of attempts on which they would do nothing.
func (v *View) Line(a *Running) (start, slope float64) {
	z, whole := v.s.noise(v.ph, a), v.s.whole(a)/1e6
	return whole * (1 + z), -z
}

// Bound is what elapsed/progress of a steady attempt does not exceed, in seconds, as far as that is known without the error of
// its progress, which takes longer to draw.
func (v *View) Bound(a *Running) float64 {
	return v.s.whole(a) / 1e6 * (1 + v.s.noiseAtMost(v.ph, a))
}

// Reported is the progress of a steady attempt at an earlier instant.
func (v *View) Reported(a *Running, at Time) float64 { return v.s.progressAt(v.ph, a, int64(at)) }

// Bytes is the input of a task, -1 where it is unknown. Schedulers know it before they launch the task; of an application
// that runs elsewhere it is estimated until the task is done.
func (v *View) Bytes(task int32) int64 {
	n := v.s.p.Phases[v.ph].FirstTask + task
	if o := v.s.observed; o != nil {
		return o.expected(n, o.p.Tasks[n].Bytes, o.sizes[v.ph].bytes)
	}
	return v.s.p.Tasks[n].Bytes
}

// Input is Bytes of the task of an attempt.
func (v *View) Input(a *Running) int64 {
	if v.s.observed != nil {
		return v.Bytes(a.Task)
	}
	return a.bytes
}

// InputOf is Bytes of the task of an attempt that is done.
func (v *View) InputOf(d *Done) int64 {
	if v.s.observed != nil {
		return v.Bytes(d.Task)
	}
	return d.bytes
}

// Lag is how long an attempt of the phase takes to start once it has a slot, and Far how many times as long it takes away
// from its data: what a scheduler knows of its cluster, measured over the log. In a planned pool, where it knows what reading
// from elsewhere costs and where the data lies, Far is how many times as long a task takes on any machine as the attempts that
// succeeded took where they ran; over a network, of which it does not know how busy it will be, it is 1.
func (v *View) Lag() Time { return Time(v.s.p.Phases[v.ph].CopyLag) }
func (v *View) Far() float64 {
	if v.s.staged() {
		return v.s.farPlanned(v.ph)
	}
	return max(float64(v.s.p.Phases[v.ph].Far), 1)
}

// Slots is the number of slots, Free those that are idle, Queued the copies that wait for one.
func (v *View) Slots() int  { return v.s.p.Capacity() }
func (v *View) Free() int   { return v.s.idleIn(v.s.p.Phases[v.ph].Class) }
func (v *View) Queued() int { return v.s.firsts.n() + v.s.queue.n() + len(v.s.clones) }

// Speculating is how many copies run in the pool.
func (v *View) Speculating() int { return v.s.speculating }

// ExecutorSlots is how many slots the largest executor has.
func (v *View) ExecutorSlots() int { return v.s.p.ExecutorSlots }

// Machines is the number of machines.
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
	slices.Sort(to[from:]) // nearly always in order already
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

// Memory is where a policy keeps what it knows of the phase; nil at first.
func (v *View) Memory() *any { return &v.s.phases[v.ph].memory }

// JobMemory is where a policy keeps what it knows of the job; nil at first.
func (v *View) JobMemory() *any { return &v.s.jobs[v.s.p.Phases[v.ph].Job].memory }

// Records is the input records of a task, -1 where unknown.
func (v *View) Records(task int32) int64 {
	n := v.s.p.Phases[v.ph].FirstTask + task
	if o := v.s.observed; o != nil {
		return o.expected(n, o.p.Tasks[n].Records, o.sizes[v.ph].records)
	}
	return v.s.p.Tasks[n].Records
}

// Setting is a configuration value of the application, where the pool has one and its log says it.
func (v *View) Setting(name string) (string, bool) { s, ok := v.s.p.Settings[name]; return s, ok }

// Version is the version of the application's framework, empty where the log does not say.
func (v *View) Version() string { return v.s.p.Version() }

// CheckAt is the first instant, at or after t, of the checks that the framework makes once every period.
func (v *View) CheckAt(t, period Time) Time {
	grid := Time(v.s.p.Grid)
	n := (t - grid + period - 1) / period
	return grid + n*period
}

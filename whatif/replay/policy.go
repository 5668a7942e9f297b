package replay

// Policy is a straggler policy. A value serves one replay, with all of its phases, and may keep state: per phase in
// View.Memory, or in itself.
type Policy interface {
	// Look is called when a phase is released, before its first task is launched, and then as requested by its result, the last
	// time when the phase is over if it requested ends. It sees what a live scheduler would see, records actions, and returns
	// when to be called again. Actions are carried out in order after it returns; those that are no longer possible are
	// skipped.
	Look(v *View, do *Actions) Again
}

// Abstainer is implemented by policies that may have nothing to decide about the only attempt of a job, as they compare attempts
// with each other. They do not look at such jobs, of which some logs are full.
type Abstainer interface {
	// Abstains reports whether the policy certainly does nothing in a job of one task that runs once, whose progress is
	// synthetic with an error (View.Progress) of at most so much.
	Abstains(most float64) bool
}

// Again is when a policy is to look at the phase again; the zero value means never. A policy that acts once no task waits
// requests Launched: an attempt ends much later than that if the tasks fit into the idle slots, or if slots of other phases take
// the last.
type Again struct {
	At       Time // an instant; 0: at none
	End      bool // whenever an attempt of the phase has ended
	Launched bool // when an attempt of the phase has started and none of its tasks waits
}

// Actions records the actions of a policy.
type Actions struct {
	list  []action
	reads []*Reading // of the actions that set one
}

func (d *Actions) reset() {
	d.list = d.list[:0]
	clear(d.reads)
	d.reads = d.reads[:0]
}

type verb uint8

const (
	doCopy verb = iota
	doCopyOn
	doQueue
	doClone
	doWithdraw
	doKill
	doRestart
	doLongestFirst
	doAvoid
	doCancelCopies
	doRead
)

type action struct {
	verb   verb
	first  bool
	fresh  bool
	task   int32
	where  int32 // machine, slot, phase, or index into reads
	number int32
	till   Time
}

// Copy starts a copy of a running task on any free slot of a machine on which the task is not running. It is skipped if there
// is none.
func (d *Actions) Copy(task int32) { d.list = append(d.list, action{verb: doCopy, task: task}) }

// CopyOn starts a copy on a machine. It is skipped if the machine has no free slot.
func (d *Actions) CopyOn(task, machine int32) {
	d.list = append(d.list, action{verb: doCopyOn, task: task, where: machine})
}

// QueueCopy starts a copy on the first slot that no task waits for, unless the task is done by then. The task need not have
// been started.
func (d *Actions) QueueCopy(task int32) { d.list = append(d.list, action{verb: doQueue, task: task}) }

// CopyFirst is like QueueCopy, but the copy precedes tasks that were never started.
func (d *Actions) CopyFirst(task int32) {
	d.list = append(d.list, action{verb: doQueue, task: task, first: true})
}

// QueueFresh is like QueueCopy, but only on a machine that never ran an attempt of the task. The copy waits forever if there is
// none.
func (d *Actions) QueueFresh(task int32) {
	d.list = append(d.list, action{verb: doQueue, task: task, fresh: true})
}

// Clone starts a copy right after the task itself: it is queued like another task. Under a Scheduler it is QueueCopy.
func (d *Actions) Clone(task int32) { d.list = append(d.list, action{verb: doClone, task: task}) }

// Withdraw removes the waiting copies of a task from the queue, except restarts.
func (d *Actions) Withdraw(task int32) {
	d.list = append(d.list, action{verb: doWithdraw, task: task})
}

// Read sets how the clones of the phase, including originals, read upstream outputs; nil means as if there were no clones. It
// applies to attempts started from now on.
func (d *Actions) Read(r *Reading) {
	d.list = append(d.list, action{verb: doRead, where: int32(len(d.reads))})
	d.reads = append(d.reads, r)
}

// Kill ends an attempt for good. The last running attempt of a task cannot be killed; see Restart.
func (d *Actions) Kill(a Running) {
	d.list = append(d.list, action{verb: doKill, task: a.Task, where: a.slot, number: a.Number})
}

// Restart kills an attempt and starts its task again on another machine as soon as there is a slot, before tasks that were
// never started.
func (d *Actions) Restart(a Running) {
	d.list = append(d.list, action{verb: doRestart, task: a.Task, where: a.slot, number: a.Number})
}

// CancelCopies removes the waiting copies of a phase's tasks from the queue and kills running ones, as long as one attempt of
// the task remains. The phase need not be the one of the look.
func (d *Actions) CancelCopies(phase int) {
	d.list = append(d.list, action{verb: doCancelCopies, where: int32(phase)})
}

// LongestFirst starts the tasks of the phase in descending order of their data. It has no effect once the first task is
// launched.
func (d *Actions) LongestFirst() { d.list = append(d.list, action{verb: doLongestFirst}) }

// Avoid starts nothing on a machine until an instant. It is skipped if no machine would be left.
func (d *Actions) Avoid(machine int32, till Time) {
	d.list = append(d.list, action{verb: doAvoid, where: machine, till: till})
}

package replay

// Policy is a straggler policy. A value of it decides for one replay, for all phases of it, and may remember what it
// likes: per phase in View.Memory, or in itself.
type Policy interface {
	// Look is called when a phase is released, before its first task is launched, and then whenever it asked for, the last time
	// when the phase is over if it asked for ends. It sees what a live scheduler would see, writes down what to do, and says
	// when to look again. What it asks for is done after it returns, in order; what cannot be done any more is left out.
	Look(v *View, do *Actions) Again
}

// Again says when a policy wants to look at the phase again; the zero value is never.
type Again struct {
	At  Time // an instant; 0: at none
	End bool // whenever an attempt of the phase has ended
}

// Actions are what a policy wants done.
type Actions struct{ list []action }

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
	task   int32
	where  int32 // machine or slot
	number int32
	till   Time
	first  bool
	fresh  bool
	read   *Reading
}

// Copy starts a copy of a running task on any free slot of a machine on which the task is not running. It is left out
// when there is none.
func (d *Actions) Copy(task int32) { d.list = append(d.list, action{verb: doCopy, task: task}) }

// CopyOn starts a copy on a machine. It is left out when the machine has no free slot.
func (d *Actions) CopyOn(task, machine int32) {
	d.list = append(d.list, action{verb: doCopyOn, task: task, where: machine})
}

// QueueCopy starts a copy as soon as no task waits for the slot, unless the task is over by then. The task need not
// have been started.
func (d *Actions) QueueCopy(task int32) { d.list = append(d.list, action{verb: doQueue, task: task}) }

// CopyFirst is QueueCopy of a copy that gets the next slot before tasks that were never started.
func (d *Actions) CopyFirst(task int32) {
	d.list = append(d.list, action{verb: doQueue, task: task, first: true})
}

// QueueFresh is QueueCopy on a machine that never ran an attempt of the task. It waits for ever where there is none.
func (d *Actions) QueueFresh(task int32) {
	d.list = append(d.list, action{verb: doQueue, task: task, fresh: true})
}

// Clone starts a copy when it is the turn of the task itself, after the task: it stands in line as another task would. Under
// a scheduler of its own it is QueueCopy.
func (d *Actions) Clone(task int32) { d.list = append(d.list, action{verb: doClone, task: task}) }

// Withdraw takes the copies of a task that wait for a slot out of the queue. Restarts stay.
func (d *Actions) Withdraw(task int32) {
	d.list = append(d.list, action{verb: doWithdraw, task: task})
}

// Read says how the clones of the phase, its originals among them, read what the phases before it made; nil as if there
// were none. It holds for what is started from now on.
func (d *Actions) Read(r *Reading) { d.list = append(d.list, action{verb: doRead, read: r}) }

// Kill ends an attempt for good. The last running attempt of a task cannot be killed; see Restart.
func (d *Actions) Kill(a Running) {
	d.list = append(d.list, action{verb: doKill, task: a.Task, where: a.slot, number: a.Number})
}

// Restart kills an attempt and starts its task anew on another machine as soon as there is a slot, before tasks that
// were never started.
func (d *Actions) Restart(a Running) {
	d.list = append(d.list, action{verb: doRestart, task: a.Task, where: a.slot, number: a.Number})
}

// CancelCopies takes the copies of a phase's tasks that wait for a slot out of the queue and kills those that run, as
// long as one attempt of the task remains. The phase may be another than the one looked at.
func (d *Actions) CancelCopies(phase int) {
	d.list = append(d.list, action{verb: doCancelCopies, where: int32(phase)})
}

// LongestFirst makes the tasks of the phase start in descending order of their data. It works until the first is launched.
func (d *Actions) LongestFirst() { d.list = append(d.list, action{verb: doLongestFirst}) }

// Avoid starts nothing on a machine until an instant. It is left out when it would leave no machine.
func (d *Actions) Avoid(machine int32, till Time) {
	d.list = append(d.list, action{verb: doAvoid, where: machine, till: till})
}

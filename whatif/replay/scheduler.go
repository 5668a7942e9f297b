package replay

import "straggler/whatif/workload"

// Scheduler decides which job gets the next slot. A value serves one replay, with all jobs of a pool, and may keep state.
// Straggler policies run under any scheduler: their restarts precede its tasks, and their copies get slots that it assigns to
// the job or leaves idle.
type Scheduler interface {
	// Assign is called at every instant with a change (a slot became free, tasks were queued, an attempt or a job ended) and at
	// the instant that it requested, after all other events of the instant. It starts tasks and kills attempts with the methods
	// of Cluster, which take effect at once. It returns the latest instant of the next call; 0: at the next change.
	Assign(c *Cluster) Time
}

// ChangeKind says what a Change is.
type ChangeKind uint8

const (
	JobReleased    ChangeKind = iota // Job
	JobEnded                         // Job
	PhaseReleased                    // the tasks of Phase wait for slots
	TaskQueued                       // Task waits again: it is retried, recomputed, or was killed
	CopyQueued                       // a copy of Task, launched by a policy, waits
	TaskDequeued                     // Task does not wait any more: a clone finished before it started
	AttemptStarted                   // an attempt of Task on Machine; Number distinguishes copies
	AttemptEnded                     // it ended by itself; a slot of Machine is free, unless the slot was removed
	AttemptKilled                    // it was killed by a policy, a faster copy or the scheduler; a slot is free likewise
	SlotAdded                        // Machine gained a slot, or is no longer avoided
	SlotRemoved                      // Machine lost an idle slot, or is avoided
	// An attempt of Job on Machine has finished reading: the machine may start another one that copies (FAIR §5.2).
	CopyingEnded
)

// Change is an event since the scheduler was last called. Numbers that do not apply are −1.
type Change struct {
	What    ChangeKind
	Job     int32
	Phase   int32
	Task    int32
	Number  int32
	Machine int32
}

// Cluster is what a scheduler sees and acts on: what a live scheduler would know at this instant, and nothing of the future.
// Jobs, phases and machines are numbered within the pool, tasks within their phase.
type Cluster struct{ s *Sim }

// Now returns the instant.
func (c *Cluster) Now() Time { return Time(c.s.now) }

// Seed returns the seed of the replay, for randomised schedulers.
func (c *Cluster) Seed() int64 { c.s.out.Drew = true; return c.s.o.Seed }

// Changes returns the events since the last call, in order, including actions of the scheduler itself. The slice must not be
// kept.
func (c *Cluster) Changes() []Change { return c.s.sched.changes }

// Jobs returns the released jobs that have not ended, in order of submission. The slice must not be kept.
func (c *Cluster) Jobs() []int32 { return c.s.sched.active }

// Queue returns the queue, pool or user that a job belongs to, a number below the length of Queues.
func (c *Cluster) Queue(job int32) int32    { return c.s.p.Jobs[job].Queue }
func (c *Cluster) Queues() []workload.Queue { return c.s.p.Queues }

// NumJobs, NumPhases and NumMachines bound the numbers.
func (c *Cluster) NumJobs() int     { return len(c.s.p.Jobs) }
func (c *Cluster) NumPhases() int   { return len(c.s.p.Phases) }
func (c *Cluster) NumMachines() int { return len(c.s.p.Machines) }

// Phases returns the released phases of a job that are not over, in order of release. The slice must not be kept.
func (c *Cluster) Phases(job int32) []int32 { return c.s.sched.jobs[job].phases }

// Job returns the job of a phase, Class the slots that its tasks need.
func (c *Cluster) Job(phase int32) int32            { return c.s.p.Phases[phase].Job }
func (c *Cluster) Class(phase int32) workload.Class { return c.s.p.Phases[phase].Class }

// JobName returns the name of a job in the log, which recurring jobs share; empty if unknown.
func (c *Cluster) JobName(job int32) string { return c.s.p.Jobs[job].Name }

// Done returns the attempts of a phase that succeeded, in the order in which they did. The slice must not be changed.
func (c *Cluster) Done(phase int32) []Done { return c.s.phases[phase].done }

// PhaseTasks returns the number of tasks of a phase.
func (c *Cluster) PhaseTasks(phase int32) int { return int(c.s.p.Phases[phase].Tasks) }

// Waiting returns the number of tasks of a phase that wait for a slot, Running its running attempts, in no particular order. The
// slice must not be kept.
func (c *Cluster) Waiting(phase int32) int       { return int(c.s.sched.phases[phase].waiting) }
func (c *Cluster) Running(phase int32) []Running { return c.s.phases[phase].running }

// JobWaiting and JobRunning are the tasks of a job that wait for slots of a class, and the slots of the class that its
// attempts hold, copies included. The slots that it holds and Wants are its demand.
func (c *Cluster) JobWaiting(job int32, class workload.Class) int {
	return int(c.s.sched.jobs[job].waiting[class])
}
func (c *Cluster) JobRunning(job int32, class workload.Class) int {
	return int(c.s.sched.jobs[job].running[class])
}

// Wants returns the number of tasks of a job, and of their copies, that wait for slots of a class.
func (c *Cluster) Wants(job int32, class workload.Class) int {
	j := &c.s.sched.jobs[job]
	return int(j.waiting[class] + j.copies[class])
}

// Waits reports whether a task waits for a slot.
func (c *Cluster) Waits(phase, task int32) bool {
	return c.s.sched.first[c.s.p.Phases[phase].FirstTask+task] >= 0
}

// Bytes returns the input of a task; -1 if unknown.
func (c *Cluster) Bytes(phase, task int32) int64 {
	return c.s.p.Tasks[c.s.p.Phases[phase].FirstTask+task].Bytes
}

// Replicas returns the machines that hold the input of a task; none if it has no preference. The slice must not be changed.
func (c *Cluster) Replicas(phase, task int32) []int32 {
	return c.s.p.ReplicasOf(c.s.p.Phases[phase].FirstTask + task)
}

// Prefers reports whether any task of a phase has preferred machines.
func (c *Cluster) Prefers(phase int32) bool {
	from, till := c.s.p.Inputs.Entries(phase)
	return from < till
}

// Nearest returns the waiting task of a phase with its input nearest to a machine, within a level; ties are in order of launch.
func (c *Cluster) Nearest(phase, machine int32, most workload.Level) (task int32, at workload.Level, ok bool) {
	return c.s.nearest(phase, machine, most)
}

// Next returns the next waiting task of a phase, wherever its data.
func (c *Cluster) Next(phase int32) (task int32, ok bool) {
	t := c.s.nextWaiting(phase)
	return t, t >= 0
}

// Rack returns the rack of a machine, a number below Racks.
func (c *Cluster) Rack(machine int32) int32 { return c.s.p.Machines[machine].Rack }
func (c *Cluster) Racks() int               { return max(c.s.p.Racks, 1) }

// Idle returns how many more attempts of a class could run now, Free the number of free slots of the class on a machine.
func (c *Cluster) Idle(class workload.Class) int { return c.s.idleIn(class) }
func (c *Cluster) Free(machine int32, class workload.Class) int {
	return int(c.s.sched.freeOn[class][machine])
}

// Slots returns how many attempts of a class can run at once; MachineSlots how many slots of the class a machine has now.
func (c *Cluster) Slots(class workload.Class) int { return min(c.s.sched.slots[class], c.s.p.Limit) }
func (c *Cluster) MachineSlots(machine int32, class workload.Class) int {
	return int(c.s.sched.slotsOn[class][machine])
}

// HasRoom reports whether a machine would accept another task of a phase, apart from its slots: a job may have a limit, and
// under copy-compute splitting a machine refuses a job that already copies with as many attempts as the machine may compute
// with at once (FAIR §5.2).
func (c *Cluster) HasRoom(phase, machine int32) bool {
	return !c.s.atLimit(phase) && c.s.hasRoom(phase, machine)
}

// FreeMachines appends the machines that have a free slot of a class, each once, in order.
func (c *Cluster) FreeMachines(class workload.Class, to []int32) []int32 {
	return c.s.freeMachines(class, to)
}

// Start starts a waiting task on a machine. It does nothing and returns false if the task does not wait or the machine has no
// free slot for it.
func (c *Cluster) Start(phase, task, machine int32) bool { return c.s.startTask(phase, task, machine) }

// StartCopy starts on a machine the copy of a job that has waited longest among those that may run there. It does nothing and
// returns false if there is none, or if the machine has no free slot of the class.
func (c *Cluster) StartCopy(job, machine int32, class workload.Class) bool {
	return c.s.startCopy(job, machine, class)
}

// Kill ends an attempt that runs. Its work is lost; unless another attempt of it runs, the task waits again as if it had never
// been started. It returns false if the attempt no longer runs.
func (c *Cluster) Kill(phase int32, a Running) bool { return c.s.preempt(phase, a) }

// Link is the uplink and downlink of a rack.
type Link struct {
	Up, Down                 float64 // bytes/s that it carries now
	UpCapacity, DownCapacity float64 // bytes/s; 0: no limit
}

// Link returns the link of a rack; the zero Link if there is no network.
func (c *Cluster) Link(rack int32) Link {
	net := c.s.stages.net
	if !c.s.staged() || net == nil {
		return Link{}
	}
	var l Link
	if n := net.Uplink(rack); n >= 0 {
		l.Up, l.UpCapacity = net.Load(n), net.Capacity(n)
	}
	if n := net.Downlink(rack); n >= 0 {
		l.Down, l.DownCapacity = net.Load(n), net.Capacity(n)
	}
	return l
}

// Left appends the bytes in each rack of the outputs that a phase reads, so far; none if there is no network, or if the phase
// reads no other.
func (c *Cluster) Left(phase int32, to []float64) []float64 {
	p := &c.s.p.Phases[phase]
	if !c.s.staged() || c.s.stages.net == nil || !p.Shuffles {
		return to
	}
	from := len(to)
	to = append(to, make([]float64, c.s.p.Racks)...)
	for _, q := range p.Parents {
		for rack, bytes := range c.s.stages.outputs[q] {
			to[from+rack] += bytes
		}
	}
	return to
}

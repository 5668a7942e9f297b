package replay

import "straggler/whatif/workload"

// Scheduler decides who gets the next slot. A value of it decides for one replay, for all jobs of a pool, and may
// remember what it likes in itself. Straggler policies run under any scheduler: their restarts come before its tasks, and
// their copies wait for what it gives the job; what it leaves idle is theirs too.
type Scheduler interface {
	// Assign is called at every instant at which something changed — a slot came free, tasks came to wait, an attempt or
	// a job ended — and at the one that it asked for, once everything else of the instant has happened. It starts tasks
	// and kills attempts with the methods of Cluster, which take effect at once. It returns when to call it at the
	// latest, or 0: when something has changed.
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
	TaskDequeued                     // Task waits no longer: a clone finished before it started
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

// Cluster is what a scheduler sees, and how it acts: what a live one would know at this instant, and nothing of the
// future. Jobs, phases and machines are numbered within the pool, tasks within their phase.
type Cluster struct{ s *Sim }

// Now is the instant.
func (c *Cluster) Now() Time { return Time(c.s.now) }

// Seed is the luck of the replay, for schedulers that draw.
func (c *Cluster) Seed() int64 { c.s.out.Drew = true; return c.s.o.Seed }

// Changes are what happened since the last call, in order, what the scheduler did itself included. The slice must not be kept.
func (c *Cluster) Changes() []Change { return c.s.sched.changes }

// Jobs are those that were released and have not ended, in order of submission. The slice must not be kept.
func (c *Cluster) Jobs() []int32 { return c.s.sched.active }

// Queue is the queue, pool or user that a job belongs to, a number below the length of Queues.
func (c *Cluster) Queue(job int32) int32    { return c.s.p.Jobs[job].Queue }
func (c *Cluster) Queues() []workload.Queue { return c.s.p.Queues }

// NumJobs, NumPhases and NumMachines bound the numbers.
func (c *Cluster) NumJobs() int     { return len(c.s.p.Jobs) }
func (c *Cluster) NumPhases() int   { return len(c.s.p.Phases) }
func (c *Cluster) NumMachines() int { return len(c.s.p.Machines) }

// Phases are the phases of a job that were released and are not over, in order of release. The slice must not be kept.
func (c *Cluster) Phases(job int32) []int32 { return c.s.sched.jobs[job].phases }

// Job is the job of a phase, Class the slots that its tasks need.
func (c *Cluster) Job(phase int32) int32            { return c.s.p.Phases[phase].Job }
func (c *Cluster) Class(phase int32) workload.Class { return c.s.p.Phases[phase].Class }

// JobName is what the log calls a job; jobs that come again and again have the same. Empty where it does not say.
func (c *Cluster) JobName(job int32) string { return c.s.p.Jobs[job].Name }

// Done are the attempts of a phase that succeeded, in the order in which they did. The slice must not be changed.
func (c *Cluster) Done(phase int32) []Done { return c.s.phases[phase].done }

// PhaseTasks is the number of tasks of a phase.
func (c *Cluster) PhaseTasks(phase int32) int { return int(c.s.p.Phases[phase].Tasks) }

// Waiting is how many tasks of a phase wait for a slot, Running the attempts that run, in no particular order. The slice
// must not be kept.
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

// Wants is how many tasks of a job and copies of them wait for slots of a class.
func (c *Cluster) Wants(job int32, class workload.Class) int {
	j := &c.s.sched.jobs[job]
	return int(j.waiting[class] + j.copies[class])
}

// Waits is whether a task waits for a slot.
func (c *Cluster) Waits(phase, task int32) bool {
	return c.s.sched.first[c.s.p.Phases[phase].FirstTask+task] >= 0
}

// Bytes is the input of a task, -1 where it is unknown.
func (c *Cluster) Bytes(phase, task int32) int64 {
	return c.s.p.Tasks[c.s.p.Phases[phase].FirstTask+task].Bytes
}

// Replicas are the machines that have the input of a task; none where it has no preference. The slice must not be changed.
func (c *Cluster) Replicas(phase, task int32) []int32 {
	return c.s.p.ReplicasOf(c.s.p.Phases[phase].FirstTask + task)
}

// Prefers is whether any task of a phase has data somewhere.
func (c *Cluster) Prefers(phase int32) bool {
	from, till := c.s.p.Inputs.Entries(phase)
	return from < till
}

// Nearest is the waiting task of a phase that is nearest to a machine, in order of launch among equals, if it is no
// farther than a level.
func (c *Cluster) Nearest(phase, machine int32, most workload.Level) (task int32, at workload.Level, ok bool) {
	return c.s.nearest(phase, machine, most)
}

// Next is the waiting task of a phase whose turn it is, wherever its data.
func (c *Cluster) Next(phase int32) (task int32, ok bool) {
	t := c.s.nextWaiting(phase)
	return t, t >= 0
}

// Rack is the rack of a machine, a number below Racks.
func (c *Cluster) Rack(machine int32) int32 { return c.s.p.Machines[machine].Rack }
func (c *Cluster) Racks() int               { return max(c.s.p.Racks, 1) }

// Idle is how many more attempts of a class could run now, Free how many slots of the class a machine has free.
func (c *Cluster) Idle(class workload.Class) int { return c.s.idleIn(class) }
func (c *Cluster) Free(machine int32, class workload.Class) int {
	return int(c.s.sched.freeOn[class][machine])
}

// Slots is how many attempts of a class can run at once; MachineSlots how many slots of the class a machine has now.
func (c *Cluster) Slots(class workload.Class) int { return min(c.s.sched.slots[class], c.s.p.Limit) }
func (c *Cluster) MachineSlots(machine int32, class workload.Class) int {
	return int(c.s.sched.slotsOn[class][machine])
}

// HasRoom is whether a machine would take one more task of a phase, apart from its slots: a job may have a limit, and under
// copy-compute splitting a machine refuses a job that copies with as many attempts as the machine may compute with at once
// (FAIR §5.2).
func (c *Cluster) HasRoom(phase, machine int32) bool {
	return !c.s.atLimit(phase) && c.s.hasRoom(phase, machine)
}

// FreeMachines appends the machines that have a free slot of a class, each once, in order.
func (c *Cluster) FreeMachines(class workload.Class, to []int32) []int32 {
	return c.s.freeMachines(class, to)
}

// Start starts a waiting task on a machine. It is false, and nothing happens, when the task does not wait or the machine
// has no free slot for it.
func (c *Cluster) Start(phase, task, machine int32) bool { return c.s.startTask(phase, task, machine) }

// StartCopy starts on a machine the copy of a job that has waited longest of those that may run there. It is false, and
// nothing happens, when there is none, or the machine has no free slot of the class.
func (c *Cluster) StartCopy(job, machine int32, class workload.Class) bool {
	return c.s.startCopy(job, machine, class)
}

// Kill ends an attempt that runs. Its work is lost; unless another attempt of it runs, the task waits again as if it had
// never been started. It is false when the attempt does not run any more.
func (c *Cluster) Kill(phase int32, a Running) bool { return c.s.preempt(phase, a) }

// Link is a rack's connection with the others.
type Link struct {
	Up, Down                 float64 // bytes/s that it carries now
	UpCapacity, DownCapacity float64 // bytes/s; 0: no limit
}

// Link is that of a rack. It is empty where there is no network.
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

// Left appends the bytes that the phases which a phase reads have left in each rack so far; none where there is no
// network, or the phase reads no other.
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

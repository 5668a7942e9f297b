package schedule

import (
	"math/rand/v2"

	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

// order is the order in which jobs are served.
type order interface {
	// see processes the changes since the last call.
	see(c *replay.Cluster, changes []replay.Change)
	// first is the first job that waits for a slot of a class; -1 if there is none.
	first(c *replay.Cluster, class workload.Class) int32
	// jobs appends all such jobs, in order.
	jobs(c *replay.Cluster, class workload.Class, to []int32) []int32
	// kill makes room for jobs that have waited too long, and returns when to call it again; 0: never.
	kill(c *replay.Cluster) replay.Time
}

// offers gives idle slots to jobs as Hadoop's masters do. A machine with a free slot requests a task. The jobs are tried in
// order, each with its waiting task nearest to the machine; a job that may not start that task so far from its data is passed
// over. A machine with several free slots requests one task at a time, in turn with the others.
type offers struct {
	order
	delay    delay
	placer   *placer // nil: tasks go wherever the order of machines takes them
	machines []int32 // in the order of their requests if several have free slots: a new one each round, as heartbeats drift
	some     []int32 // machines that have got a free slot
	luck     *rand.Rand
	all      bool // every machine may get something
	past     int  // changes that were seen
	list     []int32
	listed   bool // list is up to date
	wake     replay.Time
}

func newOffers(o order, d Delay) *offers { return &offers{order: o, delay: delay{Delay: d}} }

// Assign offers the slots that a job may take: all idle ones if tasks were queued or a wait is over, otherwise those that
// became free.
func (o *offers) Assign(c *replay.Cluster) replay.Time {
	if o.machines == nil {
		o.begin(c)
	}
	o.past, o.some = 0, o.some[:0]
	if o.all = o.wake > 0 && c.Now() >= o.wake; o.all {
		o.wake = 0
	}
	o.notice(c)
	killed := o.kill(c)
	o.notice(c)
	for class := range workload.Class(workload.Classes) {
		o.offer(c, class)
	}
	return earlier(o.wake, killed)
}

// earlier returns the earlier of two instants, of which 0 is none.
func earlier(a, b replay.Time) replay.Time {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

func (o *offers) begin(c *replay.Cluster) {
	o.delay.begin(c)
	o.luck = rand.New(rand.NewPCG(uint64(c.Seed()), 4))
	for m := range int32(c.NumMachines()) {
		o.machines = append(o.machines, m)
	}
}

// notice processes the changes.
func (o *offers) notice(c *replay.Cluster) {
	changes := c.Changes()[o.past:]
	o.past += len(changes)
	if len(changes) == 0 {
		return
	}
	o.see(c, changes)
	if o.delay.Bias > 0 {
		o.delay.learn(c, changes)
	}
	for n := range changes {
		switch x := &changes[n]; x.What {
		case replay.PhaseReleased, replay.TaskQueued, replay.CopyQueued:
			o.all = true
		case replay.AttemptEnded, replay.AttemptKilled, replay.SlotAdded, replay.CopyingEnded:
			o.some = append(o.some, x.Machine)
		}
	}
}

// offer offers the idle slots of a class, one task per machine at a time, until none is taken.
func (o *offers) offer(c *replay.Cluster, class workload.Class) {
	machines := o.some
	if o.all {
		machines = o.machines
	}
	o.listed = false
	first := o.first(c, class)
	for taken := true; taken && first >= 0 && c.Idle(class) > 0; {
		taken = false
		if len(machines) > 1 {
			o.luck.Shuffle(len(machines), func(a, b int) { machines[a], machines[b] = machines[b], machines[a] })
		}
		for _, m := range machines {
			if c.Free(m, class) == 0 {
				continue
			}
			if !o.ask(c, class, m, first) {
				continue
			}
			taken, o.listed = true, false
			o.notice(c)
			if c.Idle(class) <= 0 {
				return
			}
			if first = o.first(c, class); first < 0 {
				return
			}
		}
	}
}

// ask offers a slot of a machine to the jobs in order.
func (o *offers) ask(c *replay.Cluster, class workload.Class, m, first int32) bool {
	if o.takes(c, first, class, m) {
		return true
	}
	if !o.listed {
		o.list, o.listed = o.jobs(c, class, o.list[:0]), true
	}
	for _, j := range o.list {
		if j != first && o.takes(c, j, class, m) {
			return true
		}
	}
	return false
}

// takes starts a task of a job on a machine, if the job has one that may run there, else a copy of one (Hadoop's jobs copy when
// they have nothing else to start, FAIR §6.1).
func (o *offers) takes(c *replay.Cluster, job int32, class workload.Class, m int32) bool {
	for _, ph := range c.Phases(job) {
		if c.Class(ph) != class || c.Waiting(ph) == 0 || !c.HasRoom(ph, m) {
			continue
		}
		if !o.placer.mayStart(c, ph, m) { // a machine of the right rack has a slot, and need not be among those that request tasks now
			o.wake = earlier(o.wake, c.Now()+replay.Second)
			continue
		}
		most := o.delay.most(c, job, ph)
		if task, at, ok := c.Nearest(ph, m, most); ok && c.Start(ph, task, m) {
			o.delay.started(c, job, ph, at)
			o.placer.started(c, ph, m)
			return true
		}
		if most < workload.OffRack {
			o.wake = earlier(o.wake, o.delay.skipped(c, job, ph))
		}
	}
	return c.StartCopy(job, m, class)
}

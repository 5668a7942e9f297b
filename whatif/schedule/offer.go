package schedule

import (
	"math/rand/v2"

	"straggler/whatif/replay"
)

// order says which job is served first.
type order interface {
	// see is told what happened since the last time.
	see(c *replay.Cluster, changes []replay.Change)
	// jobs appends the jobs that may be given a slot of a class now, in the order in which they are to be asked.
	jobs(c *replay.Cluster, class replay.Class, to []int32) []int32
	// kill makes room for jobs that have waited too long, and says when to be called again; 0: at no time.
	kill(c *replay.Cluster) replay.Time
}

// offers gives idle slots to jobs as Hadoop's masters do: a machine that has a free slot asks for a task; the jobs are
// asked in order, each for its waiting task nearest to the machine, and one that may not start it as far from its data as
// that would be is passed over.
type offers struct {
	order
	Delay
	waits    []waiting // by job
	machines []int32   // in the order in which they ask when several have free slots: shuffled once
	list     []int32
	some     []int32 // machines that came to have a free slot
	all      bool    // every machine may get something
	past     int     // changes that were seen
	wake     replay.Time
}

func newOffers(o order, d Delay) *offers { return &offers{order: o, Delay: d} }

// Assign offers the slots that may find a taker: all idle ones when tasks came to wait or a wait is over, else those that
// came free.
func (o *offers) Assign(c *replay.Cluster) replay.Time {
	if o.machines == nil {
		o.begin(c)
	}
	o.wake, o.past = 0, 0
	o.all, o.some = len(c.Changes()) == 0, o.some[:0]
	o.notice(c)
	killed := o.kill(c)
	o.notice(c)
	for class := range replay.Class(replay.Classes) {
		o.offer(c, class)
	}
	return earlier(o.wake, killed)
}

// earlier is the earlier of two instants, of which 0 is none.
func earlier(a, b replay.Time) replay.Time {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

func (o *offers) begin(c *replay.Cluster) {
	o.waits = make([]waiting, c.NumJobs())
	for _, m := range rand.New(rand.NewPCG(uint64(c.Seed()), 4)).Perm(c.NumMachines()) {
		o.machines = append(o.machines, int32(m))
	}
}

// notice takes in what happened.
func (o *offers) notice(c *replay.Cluster) {
	changes := c.Changes()[o.past:]
	o.past += len(changes)
	o.see(c, changes)
	for n := range changes {
		switch x := &changes[n]; x.What {
		case replay.TasksCame, replay.TaskCame:
			o.all = true
		case replay.AttemptEnded, replay.AttemptKilled, replay.SlotCame:
			o.some = append(o.some, x.Machine)
		}
	}
}

// offer offers the idle slots of a class.
func (o *offers) offer(c *replay.Cluster, class replay.Class) {
	for c.Idle(class) > 0 {
		o.list = o.jobs(c, class, o.list[:0])
		if len(o.list) == 0 {
			return
		}
		if !o.serve(c, class) {
			return
		}
	}
}

// serve finds a machine whose free slot a job takes; false when there is none.
func (o *offers) serve(c *replay.Cluster, class replay.Class) bool {
	machines := o.some
	if o.all {
		machines = o.machines
	}
	for _, m := range machines {
		if c.Free(m, class) > 0 && o.ask(c, class, m) {
			return true
		}
	}
	return false
}

// ask asks the jobs in order for a task for a machine.
func (o *offers) ask(c *replay.Cluster, class replay.Class, m int32) bool {
	now := c.Now()
	for _, j := range o.list {
		w := &o.waits[j]
		for _, ph := range c.Phases(j) {
			if c.Class(ph) != class || c.Waiting(ph) == 0 || !c.Admits(ph, m) {
				continue
			}
			most := o.most(w, now)
			task, at, ok := c.Nearest(ph, m, most)
			if ok && c.Start(ph, task, m) {
				if c.Prefers(ph) {
					*w = waiting{level: at}
				}
				return true
			}
			if most < replay.OffRack {
				if !w.skipped {
					w.skipped, w.since = true, now
				}
				o.wake = earlier(o.wake, o.next(w, now))
			}
		}
	}
	return false
}

package schedule

import (
	"straggler/whatif/replay"
	"straggler/whatif/schedule/quincy"
	"straggler/whatif/workload"
)

// Quincy lets a min-cost flow decide (package quincy has the network and its prices, with sources). Its four modes are fair or
// not, preempting or not. Each class of slots has a network of its own, since tasks cannot run on slots of another class. The
// paper guarantees slots to jobs (§4.3); here the guarantee of a queue is divided among its jobs by max-min fairness. Every is at
// least a millisecond, since a scheduler cannot decide more often: the paper's takes 7 ms on average for 250 machines.
type Quincy struct {
	Fair    bool    `option:"fair" doc:"jobs share the slots equally"`
	Preempt bool    `option:"preempt" doc:"running tasks may be killed for others"`
	Wait    float64 `option:"wait" most:"1e6" doc:"cost of a second of waiting, in GB within a rack (ω)"`
	Core    float64 `option:"core" most:"1e6" doc:"cost of a GB between racks, in GB within a rack (ξ)"`
	Every   float64 `option:"every" least:"0.001" why:"a decision takes as long" unit:"s" doc:"how often to decide while tasks wait and nothing happens"`
}

// quincyDefaults are the mode that the paper ends with, and its prices where the network is fast; 20 is its ξ where it is slow.
var quincyDefaults = Quincy{Fair: true, Preempt: true, Wait: 0.5, Core: 2, Every: 5}

// blockBytes is the assumed size of an input if the log has its locations but not its size: a block of HDFS when the paper was
// written.
const blockBytes = 64 << 20

// flow passes events to package quincy and carries out its decisions.
type flow struct {
	Quincy
	classes [workload.Classes]*network
	tasks   [][]ref   // by phase and task
	phases  [][]int32 // of each job, that were released
	touched []taskOf
	members []int32
	claims  []Claim
	parts   []int
	started bool
}

// ref refers to a task in its network.
type ref struct {
	task quincy.Task
	has  bool
}

// taskOf is a task of a phase.
type taskOf struct{ phase, task int32 }

// network is the flow network of a class of slots.
type network struct {
	class workload.Class
	s     *quincy.Scheduler
	jobs  []quincy.Job // by job of the pool, −1: none
	owed  bool         // some queue is guaranteed slots
	at    []taskOf     // by task of the network
}

func newFlow(o Quincy) *flow { return &flow{Quincy: o} }

func (f *flow) begin(c *replay.Cluster) {
	f.started = true
	f.tasks, f.phases = make([][]ref, c.NumPhases()), make([][]int32, c.NumJobs())
	var racks []int
	for m := range int32(c.NumMachines()) {
		racks = append(racks, int(max(c.Rack(m), 0)))
	}
	for k := range workload.Class(workload.Classes) {
		n := &network{class: k, jobs: make([]quincy.Job, c.NumJobs())}
		for j := range n.jobs {
			n.jobs[j] = -1
		}
		for _, q := range c.Queues() {
			n.owed = n.owed || q.Min[k] > 0
		}
		o := quincy.Options{Fair: f.Fair, Preempt: f.Preempt, Prices: quincy.Prices{Wait: f.Wait, CoreGB: f.Core}}
		s, err := quincy.New(quincy.Cluster{Rack: racks, Slots: make([]int, len(racks))}, o)
		if err != nil {
			panic(err) // cannot happen: racks and prices are at least 0
		}
		n.s = s
		for m := range racks {
			s.SetSlots(m, c.Free(int32(m), k))
		}
		f.classes[k] = n
	}
}

// Assign passes the changes to the networks and carries out their decisions.
func (f *flow) Assign(c *replay.Cluster) replay.Time {
	if !f.started {
		f.begin(c)
	}
	for _, n := range f.classes {
		n.s.Advance(c.Now().Seconds())
	}
	f.touched = f.touched[:0]
	for _, x := range c.Changes() {
		f.notice(c, x)
	}
	f.settle(c)
	again := replay.Time(0)
	for _, n := range f.classes {
		f.guarantee(c, n)
		changes, err := n.s.Schedule()
		if err != nil {
			panic(err) // cannot happen: a network in which every task may stay unscheduled has a flow
		}
		for _, x := range changes {
			f.carryOut(c, n, x)
		}
		if n.s.Waiting() > 0 && (f.Preempt || c.Idle(n.class) > 0) {
			again = c.Now() + max(replay.Seconds(f.Every), 1)
		}
	}
	f.settle(c)
	return again
}

// notice processes a change. settle updates the tasks concerned.
func (f *flow) notice(c *replay.Cluster, x replay.Change) {
	switch x.What {
	case replay.JobEnded:
		f.forget(x.Job)
	case replay.PhaseReleased:
		f.tasks[x.Phase] = make([]ref, c.PhaseTasks(x.Phase))
		f.phases[x.Job] = append(f.phases[x.Job], x.Phase)
		for t := range int32(len(f.tasks[x.Phase])) {
			f.touched = append(f.touched, taskOf{x.Phase, t})
		}
	case replay.AttemptEnded, replay.AttemptKilled:
		n := f.classes[c.Class(x.Phase)]
		if r := f.tasks[x.Phase][x.Task]; r.has {
			if m, runs := n.s.Machine(r.task); runs && int32(m) == x.Machine {
				f.drop(n, taskOf{x.Phase, x.Task})
			}
		}
		f.touched = append(f.touched, taskOf{x.Phase, x.Task})
	case replay.TaskQueued, replay.TaskDequeued, replay.AttemptStarted:
		f.touched = append(f.touched, taskOf{x.Phase, x.Task})
	}
	if x.Machine >= 0 {
		for _, n := range f.classes {
			n.s.SetSlots(int(x.Machine), c.Free(x.Machine, n.class)+n.s.Load(int(x.Machine)))
		}
	}
}

// settle makes the networks contain exactly the waiting tasks and those that they run.
func (f *flow) settle(c *replay.Cluster) {
	for _, x := range f.touched {
		n := f.classes[c.Class(x.phase)]
		waits := c.Waits(x.phase, x.task)
		r := f.tasks[x.phase][x.task]
		if r.has {
			if _, runs := n.s.Machine(r.task); !runs && !waits {
				f.drop(n, x)
			}
		} else if waits {
			f.add(c, n, x)
		}
	}
	f.touched = f.touched[:0]
}

func (f *flow) add(c *replay.Cluster, n *network, x taskOf) {
	j := c.Job(x.phase)
	if n.jobs[j] < 0 {
		n.jobs[j] = n.s.AddJob(quincy.Share{})
	}
	// Data without a location is moved wherever the task runs, and is no reason to wait.
	var in quincy.Input
	if at := c.Replicas(x.phase, x.task); len(at) > 0 {
		if in.Bytes = c.Bytes(x.phase, x.task); in.Bytes < 0 {
			in.Bytes = blockBytes
		}
		for _, m := range at {
			in.Machines = append(in.Machines, quincy.Part{Where: int(m), Bytes: in.Bytes})
		}
	}
	t := n.s.AddTask(n.jobs[j], in)
	for int(t) >= len(n.at) {
		n.at = append(n.at, taskOf{})
	}
	n.at[t] = x
	f.tasks[x.phase][x.task] = ref{t, true}
}

// guarantee divides the guarantee of each queue among its jobs.
func (f *flow) guarantee(c *replay.Cluster, n *network) {
	if !n.owed || len(c.Changes()) == 0 {
		return
	}
	for q, queue := range c.Queues() {
		if queue.Min[n.class] == 0 {
			continue
		}
		f.members, f.claims = f.members[:0], f.claims[:0]
		for _, j := range c.Jobs() {
			if c.Queue(j) == int32(q) && n.jobs[j] >= 0 {
				f.members = append(f.members, j)
				f.claims = append(f.claims, Claim{Demand: demandOf(c, j, n.class)})
			}
		}
		f.parts = Shares(int(queue.Min[n.class]), f.claims, f.parts[:0])
		for i, j := range f.members {
			n.s.SetShare(n.jobs[j], quincy.Share{Min: f.parts[i]})
		}
	}
}

func (f *flow) drop(n *network, x taskOf) {
	n.s.Finish(f.tasks[x.phase][x.task].task)
	f.tasks[x.phase][x.task] = ref{}
}

// forget removes a job that ended from the networks.
func (f *flow) forget(job int32) {
	for _, n := range f.classes {
		if n.jobs[job] >= 0 {
			n.s.RemoveJob(n.jobs[job])
			n.jobs[job] = -1
		}
	}
	for _, ph := range f.phases[job] {
		clear(f.tasks[ph])
	}
	f.phases[job] = nil
}

// carryOut carries out the decisions of a network. It reports back what cannot be done.
func (f *flow) carryOut(c *replay.Cluster, n *network, x quincy.Change) {
	at := n.at[x.Task]
	if x.Kind == quincy.Start {
		if !c.Start(at.phase, at.task, int32(x.Machine)) {
			n.s.Return(x.Task)
			f.touched = append(f.touched, at)
		}
		return
	}
	for _, a := range c.Running(at.phase) {
		if a.Task == at.task && a.Machine == int32(x.Machine) {
			c.Kill(at.phase, a)
			break
		}
	}
	f.touched = append(f.touched, at)
}

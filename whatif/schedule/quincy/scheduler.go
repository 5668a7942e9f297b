package quincy

import (
	"errors"
	"fmt"
	"math"

	"straggler/whatif/schedule/mincost"
)

// Cluster lists the rack and the slots of each machine.
type Cluster struct {
	Rack  []int
	Slots []int
}

// Options are the mode and the prices. A price of zero means the paper's.
type Options struct {
	Fair    bool // jobs share the slots equally; otherwise the cheapest tasks run, whichever job they belong to
	Preempt bool // running tasks may be killed to run others
	Prices
}

// Prices weigh data against time; the defaults are those of the paper's experiments (§6).
type Prices struct {
	Wait   float64 `doc:"cost of a second that a task waits (ω)"` // 0: 0.5
	RackGB float64 `doc:"cost of a GB moved within a rack (ψ)"`   // 0: 1
	// 0: 2; the paper uses 20 if the network is slow
	CoreGB    float64 `doc:"cost of a GB moved between racks (ξ)"`
	Work      float64 `doc:"cost of a second of work that a preempted task loses"`                 // 0: 1
	Preferred float64 `doc:"share of a task's input that makes a machine or rack a preferred one"` // 0: 0.1
}

// Job, Task and Machine are numbers. Those of removed jobs and finished tasks are reused.
type (
	Job  int32
	Task int32
)

// Share bounds the slots of a job.
type Share struct {
	Min int // while it has that many tasks
	Max int // 0: no bound
}

// Input is the data that a task reads, and where its replicas are.
type Input struct {
	Bytes    int64
	Machines []Part
	Racks    []Part // nil: a rack holds as much as the machine of it that holds most, which is right for inputs of one block
}

// Part is how much of an input one machine or rack holds.
type Part struct {
	Where int
	Bytes int64
}

// Kind is the kind of a change.
type Kind uint8

const (
	Start   Kind = iota // start it on the machine
	Preempt             // kill it on the machine; it waits again
)

// Change is an action to carry out. Preemptions come first.
type Change struct {
	Kind    Kind
	Task    Task
	Machine int
}

// Values for a task that is on no machine.
const (
	waiting  = int32(-1)
	finished = int32(-2)
)

// task is a task in the network.
type task struct {
	job     Job
	node    mincost.Node
	on      int32   // a machine, waiting or finished
	ready   float64 // when it began to wait
	waited  float64 // seconds before that
	started float64
	input   input

	toUnscheduled, toCluster mincost.Arc
	toMachines, toRacks      []edge // preferred ones
	toOwn                    edge   // while it runs: one of toMachines, or one of its own
	extra                    bool   // whether it is one of its own, removed when the task stops
	looked                   uint32 // the last decision that examined it
}

// edge is an arc to a machine or a rack.
type edge struct {
	arc   mincost.Arc
	where int32
}

// job is a job in the network.
type job struct {
	node           mincost.Node // its unscheduled node
	toSink         mincost.Arc
	share          Share
	tasks, running int
	least, most    int   // slots that the network allows it
	kept           int64 // tasks that must stay unscheduled
	live           bool
}

// Scheduler holds the cluster's state.
type Scheduler struct {
	o        Options
	network  *mincost.Network
	now      float64
	base     float64 // origin of costs of time
	priced   float64 // the time of the costs in the network
	racks    []place
	machines []place
	sink     mincost.Node
	cluster  mincost.Node
	rackOf   []int32
	inRack   [][]int32 // machines of each rack
	slots    []int
	load     []int  // tasks that run on each machine
	on       []Task // running tasks, in order
	capacity []int  // of its arc to the sink
	usable   int    // sum of that

	tasks     []task
	jobs      []job
	owner     []Task // of an arc
	fresh     []Task // started or stopped since the last decision
	freeTasks []Task
	freeJobs  []Job
	unshared  bool  // shares must be recomputed
	units     int64 // sent by tasks
	kept      int64 // those of them that end at unscheduled nodes
	err       error

	changes []Change
	shares  shares
	queues  queues
}

// place is a rack or machine: its node, and the arc towards it from the level above.
type place struct {
	node    mincost.Node
	in, out mincost.Arc // out: machines only, to the sink
}

// New returns a scheduler of an empty cluster at time 0.
func New(c Cluster, o Options) (*Scheduler, error) {
	if len(c.Rack) != len(c.Slots) || len(c.Rack) == 0 {
		return nil, fmt.Errorf("quincy: %d machines have a rack, and %d have slots", len(c.Rack), len(c.Slots))
	}
	for m, r := range c.Rack {
		if r < 0 || r > len(c.Rack) || c.Slots[m] < 0 || c.Slots[m] > mostSlots {
			return nil, fmt.Errorf("quincy: machine %d has %d slots in rack %d; racks are numbered from 0 without gaps", m, c.Slots[m], r)
		}
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	s := &Scheduler{o: o, network: mincost.New()}
	s.build(c)
	return s, nil
}

const mostSlots = 1 << 16

// ErrTime is returned when time goes backwards.
var ErrTime = errors.New("quincy: time went backwards")

// Advance sets the time, in seconds.
func (s *Scheduler) Advance(now float64) {
	switch {
	case math.IsNaN(now) || now < s.now:
		s.fail(fmt.Errorf("%w: from %g s to %g s", ErrTime, s.now, now))
	default:
		s.now = now
	}
}

// AddJob adds a job without tasks.
func (s *Scheduler) AddJob(share Share) Job {
	var j Job
	if k := len(s.freeJobs); k > 0 {
		j, s.freeJobs = s.freeJobs[k-1], s.freeJobs[:k-1]
	} else {
		j = Job(len(s.jobs))
		s.jobs = append(s.jobs, job{})
	}
	s.jobs[j] = job{share: share, live: true}
	s.addUnscheduled(&s.jobs[j])
	return j
}

// SetShare changes the bounds of a job.
func (s *Scheduler) SetShare(j Job, share Share) {
	if b := &s.jobs[j]; b.share != share {
		b.share = share
		s.unshared = true
	}
}

// RemoveJob removes a job; its remaining tasks count as finished.
func (s *Scheduler) RemoveJob(j Job) {
	b := &s.jobs[j]
	for t := 0; b.tasks > 0 && t < len(s.tasks); t++ {
		if s.tasks[t].job == j && s.tasks[t].on != finished {
			s.Finish(Task(t))
		}
	}
	s.setUnscheduled(b, 0, 0)
	s.network.RemoveNode(b.node)
	b.live = false
	s.freeJobs = append(s.freeJobs, j)
	s.unshared = true
}

// AddTask adds a task that is ready to run.
func (s *Scheduler) AddTask(j Job, in Input) Task {
	var t Task
	if k := len(s.freeTasks); k > 0 {
		t, s.freeTasks = s.freeTasks[k-1], s.freeTasks[:k-1]
	} else {
		t = Task(len(s.tasks))
		s.tasks = append(s.tasks, task{})
	}
	b := &s.tasks[t]
	b.job, b.on, b.ready, b.waited = j, waiting, s.now, 0
	s.jobs[j].tasks++
	s.unshared = true
	s.read(&b.input, in)
	s.addTaskNode(t, b)
	return t
}

// Finish reports that a task has ended, or will never run.
func (s *Scheduler) Finish(t Task) {
	b := &s.tasks[t]
	j := &s.jobs[b.job]
	if b.on >= 0 {
		s.leave(t, b)
	}
	j.tasks--
	b.on = finished
	s.network.RemoveNode(b.node)
	s.units--
	s.freeTasks = append(s.freeTasks, t)
	s.unshared = true
}

// Return reports that a running task has stopped without finishing: it waits again.
func (s *Scheduler) Return(t Task) {
	if b := &s.tasks[t]; b.on >= 0 {
		s.stop(t, b)
	}
}

// SetSlots sets the number of slots of a machine. Tasks beyond it are preempted, or without preemption keep their slots until
// they end.
func (s *Scheduler) SetSlots(m, slots int) {
	s.slots[m] = min(max(slots, 0), mostSlots)
	s.resize(m)
}

// Schedule returns what to do now. The slice is valid until the next call.
func (s *Scheduler) Schedule() ([]Change, error) {
	if s.err != nil {
		return nil, s.err
	}
	s.reprice()
	if s.unshared {
		s.divide()
	}
	s.network.SetSupply(s.sink, s.kept-s.units)
	if err := s.network.Solve(); err != nil {
		return nil, fmt.Errorf("quincy: %w", err)
	}
	return s.decide(), nil
}

// Machine returns where a task runs; false if it waits.
func (s *Scheduler) Machine(t Task) (int, bool) { return int(s.tasks[t].on), s.tasks[t].on >= 0 }

// Load returns the number of tasks that run on a machine, Waiting the number of waiting ones.
func (s *Scheduler) Load(m int) int { return s.load[m] }
func (s *Scheduler) Waiting() int   { return int(s.units) - len(s.on) }

// Size returns the number of nodes and edges of the flow network.
func (s *Scheduler) Size() (nodes, edges int) { return s.network.Nodes(), s.network.Arcs() }

func (s *Scheduler) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"straggler/schema"
	"straggler/whatif/network"
)

// Plan is a cluster with jobs, without a log: a scheduler decides what runs when.
type Plan struct {
	Machines []PlanMachine
	Network  *network.Topology // nil: reading takes as long as Slowdown says
	Slowdown [Levels]float64   // without a network: factors of a task's time by where it runs; 0 is 1
	InRack   float64           // with a network: bytes/s at which a task fetches outputs of its own rack; 0: as the links give
	Queues   []Queue           // none: all jobs are in one
	Jobs     []PlanJob         // numbered in their order, which is that of submission among equals
}

// PlanMachine is a machine; with a network, machines are in its order.
type PlanMachine struct {
	Rack      int32
	Slots     [Classes]int
	Computing int     // attempts on reduce slots that may compute at once; 0: all
	Factor    float64 // time relative to a normal machine; 0 is 1
	Host      int     // without a network: virtual machines of one number share a host; 0: it shares none
	Alone     float64 // largest speedup over its factor when other machines of its host do not work; 0 is 1
	Losses    []PlanLoss
}

// PlanLoss is an instant at which a machine loses task outputs: each with the same probability, independently.
type PlanLoss struct{ At, Share float64 }

// PlanJob is a job.
type PlanJob struct {
	Name    string
	Arrival float64 // seconds
	Behind  int     // the job whose end submits it, as index + 1, Arrival seconds later; it stands before it. 0: none
	Queue   int32
	Limit   int // most slots that its tasks take at once, copies apart; 0: as many as it gets
	Phases  []PlanPhase
}

// PlanPhase is a set of tasks, at least one.
type PlanPhase struct {
	Kind  string
	Class Class
	After []int   // phases of the job, of lower number, that it reads from
	Early float64 // share of their tasks that must be over for it to be released, its tasks then wait for the others; 0 is 1
	Tasks []PlanTask
	// Reports is the progress that every task, including copies, reports; none: progress is linear, with an error.
	Reports []Point
	// CopyScore is the score of a task that has copied the upstream outputs; Reports then covers its time and score from there
	// on. 0: copying is not distinguished.
	CopyScore float32
}

// PlanTask is a task.
type PlanTask struct {
	Seconds  float64 // that it takes on a normal machine with its data there
	Luck     float64 // factor that a copy would not have; 0 is 1
	Bytes    int64   // input; -1: unknown
	Replicas []int32 // machines that have it; none: it comes from the phases before, or does not matter
	// without a network: seconds to fetch the outputs of the phases before, on hosts that are shared those of a normal machine
	Fetch  float64
	Output int64 // bytes that it leaves for the phases after
}

// Stages has the stages of tasks in a planned pool, which a log does not distinguish.
type Stages struct {
	Network  *network.Topology
	Slowdown [Levels]float32
	InRack   float64
	Fetch    []int64  // by task: µs
	Output   []int64  // by task: bytes
	Losses   [][]Loss // by machine, in the order of their instants; nil: none loses any
	Hosts    []Host   // that machines share
	HostOf   []int32  // by machine: index into Hosts, -1: it shares none; nil: no machine does
	Alone    []float64
}

// Host is a host shared by virtual machines.
type Host struct{ Machines []int32 }

// Loss is an instant at which a machine loses a share of its outputs.
type Loss struct {
	At     int64
	Share  float64
	Number int32 // of the pool's losses, by machine
}

// ErrPlan is wrapped by errors about an invalid plan.
var ErrPlan = errors.New("not a cluster with jobs")

// Build builds a pool from the plan. It can be replayed only under a scheduler.
func (pl *Plan) Build() (*Pool, error) {
	if err := pl.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	p := &Pool{Stages: &Stages{Network: pl.Network, InRack: pl.InRack}, Inputs: &Inputs{Start: []int32{0}}}
	for l, f := range pl.Slowdown {
		p.Stages.Slowdown[l] = float32(cmp.Or(f, 1))
	}
	p.Queues = pl.Queues
	if len(p.Queues) == 0 {
		p.Queues = []Queue{{Name: "all"}}
	}
	pl.machines(p)
	for j := range pl.Jobs {
		pl.job(p, &pl.Jobs[j], schema.Key(j+1))
	}
	if len(p.Points) == 0 {
		p.RatioOf = nil
	}
	p.orderBySize()
	return p, nil
}

func (pl *Plan) check() error {
	var slots [Classes]int
	for m := range pl.Machines {
		for c, n := range pl.Machines[m].Slots {
			slots[c] += n
		}
		if pl.Network != nil && (m >= len(pl.Network.Rack) || pl.Network.Rack[m] != pl.Machines[m].Rack) {
			return fmt.Errorf("machine %d is in rack %d, and not so in the network", m, pl.Machines[m].Rack)
		}
		if x := &pl.Machines[m]; x.Host > 0 && pl.Network != nil || x.Host < 0 || x.Alone != 0 && !(x.Alone >= 1) {
			return fmt.Errorf("machine %d: hosts are numbered from 1, are shared without a network, and make machines no slower", m)
		}
	}
	for j := range pl.Jobs {
		for i := range pl.Jobs[j].Phases {
			f := &pl.Jobs[j].Phases[i]
			switch {
			case len(f.Tasks) == 0:
				return fmt.Errorf("job %d: phase %d has no tasks", j, i)
			case int(f.Class) >= Classes || slots[f.Class] == 0:
				return fmt.Errorf("job %d: phase %d needs slots of a class that no machine has", j, i)
			case !(f.CopyScore >= 0 && f.CopyScore < 1) || f.CopyScore > 0 && (len(f.After) == 0 || pl.Network != nil):
				return fmt.Errorf("job %d: phase %d has a score for copying of %g: it is less than 1, and of phases that copy without a network", j, i, f.CopyScore)
			case slices.ContainsFunc(f.After, func(q int) bool { return q < 0 || q >= i }):
				return fmt.Errorf("job %d: phase %d is after a phase that is not before it", j, i)
			}
			for t := range f.Tasks {
				if slices.ContainsFunc(f.Tasks[t].Replicas, func(m int32) bool { return m < 0 || int(m) >= len(pl.Machines) }) {
					return fmt.Errorf("job %d: phase %d: task %d has its input on an unknown machine", j, i, t)
				}
			}
		}
		if b := pl.Jobs[j].Behind; b < 0 || b > j {
			return fmt.Errorf("job %d is submitted by the end of job %d, which is not before it", j, b-1)
		}
		if q := pl.Jobs[j].Queue; q != 0 && int(q) >= len(pl.Queues) {
			return fmt.Errorf("job %d is in queue %d of %d", j, q, len(pl.Queues))
		}
	}
	return nil
}

func (pl *Plan) machines(p *Pool) {
	for m := range pl.Machines {
		x := &pl.Machines[m]
		p.Racks = max(p.Racks, int(x.Rack)+1)
		y := MachineOf(fmt.Sprintf("m%05d", m))
		y.Rack, y.Computing, y.Factor = x.Rack, int32(x.Computing), float32(cmp.Or(x.Factor, 1))
		first := int32(len(p.Slots))
		for c, n := range x.Slots {
			for range n {
				y.Slots = append(y.Slots, int32(len(p.Slots)))
				p.Slots = append(p.Slots, Slot{Machine: int32(m), Class: Class(c), Executor: first, From: -Forever, Till: Forever})
			}
		}
		p.ExecutorSlots = max(p.ExecutorSlots, len(y.Slots))
		p.Machines = append(p.Machines, y)
		pl.losses(p, m)
	}
	p.Limit = len(p.Slots)
	pl.hosts(p)
}

// hosts are the machines that share something.
func (pl *Plan) hosts(p *Pool) {
	if !slices.ContainsFunc(pl.Machines, func(x PlanMachine) bool { return x.Host > 0 }) {
		return
	}
	at := map[int]int32{}
	for m := range pl.Machines {
		x, host := &pl.Machines[m], int32(-1)
		if x.Host > 0 {
			n, ok := at[x.Host]
			if !ok {
				n = int32(len(p.Stages.Hosts))
				at[x.Host] = n
				p.Stages.Hosts = append(p.Stages.Hosts, Host{})
			}
			host, p.Stages.Hosts[n].Machines = n, append(p.Stages.Hosts[n].Machines, int32(m))
		}
		p.Stages.HostOf, p.Stages.Alone = append(p.Stages.HostOf, host), append(p.Stages.Alone, cmp.Or(x.Alone, 1))
	}
}

// losses are the instants at which a machine loses outputs.
func (pl *Plan) losses(p *Pool, m int) {
	if len(pl.Machines[m].Losses) == 0 {
		return
	}
	if p.Stages.Losses == nil {
		p.Stages.Losses = make([][]Loss, len(pl.Machines))
	}
	for _, l := range pl.Machines[m].Losses {
		p.Stages.Losses[m] = append(p.Stages.Losses[m], Loss{At: micro(l.At), Share: l.Share, Number: int32(len(p.Stages.Losses[m]))})
	}
	slices.SortStableFunc(p.Stages.Losses[m], func(a, b Loss) int { return cmp.Compare(a.At, b.At) })
}

func (pl *Plan) job(p *Pool, x *PlanJob, key schema.Key) {
	j := int32(len(p.Jobs))
	y := Job{
		Key: key, App: key, Name: x.Name, After: -1, Gap: micro(x.Arrival), Observed: -1, Phases: int32(len(x.Phases)), Queue: x.Queue,
		Limit: math.MaxInt32,
	}
	if x.Limit > 0 {
		y.Limit = int32(x.Limit)
	}
	if x.Behind > 0 {
		y.After = int32(x.Behind - 1)
		p.Jobs[y.After].Followers = append(p.Jobs[y.After].Followers, j)
	}
	first := int32(len(p.Phases))
	for i := range x.Phases {
		f := &x.Phases[i]
		y.TaskCount += int32(len(f.Tasks))
		if len(f.After) == 0 {
			y.Roots = append(y.Roots, first+int32(i))
		}
		pl.phase(p, f, j, first, key<<20|schema.Key(i))
	}
	p.Jobs = append(p.Jobs, y)
}

func (pl *Plan) phase(p *Pool, f *PlanPhase, j, first int32, key schema.Key) {
	i, n := int32(len(p.Phases)), int32(len(f.Tasks))
	y := Phase{
		Key: key, Job: j, FirstTask: int32(len(p.Tasks)), Tasks: n, First: int32(len(p.Attempts)), Launches: n, Far: 1,
		Kind: f.Kind, Class: f.Class, FirstRatio: int32(len(p.Ratios)), Ratios: n, Shuffles: len(f.After) > 0, CopyScore: f.CopyScore,
	}
	for _, q := range f.After {
		parent := &p.Phases[first+int32(q)]
		count := int32(math.Ceil(cmp.Or(f.Early, 1) * float64(parent.Tasks)))
		parent.Watchers = append(parent.Watchers, Watcher{Phase: i, Count: count})
		y.Anchors++
		if count < parent.Tasks {
			parent.Gates = append(parent.Gates, i)
			y.Gated++
		}
		y.Parents = append(y.Parents, first+int32(q))
	}
	p.Phases = append(p.Phases, y)
	reports := Curve{First: int32(len(p.Points)), N: int32(len(f.Reports))}
	p.Points = append(p.Points, f.Reports...)
	for k := range f.Tasks {
		x := &f.Tasks[k]
		luck := cmp.Or(x.Luck, 1)
		p.Attempts = append(p.Attempts, Attempt{
			Dur: micro(x.Seconds * luck), Task: int32(len(p.Tasks)), Slot: -1, Next: -1, AfterOK: -1, Fork: -1, Solo: -1, Ok: true, Reports: reports,
		})
		p.RatioOf = append(p.RatioOf, int32(len(p.Attempts)-1))
		p.Ratios = append(p.Ratios, float32(luck))
		p.Tasks = append(p.Tasks, Task{
			Phase: i, Attempts: 1, Work: float32(x.Seconds), Ratio: int32(k), Machine: -1, Bytes: x.Bytes, Records: -1,
		})
		p.Stages.Fetch = append(p.Stages.Fetch, micro(x.Fetch))
		p.Stages.Output = append(p.Stages.Output, x.Output)
		p.Inputs.Machines = append(p.Inputs.Machines, x.Replicas...)
		p.Inputs.Start = append(p.Inputs.Start, int32(len(p.Inputs.Machines)))
	}
}

func micro(s float64) int64 { return int64(s*1e6 + 0.5) }

// Split returns the pool with the reduce slots multiplied by a factor, of which only the original number may compute at once:
// copy-compute splitting (FAIR §5.2).
func (p *Pool) Split(times int) *Pool {
	q := *p
	q.Slots, q.Machines = nil, slices.Clone(p.Machines)
	for m := range q.Machines {
		y := &q.Machines[m]
		y.Slots, y.Computing = nil, 0
		first := int32(len(q.Slots))
		for _, n := range p.Machines[m].Slots {
			x := p.Slots[n]
			x.Executor = first
			copies := 1
			if x.Class == ReduceSlots {
				copies = times
				y.Computing++
			}
			for range copies {
				y.Slots = append(y.Slots, int32(len(q.Slots)))
				q.Slots = append(q.Slots, x)
			}
		}
	}
	q.Limit = len(q.Slots)
	return &q
}

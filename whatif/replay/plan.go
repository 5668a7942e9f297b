package replay

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"straggler/schema"
	"straggler/whatif/network"
)

// Plan is a cluster and the jobs that come to it, without a log of how it went: a scheduler decides that.
type Plan struct {
	Machines []PlanMachine
	Network  *network.Topology // nil: reading takes as long as Slowdown says
	Slowdown [Levels]float64   // without a network: factors of a task's time by where it runs; 0 is 1
	InRack   float64           // with a network: bytes/s at which a task fetches outputs of its own rack; 0: as the links give
	Queues   []Queue           // none: all jobs are in one
	Jobs     []PlanJob         // numbered in their order, which is that of submission among equals
}

// PlanMachine is a machine; those of a network stand in its order.
type PlanMachine struct {
	Rack      int32
	Slots     [Classes]int
	Computing int     // attempts on reduce slots that may compute at once; 0: all
	Factor    float64 // time relative to a normal machine; 0 is 1
}

// PlanJob arrives and runs its phases.
type PlanJob struct {
	Name    string
	Arrival float64 // seconds
	Behind  int     // the job whose end submits it, as index + 1, Arrival seconds later; it stands before it. 0: none
	Queue   int32
	Phases  []PlanPhase
}

// PlanPhase is a set of tasks, at least one.
type PlanPhase struct {
	Kind  string
	Class Class
	After []int   // phases of the job, of lower number, that it reads from
	Early float64 // share of their tasks that must be over for it to be released, its tasks then wait for the others; 0 is 1
	Tasks []PlanTask
}

// PlanTask is a task.
type PlanTask struct {
	Seconds  float64 // that it takes on a normal machine with its data there
	Luck     float64 // factor that a copy would not have; 0 is 1
	Bytes    int64   // input; -1: unknown
	Replicas []int32 // machines that have it; none: it comes from the phases before, or does not matter
	Fetch    float64 // without a network: seconds to fetch the outputs of the phases before
	Output   int64   // bytes that it leaves for the phases after
}

// ErrPlan is wrapped by errors about a plan that can not be.
var ErrPlan = errors.New("not a cluster with jobs")

// Build makes a pool of the plan. It can be replayed under a scheduler only.
func (pl *Plan) Build() (*Pool, error) {
	if err := pl.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	p := &Pool{staged: &staged{network: pl.Network, inRack: pl.InRack}, near: &inputs{start: []int32{0}}}
	for l, f := range pl.Slowdown {
		p.staged.slowdown[l] = float32(cmp.Or(f, 1))
	}
	p.queues = pl.Queues
	if len(p.queues) == 0 {
		p.queues = []Queue{{Name: "all"}}
	}
	pl.machines(p)
	for j := range pl.Jobs {
		pl.job(p, &pl.Jobs[j], schema.Key(j+1))
	}
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
	}
	for j := range pl.Jobs {
		for i := range pl.Jobs[j].Phases {
			f := &pl.Jobs[j].Phases[i]
			switch {
			case len(f.Tasks) == 0:
				return fmt.Errorf("job %d: phase %d has no tasks", j, i)
			case int(f.Class) >= Classes || slots[f.Class] == 0:
				return fmt.Errorf("job %d: phase %d needs slots of a class that no machine has", j, i)
			case slices.ContainsFunc(f.After, func(q int) bool { return q < 0 || q >= i }):
				return fmt.Errorf("job %d: phase %d is after a phase that is not before it", j, i)
			}
			for t := range f.Tasks {
				if slices.ContainsFunc(f.Tasks[t].Replicas, func(m int32) bool { return m < 0 || int(m) >= len(pl.Machines) }) {
					return fmt.Errorf("job %d: phase %d: task %d has its input on a machine that is none", j, i, t)
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
		p.racks = max(p.racks, int(x.Rack)+1)
		y := machineOf(fmt.Sprintf("m%05d", m))
		y.rack, y.computing, y.factor = x.Rack, int32(x.Computing), float32(cmp.Or(x.Factor, 1))
		first := int32(len(p.slots))
		for c, n := range x.Slots {
			for range n {
				y.slots = append(y.slots, int32(len(p.slots)))
				p.slots = append(p.slots, slot{machine: int32(m), class: Class(c), executor: first, from: -forever, till: forever})
			}
		}
		p.executorSlots = max(p.executorSlots, len(y.slots))
		p.machines = append(p.machines, y)
	}
	p.limit = len(p.slots)
}

func (pl *Plan) job(p *Pool, x *PlanJob, key schema.Key) {
	j := int32(len(p.jobs))
	y := job{
		key: key, app: key, name: x.Name, after: -1, gap: micro(x.Arrival), observed: -1, phases: int32(len(x.Phases)), queue: x.Queue,
		limit: math.MaxInt32,
	}
	if x.Behind > 0 {
		y.after = int32(x.Behind - 1)
		p.jobs[y.after].followers = append(p.jobs[y.after].followers, j)
	}
	first := int32(len(p.phases))
	for i := range x.Phases {
		f := &x.Phases[i]
		y.taskCount += int32(len(f.Tasks))
		if len(f.After) == 0 {
			y.roots = append(y.roots, first+int32(i))
		}
		pl.phase(p, f, j, first, key<<20|schema.Key(i))
	}
	p.jobs = append(p.jobs, y)
}

func (pl *Plan) phase(p *Pool, f *PlanPhase, j, first int32, key schema.Key) {
	i, n := int32(len(p.phases)), int32(len(f.Tasks))
	y := phase{
		key: key, job: j, firstTask: int32(len(p.tasks)), tasks: n, first: int32(len(p.attempts)), launches: n, far: 1,
		kind: f.Kind, class: f.Class, firstRatio: int32(len(p.ratios)), ratios: n, shuffles: len(f.After) > 0,
	}
	for _, q := range f.After {
		parent := &p.phases[first+int32(q)]
		count := int32(math.Ceil(cmp.Or(f.Early, 1) * float64(parent.tasks)))
		parent.watchers = append(parent.watchers, watcher{phase: i, count: count})
		y.anchors++
		if count < parent.tasks {
			parent.gates = append(parent.gates, i)
			y.gated++
		}
		y.parents = append(y.parents, first+int32(q))
	}
	p.phases = append(p.phases, y)
	for k := range f.Tasks {
		x := &f.Tasks[k]
		luck := cmp.Or(x.Luck, 1)
		p.attempts = append(p.attempts, attempt{
			dur: micro(x.Seconds * luck), task: int32(len(p.tasks)), slot: -1, next: -1, afterOK: -1, fork: -1, solo: -1, ok: true,
		})
		p.ratios = append(p.ratios, float32(luck))
		p.tasks = append(p.tasks, task{
			phase: i, attempts: 1, work: float32(x.Seconds), ratio: int32(k), machine: -1, bytes: x.Bytes, records: -1,
		})
		p.staged.fetch = append(p.staged.fetch, micro(x.Fetch))
		p.staged.output = append(p.staged.output, x.Output)
		p.near.machines = append(p.near.machines, x.Replicas...)
		p.near.start = append(p.near.start, int32(len(p.near.machines)))
	}
}

func micro(s float64) int64 { return int64(s*1e6 + 0.5) }

// Split is the pool with so many times as many reduce slots, of which as many may compute as there were: copy-compute
// splitting (FAIR §5.2).
func (p *Pool) Split(times int) *Pool {
	q := *p
	q.slots, q.machines = nil, slices.Clone(p.machines)
	for m := range q.machines {
		y := &q.machines[m]
		y.slots, y.computing = nil, 0
		first := int32(len(q.slots))
		for _, n := range p.machines[m].slots {
			x := p.slots[n]
			x.executor = first
			copies := 1
			if x.class == ReduceSlots {
				copies = times
				y.computing++
			}
			for range copies {
				y.slots = append(y.slots, int32(len(q.slots)))
				q.slots = append(q.slots, x)
			}
		}
	}
	q.limit = len(q.slots)
	return &q
}

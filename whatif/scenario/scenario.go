// Package scenario takes a cluster and its jobs, described by numbers, and returns the rows of the log that they would leave
// under plain first-come scheduling without any copies, for tests and examples.
//
//  1. A Cluster lists machines with slots and speeds, and jobs with phases of tasks.
//  2. Rows plays it on the engine: a task goes to the first free slot, in order of job, phase and task, and takes its seconds
//     times the factor of the machine.
//  3. The machines' true factors go into the rows, so that a replay need not learn them.
package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"straggler/schema"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

// Cluster is what ran where.
type Cluster struct {
	Machines []Machine
	Jobs     []Job // in order of arrival
	Version  string
}

// Machine is one of the cluster.
type Machine struct {
	Slots  int
	Factor float64 // time relative to a normal machine
}

// Job arrives and runs its phases.
type Job struct {
	Arrival float64 // seconds
	Phases  []Phase
}

// Phase is a set of tasks, at least one.
type Phase struct {
	Kind  string
	After []int // phases of the job that must be over
	Tasks []Task
}

// Task is a task: seconds that it takes on a normal machine, and its input.
type Task struct {
	Seconds float64
	Bytes   int64
	Luck    float64          // factor that a copy would not have; 0: 1
	Reports []workload.Point // what it reports of its progress; nil: the log holds none
}

// Uniform returns n equal machines.
func Uniform(n, slots int) []Machine {
	m := make([]Machine, n)
	for i := range m {
		m[i] = Machine{Slots: slots, Factor: 1}
	}
	return m
}

// plan returns the cluster with its jobs as the engine takes them.
func (c *Cluster) plan() *workload.Plan {
	pl := &workload.Plan{}
	for _, m := range c.Machines {
		pl.Machines = append(pl.Machines, workload.PlanMachine{Slots: [workload.Classes]int{m.Slots}, Factor: m.Factor})
	}
	for j := range c.Jobs {
		x := workload.PlanJob{Arrival: c.Jobs[j].Arrival}
		for p := range c.Jobs[j].Phases {
			ph := &c.Jobs[j].Phases[p]
			y := workload.PlanPhase{Kind: ph.Kind, After: ph.After}
			for _, t := range ph.Tasks {
				y.Tasks = append(y.Tasks, workload.PlanTask{Seconds: t.Seconds, Luck: t.Luck, Bytes: t.Bytes})
			}
			x.Phases = append(x.Phases, y)
		}
		pl.Jobs = append(pl.Jobs, x)
	}
	return pl
}

// firstCome starts the tasks that wait in order of job, phase and task. A machine that reports free slots is given one task
// a report, as Hadoop does: all first slots come before any second one.
type firstCome struct{ machines []int32 }

func (f *firstCome) Assign(c *replay.Cluster) replay.Time {
	for _, j := range c.Jobs() {
		for _, ph := range c.Phases(j) {
			for c.Waiting(ph) > 0 && c.Idle(workload.MapSlots) > 0 {
				task, _ := c.Next(ph)
				c.Start(ph, task, f.next(c))
			}
		}
	}
	return 0
}

// next returns the machine with the fewest slots in use, of equal ones the first.
func (f *firstCome) next(c *replay.Cluster) int32 {
	f.machines = c.FreeMachines(workload.MapSlots, f.machines[:0])
	best, least := f.machines[0], 0
	for n, m := range f.machines {
		used := c.MachineSlots(m, workload.MapSlots) - c.Free(m, workload.MapSlots)
		if n == 0 || used < least {
			best, least = m, used
		}
	}
	return best
}

// Rows returns the log of the cluster's run.
func (c *Cluster) Rows() *workload.Rows {
	pool, err := c.plan().Build()
	if err != nil { // jobs without tasks, or machines without slots
		panic(err)
	}
	r := &workload.Rows{}
	c.describe(r)
	var tasks [][]Task // by phase
	for j := range c.Jobs {
		for p := range c.Jobs[j].Phases {
			tasks = append(tasks, c.Jobs[j].Phases[p].Tasks)
		}
	}
	over := make([]int64, len(r.Phases))
	var sim replay.Sim
	out := sim.Run(pool, replay.Options{Scheduler: &firstCome{}, Watch: func(x replay.Span) {
		r.Attempts = append(r.Attempts, workload.LoggedAttempt{
			Phase: r.Phases[x.Phase].PhaseID, Task: int64(x.Task), Start: int64(x.Start), Finish: int64(x.End), Machine: x.Machine, Executor: -1,
			Bytes: tasks[x.Phase][x.Task].Bytes, Records: -1,
		})
		over[x.Phase] = max(over[x.Phase], int64(x.End))
	}})
	if err := out.Err(); err != nil {
		panic(err)
	}
	slices.SortStableFunc(r.Attempts, func(a, b workload.LoggedAttempt) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Task, b.Task))
	})
	for n := range r.Attempts {
		r.Attempts[n].ID = schema.Key(n + 1)
	}
	for n := range r.Attempts {
		a := &r.Attempts[n]
		for _, p := range c.Jobs[a.Phase>>20-1].Phases[a.Phase&0xfffff].Tasks[a.Task].Reports {
			r.Report(a.ID, a.Start+int64(float64(p.At)*float64(a.Finish-a.Start)+0.5), float64(p.Score))
		}
	}
	c.instants(r, over)
	return r
}

func phaseKey(job, phase int) schema.Key { return schema.Key(job+1)<<20 | schema.Key(phase) }

// describe fills in what is known before the run.
func (c *Cluster) describe(r *workload.Rows) {
	for m := range c.Machines {
		name := fmt.Sprintf("m%05d", m)
		r.Intern(name)
		r.Machines = append(r.Machines, schema.Machine{Machine: name, Slots: schema.Some(int64(c.Machines[m].Slots))})
		r.Factors = append(r.Factors, c.Machines[m].Factor)
	}
	for j := range c.Jobs {
		key := schema.Key(j + 1)
		r.Applications = append(r.Applications, schema.Application{
			ApplicationID: key, Framework: "spark", FrameworkVersion: schema.Null[string]{V: c.Version, OK: c.Version != ""},
		})
		r.Jobs = append(r.Jobs, schema.Job{JobID: key, ApplicationID: key})
		for p := range c.Jobs[j].Phases {
			ph := &c.Jobs[j].Phases[p]
			r.Phases = append(r.Phases, schema.Phase{PhaseID: phaseKey(j, p), JobID: key, NativeID: fmt.Sprint(p), Kind: ph.Kind})
			for _, q := range ph.After {
				r.Edges = append(r.Edges, schema.Edge{JobID: key, FromPhase: phaseKey(j, q), ToPhase: phaseKey(j, p)})
			}
		}
	}
}

// instants fills in when jobs and phases came and ended, by when the tasks of each phase were over.
func (c *Cluster) instants(r *workload.Rows, over []int64) {
	first := 0
	for j := range c.Jobs {
		job := &c.Jobs[j]
		arrival := int64(job.Arrival*1e6 + 0.5)
		r.Jobs[j].SubmitTime = schema.Some(schema.Time(arrival))
		last := arrival
		for p := range job.Phases {
			at := arrival
			for _, q := range job.Phases[p].After {
				at = max(at, over[first+q])
			}
			r.Phases[first+p].SubmitTime = schema.Some(schema.Time(at))
			last = max(last, over[first+p])
		}
		r.Jobs[j].FinishTime = schema.Some(schema.Time(last))
		first += len(job.Phases)
	}
}

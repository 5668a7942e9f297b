// Package scenario takes a cluster and its jobs, described by numbers, and gives the rows of the log that it would have
// left under plain first-come scheduling without any copies. Published experiments whose traces are not public are
// rebuilt with it, and tests use it.
//
//  1. file.go reads a File, which says by numbers and distributions (number.go) what there is, and draws a Cluster of it.
//  2. A Cluster lists machines with slots and speeds, and jobs with phases of tasks.
//  3. Rows runs it: a task goes to the first free slot, in order of job, phase and task, and takes its seconds
//     times the factor of the machine.
//  4. The machines' true factors go into the rows as machine health, so that a replay need not estimate them.
//
// Start with Cluster.
package scenario

import (
	"container/heap"
	"fmt"

	"straggler/schema"
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
	Limit   int     // most slots that it gets at once, as under fair sharing; 0: as many as are free
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

// Uniform gives n equal machines.
func Uniform(n, slots int) []Machine {
	m := make([]Machine, n)
	for i := range m {
		m[i] = Machine{Slots: slots, Factor: 1}
	}
	return m
}

type running struct {
	end              int64
	slot, job, phase int32
}

type ends []running

func (e ends) Len() int { return len(e) }
func (e ends) Less(i, j int) bool {
	return e[i].end < e[j].end || e[i].end == e[j].end && e[i].slot < e[j].slot
}
func (e ends) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)   { *e = append(*e, x.(running)) }
func (e *ends) Pop() any     { o := *e; x := o[len(o)-1]; *e = o[:len(o)-1]; return x }

type slotHeap []int32

func (h slotHeap) Len() int           { return len(h) }
func (h slotHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h slotHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *slotHeap) Push(x any)        { *h = append(*h, x.(int32)) }
func (h *slotHeap) Pop() any          { o := *h; x := o[len(o)-1]; *h = o[:len(o)-1]; return x }

// waiting is a phase with tasks that were not launched yet.
type waiting struct{ job, phase, next int }

type run struct {
	c         *Cluster
	r         *workload.Rows
	slotOf    []int32 // machine of each slot
	free      slotHeap
	ends      ends
	left      [][]int // tasks not over, by job and phase
	queue     []waiting
	busy      []int // slots in use by each job
	submitted map[[2]int]bool
	done      []int
	firstRow  []int // of each job's phases
}

// Rows is the log of the cluster's run.
func (c *Cluster) Rows() *workload.Rows {
	s := &run{c: c, r: &workload.Rows{}, submitted: map[[2]int]bool{}}
	for m := range c.Machines {
		name := fmt.Sprintf("m%05d", m)
		s.r.Intern(name)
		s.r.Machines = append(s.r.Machines, schema.Machine{Machine: name, Slots: schema.Some(int64(c.Machines[m].Slots))})
		s.r.Health = append(s.r.Health, schema.MachineHealth{
			Machine: name, WindowStart: -1 << 62, WindowEnd: 1 << 62, Factor: schema.Some(c.Machines[m].Factor),
		})
	}
	s.number()
	s.left, s.done, s.busy = make([][]int, len(c.Jobs)), make([]int, len(c.Jobs)), make([]int, len(c.Jobs))
	for j := range c.Jobs {
		s.describe(j)
	}
	s.simulate()
	return s.r
}

// number numbers the slots, the first of every machine before the second of any: a machine that reports free slots is
// given one task a report, as Hadoop does.
func (s *run) number() {
	for k, more := 0, true; more; k++ {
		more = false
		for m := range s.c.Machines {
			if k < s.c.Machines[m].Slots {
				s.free = append(s.free, int32(len(s.slotOf)))
				s.slotOf = append(s.slotOf, int32(m))
				more = true
			}
		}
	}
}

func phaseKey(job, phase int) schema.Key { return schema.Key(job+1)<<20 | schema.Key(phase) }

func (s *run) describe(j int) {
	job := &s.c.Jobs[j]
	key := schema.Key(j + 1)
	s.r.Applications = append(s.r.Applications, schema.Application{
		ApplicationID: key, Framework: "spark", FrameworkVersion: schema.Null[string]{V: s.c.Version, OK: s.c.Version != ""},
	})
	s.r.Jobs = append(s.r.Jobs, schema.Job{JobID: key, ApplicationID: key, SubmitTime: schema.Some(at(int64(job.Arrival * 1e6)))})
	s.left[j] = make([]int, len(job.Phases))
	s.firstRow = append(s.firstRow, len(s.r.Phases))
	for p := range job.Phases {
		s.left[j][p] = len(job.Phases[p].Tasks)
		s.r.Phases = append(s.r.Phases, schema.Phase{PhaseID: phaseKey(j, p), JobID: key, NativeID: fmt.Sprint(p), Kind: job.Phases[p].Kind})
		for _, q := range job.Phases[p].After {
			s.r.Edges = append(s.r.Edges, schema.Edge{JobID: key, FromPhase: phaseKey(j, q), ToPhase: phaseKey(j, p)})
		}
	}
}

func at(t int64) schema.Time { return schema.Time(t) }

func (s *run) simulate() {
	arrived := 0
	for arrived < len(s.c.Jobs) || len(s.ends) > 0 {
		now := int64(1) << 62
		if arrived < len(s.c.Jobs) {
			now = int64(s.c.Jobs[arrived].Arrival * 1e6)
		}
		if len(s.ends) > 0 && s.ends[0].end <= now {
			now = s.ends[0].end
		}
		for len(s.ends) > 0 && s.ends[0].end == now {
			s.end(heap.Pop(&s.ends).(running), now)
		}
		for arrived < len(s.c.Jobs) && int64(s.c.Jobs[arrived].Arrival*1e6) <= now {
			s.submit(arrived, now)
			arrived++
		}
		s.launch(now)
	}
}

// submit queues the phases of a job whose parents are over.
func (s *run) submit(j int, now int64) {
	for p := range s.c.Jobs[j].Phases {
		ready := !s.submitted[[2]int{j, p}]
		for _, q := range s.c.Jobs[j].Phases[p].After {
			ready = ready && s.left[j][q] == 0
		}
		if ready {
			s.submitted[[2]int{j, p}] = true
			s.queue = append(s.queue, waiting{job: j, phase: p})
			s.r.Phases[s.phaseRow(j, p)].SubmitTime = schema.Some(at(now))
		}
	}
}

func (s *run) phaseRow(j, p int) int { return s.firstRow[j] + p }

func (s *run) end(e running, now int64) {
	heap.Push(&s.free, e.slot)
	j, p := int(e.job), int(e.phase)
	s.busy[j]--
	s.left[j][p]--
	if s.left[j][p] > 0 {
		return
	}
	s.done[j]++
	if s.done[j] == len(s.c.Jobs[j].Phases) {
		s.r.Jobs[j].FinishTime = schema.Some(at(now))
		return
	}
	s.submit(j, now)
}

// launch gives the free slots to the phases that wait, first come first served.
func (s *run) launch(now int64) {
	kept := s.queue[:0]
	for n := range s.queue {
		w := s.queue[n]
		for w.next < len(s.c.Jobs[w.job].Phases[w.phase].Tasks) && len(s.free) > 0 && s.mayRun(w.job) {
			s.start(w, now)
			w.next++
		}
		if w.next < len(s.c.Jobs[w.job].Phases[w.phase].Tasks) {
			kept = append(kept, w)
		}
	}
	s.queue = kept
}

func (s *run) mayRun(j int) bool { return s.c.Jobs[j].Limit <= 0 || s.busy[j] < s.c.Jobs[j].Limit }

func (s *run) start(w waiting, now int64) {
	t := s.c.Jobs[w.job].Phases[w.phase].Tasks[w.next]
	slot := heap.Pop(&s.free).(int32)
	m := s.slotOf[slot]
	luck := t.Luck
	if luck == 0 {
		luck = 1
	}
	end := now + int64(t.Seconds*luck*s.c.Machines[m].Factor*1e6+0.5)
	id := schema.Key(len(s.r.Attempts) + 1)
	s.r.Attempts = append(s.r.Attempts, workload.LoggedAttempt{
		ID: id, Phase: phaseKey(w.job, w.phase), Task: int64(w.next), Start: now, Finish: end, Machine: m, Executor: -1, Bytes: t.Bytes, Records: -1,
	})
	for _, p := range t.Reports {
		s.r.Report(id, now+int64(float64(p.At)*float64(end-now)+0.5), float64(p.Score))
	}
	heap.Push(&s.ends, running{end: end, slot: slot, job: int32(w.job), phase: int32(w.phase)})
	s.busy[w.job]++
}

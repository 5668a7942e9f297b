package quincy

import (
	"math/rand/v2"
)

// world is a cluster with a workload, of the sizes that the paper measures: racks of 30 machines, and tasks that read a few
// blocks with three replicas each, two of them in one rack.
type world struct {
	r        *rand.Rand
	s        *Scheduler
	machines int
	jobs     []Job
	tasks    []Task // unfinished ones
	jobOf    map[Task]Job
	now      float64
}

func newWorld(seed uint64, machines, slots, jobs int, o Options) *world {
	c := Cluster{}
	for m := range machines {
		c.Rack, c.Slots = append(c.Rack, m/30), append(c.Slots, slots)
	}
	s, err := New(c, o)
	if err != nil {
		panic(err)
	}
	w := &world{r: rand.New(rand.NewPCG(seed, 7)), s: s, machines: machines, jobOf: map[Task]Job{}}
	for range jobs {
		w.jobs = append(w.jobs, s.AddJob(Share{}))
	}
	return w
}

// input draws an input of one to three blocks of 256 MB.
func (w *world) input() Input {
	blocks := 1 + w.r.IntN(3)
	in := Input{Bytes: int64(blocks) * 256e6}
	byMachine, byRack := map[int]int64{}, map[int]int64{}
	for range blocks {
		first := w.r.IntN(w.machines)
		second := w.r.IntN(w.machines)
		third := second/30*30 + w.r.IntN(min(30, w.machines-second/30*30))
		racks := map[int]bool{}
		for _, m := range []int{first, second, third} {
			byMachine[m] = min(byMachine[m]+256e6, in.Bytes)
			racks[m/30] = true
		}
		for r := range racks {
			byRack[r] += 256e6
		}
	}
	for m := range w.machines {
		if byMachine[m] > 0 {
			in.Machines = append(in.Machines, Part{m, byMachine[m]})
		}
	}
	for r := 0; r*30 < w.machines; r++ {
		if byRack[r] > 0 {
			in.Racks = append(in.Racks, Part{r, byRack[r]})
		}
	}
	return in
}

func (w *world) add(j Job) {
	t := w.s.AddTask(j, w.input())
	w.tasks, w.jobOf[t] = append(w.tasks, t), j
}

// finish ends a running task and returns its job; false if none runs.
func (w *world) finish() (Job, bool) {
	first := w.r.IntN(max(len(w.tasks), 1))
	for i := range w.tasks {
		k := (first + i) % len(w.tasks)
		t := w.tasks[k]
		if _, runs := w.s.Machine(t); runs {
			w.tasks[k] = w.tasks[len(w.tasks)-1]
			w.tasks = w.tasks[:len(w.tasks)-1]
			w.s.Finish(t)
			return w.jobOf[t], true
		}
	}
	return 0, false
}

func (w *world) pass(seconds float64) {
	w.now += seconds
	w.s.Advance(w.now)
}

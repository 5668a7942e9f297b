package quincy

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// placedTask is a test's own record of a task, independent of the scheduler.
type placedTask struct {
	in            Input
	job           Job
	ready, waited float64
	on            int // -1: waits
	started       float64
}

// stage is a small cluster with a record of all events of its scheduler.
type stage struct {
	r     *rand.Rand
	s     *Scheduler
	o     Options
	c     Cluster
	down  []bool
	now   float64
	jobs  []Job
	order []Task
	tasks map[Task]*placedTask
}

func newStage(t *testing.T, seed uint64, o Options) *stage {
	g := &stage{r: rand.New(rand.NewPCG(seed, 11)), o: o, tasks: map[Task]*placedTask{},
		c: Cluster{Rack: []int{0, 0, 1, 1}, Slots: []int{1, 1, 1, 2}}, down: make([]bool, 4)}
	s, err := New(g.c, o)
	if err != nil {
		t.Fatal(err)
	}
	g.s = s
	for range 3 {
		g.jobs = append(g.jobs, s.AddJob(Share{Max: g.r.IntN(4), Min: g.r.IntN(2)}))
	}
	return g
}

// event sends an event to the scheduler.
func (g *stage) event() {
	g.now += g.r.Float64() * 3
	g.s.Advance(g.now)
	switch k := g.r.IntN(10); {
	case k < 5 && len(g.order) < 6:
		in := Input{Bytes: g.r.Int64N(8e9)}
		for m := range g.c.Rack {
			if g.r.IntN(3) == 0 {
				in.Machines = append(in.Machines, Part{m, 1 + g.r.Int64N(in.Bytes+1)})
			}
		}
		j := g.jobs[g.r.IntN(len(g.jobs))]
		t := g.s.AddTask(j, in)
		g.order = append(g.order, t)
		g.tasks[t] = &placedTask{in: in, job: j, ready: g.now, on: -1}
	case k < 7 && len(g.order) > 0:
		i := g.r.IntN(len(g.order))
		g.s.Finish(g.order[i])
		delete(g.tasks, g.order[i])
		g.order = append(g.order[:i], g.order[i+1:]...)
	case k < 8:
		m := g.r.IntN(4)
		if g.down[m] = !g.down[m]; !g.down[m] {
			g.s.SetSlots(m, g.c.Slots[m])
			return
		}
		machineDown(g.s, m)
		for _, b := range g.tasks {
			if b.on == m {
				b.on, b.ready = -1, g.now
			}
		}
	}
}

// carryOut carries out the scheduler's changes, and checks that they are possible.
func (g *stage) carryOut(t *testing.T, changes []Change) {
	for _, c := range changes {
		b := g.tasks[c.Task]
		switch {
		case b == nil:
			t.Fatalf("%+v: the task is over", c)
		case c.Kind == Preempt && (b.on != c.Machine || !g.o.Preempt):
			t.Fatalf("%+v: it runs on %d", c, b.on)
		case c.Kind == Preempt:
			b.on, b.ready = -1, g.now
		case b.on >= 0 || g.down[c.Machine]:
			t.Fatalf("%+v: it runs on %d; the machine is down: %v", c, b.on, g.down[c.Machine])
		default:
			b.waited += g.now - b.ready
			b.on, b.started = c.Machine, g.now
		}
	}
	used := make([]int, 4)
	for _, b := range g.tasks {
		if b.on >= 0 {
			used[b.on]++
		}
	}
	for m, n := range used {
		if n > g.c.Slots[m] {
			t.Fatalf("machine %d runs %d tasks", m, n)
		}
	}
}

// price returns the cost, by the paper's rules, of having a task on a machine, or waiting (-1), given where it is now.
func (g *stage) price(b *placedTask, m int) float64 {
	p := g.s.o.Prices
	if m < 0 && b.on < 0 {
		return p.Wait * (b.waited + g.now - b.ready)
	} else if m < 0 {
		return p.Wait * b.waited
	}
	held, inRack := make([]float64, 4), make([]float64, 2)
	for _, x := range b.in.Machines {
		held[x.Where] = math.Min(float64(x.Bytes), float64(b.in.Bytes))
		inRack[g.c.Rack[x.Where]] = math.Max(inRack[g.c.Rack[x.Where]], held[x.Where])
	}
	total := float64(b.in.Bytes)
	exactly := func(m int) float64 {
		r := inRack[g.c.Rack[m]]
		return ((r-held[m])*p.RackGB + (total-r)*p.CoreGB) / 1e9
	}
	if b.on == m {
		return exactly(m) - (g.now-b.started)*p.Work
	}
	worst, worstInRack := 0.0, 0.0
	for k := range held {
		worst = math.Max(worst, exactly(k))
		if g.c.Rack[k] == g.c.Rack[m] {
			worstInRack = math.Max(worstInRack, exactly(k))
		}
	}
	best := worst
	if r := inRack[g.c.Rack[m]]; r > 0 && r >= p.Preferred*total {
		best = math.Min(best, worstInRack)
	}
	if held[m] > 0 && held[m] >= p.Preferred*total {
		best = math.Min(best, exactly(m))
	}
	return best
}

// cheapest tries all placements of the tasks that capacities, shares and the mode allow.
func (g *stage) cheapest() float64 {
	free := append([]int(nil), g.c.Slots...)
	for m := range free {
		if g.down[m] {
			free[m] = 0
		}
	}
	got := map[Job]int{}
	best := math.Inf(1)
	var place func(k int, sum float64)
	place = func(k int, sum float64) {
		if k == len(g.order) {
			for _, j := range g.jobs {
				if n := got[j]; n < g.s.jobs[j].least || n > g.s.jobs[j].most {
					return
				}
			}
			best = math.Min(best, sum)
			return
		}
		b := g.tasks[g.order[k]]
		pinned := b.on >= 0 && !g.o.Preempt
		if !pinned {
			place(k+1, sum+g.price(b, -1))
		}
		for m := range free {
			if free[m] > 0 && (!pinned || b.on == m) {
				free[m]--
				got[b.job]++
				place(k+1, sum+g.price(b, m))
				got[b.job]--
				free[m]++
			}
		}
	}
	place(0, 0)
	return best
}

var modes = []Options{{}, {Preempt: true}, {Fair: true}, {Fair: true, Preempt: true}}

// After every event and in every mode, the cost of the placement equals that of the best placement, by an independent
// implementation of the paper's rules, and the placement can be carried out.
func TestOptimum(t *testing.T) {
	for _, o := range modes {
		preempted, started := 0, 0
		for seed := range uint64(40) {
			g := newStage(t, seed, o)
			for step := range 25 {
				g.event()
				before := map[Task]placedTask{}
				for k, b := range g.tasks {
					before[k] = *b
				}
				changes, err := g.s.Schedule()
				if err != nil {
					t.Fatal(err)
				}
				want := g.cheapest()
				g.carryOut(t, changes)
				got := 0.0
				for _, k := range g.order {
					b := before[k]
					got += g.price(&b, g.tasks[k].on)
				}
				// Costs are rounded to thousandths, and staying is a thousandth cheaper.
				if math.Abs(got-want) > 0.004*float64(len(g.order)+1) {
					t.Fatalf("%+v, seed %d, step %d: the placement costs %g, the best %g", o, seed, step, got, want)
				}
				for _, c := range changes {
					if c.Kind == Preempt {
						preempted++
					} else {
						started++
					}
				}
			}
		}
		t.Logf("%+v: %d starts, %d preemptions", o, started, preempted)
		if started < 100 || (preempted > 20) != o.Preempt {
			t.Errorf("%+v: %d starts and %d preemptions try too little", o, started, preempted)
		}
	}
}

// The same events give the same changes.
func TestDeterminism(t *testing.T) {
	for _, o := range modes {
		var runs [2][]Change
		for k := range runs {
			w := newWorld(3, 60, 2, 4, o)
			for range 300 {
				w.add(w.jobs[w.r.IntN(4)])
			}
			for range 200 {
				w.pass(1)
				changes, err := w.s.Schedule()
				if err != nil {
					t.Fatal(err)
				}
				runs[k] = append(runs[k], changes...)
				if j, ok := w.finish(); ok {
					w.add(j)
				}
			}
		}
		if len(runs[0]) < 200 || !reflect.DeepEqual(runs[0], runs[1]) {
			t.Errorf("%+v: %d and %d changes, which differ", o, len(runs[0]), len(runs[1]))
		}
	}
}

// Costs of time are rebased before they become too large, which changes no decision.
func TestLongAfter(t *testing.T) {
	for _, o := range modes {
		var runs [2][]Change
		for k, began := range []float64{0, 5e9} {
			g := newStage(t, 5, o)
			g.now = began
			for range 200 {
				g.event()
				changes, err := g.s.Schedule()
				if err != nil {
					t.Fatal(err)
				}
				runs[k] = append(runs[k], changes...)
			}
		}
		if len(runs[0]) < 20 || !reflect.DeepEqual(runs[0], runs[1]) {
			t.Errorf("%+v: %d changes from the start, %d after 160 years, which differ", o, len(runs[0]), len(runs[1]))
		}
	}
}

package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/whatif/network"
	"straggler/whatif/replay"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// plan returns a cluster in racks with map and reduce slots, pools and jobs of maps with data and reduces that start early.
func plan(seed uint64, net bool) *workload.Plan {
	r := rand.New(rand.NewPCG(seed, 5))
	pl := &workload.Plan{Queues: []workload.Queue{{Name: "a", Min: [2]int32{2, 1}}, {Name: "b"}}, Slowdown: [3]float64{1, 1.2, 1.5}}
	racks, each := 2+r.IntN(2), 1+r.IntN(3)
	for m := range racks * each {
		pl.Machines = append(pl.Machines, workload.PlanMachine{Rack: int32(m / each), Slots: [2]int{1 + r.IntN(3), 1 + r.IntN(2)}, Factor: 1 + r.Float64()})
	}
	if net {
		pl.Network = network.Uniform(racks, each, 50e6, 30e6)
	}
	at := 0.0
	for range 2 + r.IntN(6) {
		j := workload.PlanJob{Name: "j", Arrival: at, Queue: int32(r.IntN(2)), Phases: []workload.PlanPhase{{Kind: "map"}, {
			Kind: "reduce", Class: workload.ReduceSlots, After: []int{0}, Early: []float64{0.1, 0.5, 1}[r.IntN(3)]}}}
		for range 1 + r.IntN(20) {
			j.Phases[0].Tasks = append(j.Phases[0].Tasks, workload.PlanTask{Seconds: 5 + 20*r.Float64(), Bytes: 64e6, Output: 32e6,
				Replicas: []int32{int32(r.IntN(len(pl.Machines))), int32(r.IntN(len(pl.Machines)))}})
		}
		for range 1 + r.IntN(5) {
			j.Phases[1].Tasks = append(j.Phases[1].Tasks, workload.PlanTask{Seconds: 5 + 20*r.Float64(), Fetch: 3})
		}
		pl.Jobs = append(pl.Jobs, j)
		at += 15 * r.ExpFloat64()
	}
	return pl
}

func pool(t testing.TB, pl *workload.Plan) *workload.Pool {
	t.Helper()
	p, err := pl.Build()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// starved returns schedulers with the options that the defaults leave off.
func starved(t testing.TB) []schedule.Scheduler {
	more, err := schedule.Choose([]string{"fair tmin=5 tfair=20", "fair-all t1=3 t2=3 bias=2 tmin=5", "copycompute reducers=2", "delay t1=1 t2=0"})
	if err != nil {
		t.Fatal(err)
	}
	return append(plannable(t), more...)
}

// plannable returns the schedulers that need no log.
func plannable(t testing.TB) []schedule.Scheduler {
	return slices.DeleteFunc(schedulers(t), func(s schedule.Scheduler) bool { return s.Name == "observed" })
}

// watched holds at every instant that no job holds more than its demand and no class more slots than there are, and notes
// what the scheduler was told.
type watched struct {
	replay.Scheduler
	t    *testing.T
	seen []string
}

func (w *watched) Assign(c *replay.Cluster) replay.Time {
	for _, x := range c.Changes() {
		w.seen = append(w.seen, fmt.Sprint(c.Now(), x))
	}
	again := w.Scheduler.Assign(c)
	for class := range workload.Class(workload.Classes) {
		used, free := 0, 0
		for _, j := range c.Jobs() {
			running := c.JobRunning(j, class)
			used += running
			tasks := 0
			for _, ph := range c.Phases(j) {
				if c.Class(ph) == class {
					tasks += c.PhaseTasks(ph)
				}
			}
			if running < 0 || c.JobWaiting(j, class) < 0 || running > tasks {
				w.t.Fatalf("at %d job %d runs %d of %d tasks, and %d wait", c.Now(), j, running, tasks, c.JobWaiting(j, class))
			}
		}
		for m := range int32(c.NumMachines()) {
			free += c.Free(m, class)
		}
		if used+free != c.Slots(class) {
			w.t.Fatalf("at %d %d slots of class %d are used and %d free, of %d", c.Now(), used, class, free, c.Slots(class))
		}
	}
	return again
}

// busy holds at every instant that no slot is idle while a task waits for one.
type busy struct {
	replay.Scheduler
	t       *testing.T
	crowded int // instants at which tasks waited
}

func (b *busy) Assign(c *replay.Cluster) replay.Time {
	again := b.Scheduler.Assign(c)
	for class := range workload.Class(workload.Classes) {
		waiting := 0
		for _, j := range c.Jobs() {
			waiting += c.JobWaiting(j, class)
		}
		if waiting > 0 {
			b.crowded++
		}
		if waiting > 0 && c.Idle(class) > 0 {
			b.t.Fatalf("at %d %d slots of class %d are idle while %d tasks wait", c.Now(), c.Idle(class), class, waiting)
		}
	}
	return again
}

// Schedulers under which nobody waits for a better slot leave none idle.
func TestNoSlotIsIdleWhileTasksWait(t *testing.T) {
	chosen, err := schedule.Choose([]string{"fifo", "fair", "fair tmin=5 tfair=20", "delay t1=0 t2=0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, sched := range chosen {
		t.Run(sched.String(), func(t *testing.T) {
			var sim replay.Sim
			crowded := 0
			for seed := range uint64(10) {
				b := &busy{Scheduler: sched.New(), t: t}
				if err := sim.Run(sched.Pool(pool(t, plan(seed, seed%2 == 0))), replay.Options{Scheduler: b, Seed: int64(seed)}).Err(); err != nil {
					t.Fatal(err)
				}
				crowded += b.crowded
			}
			if crowded < 100 {
				t.Errorf("tasks waited at %d instants only", crowded)
			}
		})
	}
}

// On planned clusters all jobs end under every scheduler, nothing is held twice, and the same seed gives the same.
func TestPlannedClusters(t *testing.T) {
	for _, sched := range starved(t) {
		t.Run(sched.String(), func(t *testing.T) {
			var sim replay.Sim
			seeds := uint64(40)
			if sched.Name == "quincy" {
				seeds = 10
			}
			for seed := range seeds {
				p := sched.Pool(pool(t, plan(seed, seed%2 == 0)))
				run := func() ([]replay.JobOutcome, []string) {
					w := &watched{Scheduler: sched.New(), t: t}
					out := sim.Run(p, replay.Options{Scheduler: w, Seed: int64(seed)})
					if err := out.Err(); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					return slices.Clone(out.Jobs), w.seen
				}
				jobs, seen := run()
				if again, same := run(); !slices.Equal(jobs, again) || !slices.Equal(seen, same) {
					t.Fatalf("seed %d: two runs differ", seed)
				}
			}
		})
	}
}

// A scheduler never sees the future: up to an instant it is told the same, whatever happens after it. Tasks that would end
// later are made to end at quite other times.
func TestSchedulersDoNotSeeTheFuture(t *testing.T) {
	const cut = 40 * replay.Second
	for _, sched := range starved(t) {
		t.Run(sched.String(), func(t *testing.T) {
			var sim replay.Sim
			told, seeds := 0, uint64(20)
			if sched.Name == "quincy" {
				seeds = 10
			}
			for seed := range seeds {
				pl := plan(seed, false)
				p := sched.Pool(pool(t, pl))
				ended := map[[2]int32]bool{} // phase, task
				seenOf := func(p *workload.Pool, note bool) []string {
					w := &recorder{Scheduler: sched.New(), until: cut}
					sim.Run(p, replay.Options{Scheduler: w, Seed: int64(seed), Watch: func(x replay.Span) {
						if note && x.End <= cut && !x.Killed {
							ended[[2]int32{x.Phase, x.Task}] = true
						}
					}})
					return w.seen
				}
				before := seenOf(p, true)
				told += len(before)
				phase := int32(0)
				for j := range pl.Jobs {
					for i := range pl.Jobs[j].Phases {
						for k := range pl.Jobs[j].Phases[i].Tasks {
							if !ended[[2]int32{phase, int32(k)}] {
								pl.Jobs[j].Phases[i].Tasks[k].Seconds += 1000
							}
						}
						phase++
					}
				}
				if after := seenOf(sched.Pool(pool(t, pl)), false); !slices.Equal(before, after) {
					t.Fatalf("seed %d: it saw something else before %v s", seed, cut.Seconds())
				}
			}
			if told < 25*int(seeds) {
				t.Errorf("it was told %d things only, in %d runs", told, seeds)
			}
		})
	}
}

// recorder notes what a scheduler is told, and so what it does, up to an instant.
type recorder struct {
	replay.Scheduler
	until replay.Time
	seen  []string
}

func (r *recorder) Assign(c *replay.Cluster) replay.Time {
	again := r.Scheduler.Assign(c)
	if c.Now() <= r.until {
		for _, x := range c.Changes() {
			r.seen = append(r.seen, fmt.Sprint(c.Now(), x))
		}
	}
	return again
}

// A pool that comes to a cluster full of long tasks has its guarantee when its timeout is over, and no job is brought
// below its share for it (FAIR §3.2). Quincy makes room at once where it may kill.
func TestMinimumShareIsMetInTime(t *testing.T) {
	pl := &workload.Plan{Queues: []workload.Queue{{Name: "production", Min: [2]int32{6, 0}}, {Name: "research"}}}
	for range 10 {
		pl.Machines = append(pl.Machines, workload.PlanMachine{Slots: [2]int{1, 0}})
	}
	job := func(queue int32, arrival, seconds float64, n int) workload.PlanJob {
		return workload.PlanJob{Queue: queue, Arrival: arrival,
			Phases: []workload.PlanPhase{{Tasks: slices.Repeat([]workload.PlanTask{{Seconds: seconds}}, n)}}}
	}
	pl.Jobs = []workload.PlanJob{job(1, 0, 1000, 40), job(0, 100, 50, 6)}
	p := pool(t, pl)
	for _, x := range []struct {
		options string
		took    float64 // of the production job: 50 s of work after its wait
		killed  int32
	}{{"fair", 950, 0}, {"fair tmin=30", 80, 6}, {"fair tfair=200", 250, 6}, {"fair tmin=30 tfair=200", 80, 6},
		{"quincy fair=false preempt=false", 950, 0}, {"quincy fair=false preempt=true", 50, 6}, {"quincy fair=true preempt=true", 50, 6}} {
		chosen, err := schedule.Choose([]string{x.options})
		if err != nil {
			t.Fatal(err)
		}
		var sim replay.Sim
		out := sim.Run(p, replay.Options{Scheduler: chosen[0].New()})
		if err := out.Err(); err != nil {
			t.Fatal(err)
		}
		if got := float64(out.Jobs[1].Took) / 1e6; got != x.took || out.Jobs[0].Kills != x.killed {
			t.Errorf("%s: took %v s with %d killed, want %v s and %d", x.options, got, out.Jobs[0].Kills, x.took, x.killed)
		}
	}
}

// What is read is what was asked: every map its block once, every reduce its share of all maps' outputs.
func TestBytesAreConserved(t *testing.T) {
	for _, sched := range plannable(t) {
		var sim replay.Sim
		for seed := range uint64(30) {
			pl := plan(seed, true)
			out := sim.Run(sched.Pool(pool(t, pl)), replay.Options{Scheduler: sched.New(), Seed: int64(seed)})
			if err := out.Err(); err != nil {
				t.Fatalf("%s: seed %d: %v", sched.Name, seed, err)
			}
			for j := range out.Jobs {
				o := &out.Jobs[j]
				if o.Kills > 0 {
					continue // what was killed had read too
				}
				maps := int64(len(pl.Jobs[j].Phases[0].Tasks))
				if read := o.Read[0] + o.Read[1] + o.Read[2]; read != 64e6*maps {
					t.Errorf("%s: seed %d job %d: %d bytes read, %d asked", sched.Name, seed, j, read, int64(64e6*maps))
				}
				fetched, want := o.Fetched[0]+o.Fetched[1]+o.Fetched[2], float64(32e6*maps)
				if fetched < want*(1-1e-9) || fetched > want*(1+1e-9) {
					t.Errorf("%s: seed %d job %d: %.0f bytes fetched of %.0f", sched.Name, seed, j, fetched, want)
				}
			}
		}
	}
}

// Under copy-compute splitting no machine computes with more reduces than it had slots (FAIR §5.2), and it takes more: of a job
// the next one as soon as one that copies has what it reads.
func TestCopyComputeSplitting(t *testing.T) {
	took := func(name string, jobs, reduces int, fetch float64) float64 {
		s, err := schedule.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		pl := &workload.Plan{Machines: []workload.PlanMachine{{Slots: [2]int{1, 2}}}}
		for range jobs {
			pl.Jobs = append(pl.Jobs, workload.PlanJob{Phases: []workload.PlanPhase{
				{Tasks: []workload.PlanTask{{Seconds: 1}}},
				{Class: workload.ReduceSlots, After: []int{0}, Tasks: slices.Repeat([]workload.PlanTask{{Seconds: 10, Fetch: fetch}}, reduces)}}})
		}
		var sim replay.Sim
		out := sim.Run(s.Pool(pool(t, pl)), replay.Options{Scheduler: s.New()})
		if err := out.Err(); err != nil {
			t.Fatal(err)
		}
		return float64(out.Jobs[jobs-1].Took) / 1e6
	}
	for _, c := range []struct {
		scheduler     string
		jobs, reduces int
		fetch, want   float64
	}{
		// Eight reduces, two at once, 20 s each: 80 s after the first map. Split, two compute at any time while others copy:
		// the first copies end 10 s after the first map, and then eight times 10 s of computing in twos.
		{"fifo", 2, 4, 10, 81}, {"fifo-split", 2, 4, 10, 51},
		// Four reduces of one job, of which two may copy at once, for 4 s: the second two copy while the first two compute.
		{"fifo", 1, 4, 4, 29}, {"fifo-split", 1, 4, 4, 25},
	} {
		if got := took(c.scheduler, c.jobs, c.reduces, c.fetch); got != c.want {
			t.Errorf("%d jobs of %d reduces under %s: the last job ends after %v s, want %v", c.jobs, c.reduces, c.scheduler, got, c.want)
		}
	}
}

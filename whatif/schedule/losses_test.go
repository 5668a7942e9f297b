package schedule_test

import (
	"math/rand/v2"
	"testing"

	"straggler/whatif/replay"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// phase returns a phase of tasks of the given seconds, after others.
func phase(after []int, seconds ...float64) workload.PlanPhase {
	f := workload.PlanPhase{After: after}
	for _, s := range seconds {
		f.Tasks = append(f.Tasks, workload.PlanTask{Seconds: s, Bytes: 1e9, Output: 1e8})
	}
	return f
}

// losing returns a plan on machines of one slot in one rack, of which some lose all that they hold at an instant.
func losing(machines int, at float64, which func(m int) bool, jobs ...workload.PlanJob) *workload.Plan {
	pl := &workload.Plan{Jobs: jobs}
	for m := range machines {
		x := workload.PlanMachine{Slots: [workload.Classes]int{1, 0}}
		if which(m) {
			x.Losses = []workload.PlanLoss{{At: at, Share: 1}}
		}
		pl.Machines = append(pl.Machines, x)
	}
	return pl
}

func all(int) bool { return true }

// guard copies all outputs, or makes others again when the first is lost.
type guard struct {
	copies, early bool
	made          int32
}

func (g *guard) Made(workload.Made) bool { g.made++; return g.copies }

func (g *guard) Lost(of int32, _ replay.Time, spared bool, needed func(int32) bool) (again []int32) {
	for n := int32(0); g.early && !spared && n < g.made; n++ {
		if n != of && needed(n) {
			again = append(again, n)
		}
	}
	return again
}

func lose(t *testing.T, pl *workload.Plan, scheduler string, o replay.Options) ([]replay.JobOutcome, []replay.Span) {
	t.Helper()
	p, err := pl.Build()
	if err != nil {
		t.Fatal(err)
	}
	s, err := schedule.ByName(scheduler)
	if err != nil {
		t.Fatal(err)
	}
	var spans []replay.Span
	o.Scheduler, o.Watch = s.New(), func(x replay.Span) { spans = append(spans, x) }
	var sim replay.Sim
	out := sim.Run(p, o)
	if err := out.Err(); err != nil {
		t.Fatal(err)
	}
	return out.Jobs, spans
}

// An output made at 4 s and lost at 6 s is missed at 10 s, when the next phase begins: it is made again in 4 s, and the phase
// takes its 5 s from there. Its own input is made again first where that is lost too.
func TestLostOutputs(t *testing.T) {
	for _, c := range []struct {
		what   string
		lostAt float64
		phases []workload.PlanPhase
		want   float64
		gone   int32
	}{
		{"before it is made", 3, []workload.PlanPhase{phase(nil, 4, 10), phase([]int{0}, 5, 5)}, 15, 0},
		{"before it is needed", 6, []workload.PlanPhase{phase(nil, 4, 10), phase([]int{0}, 5, 5)}, 19, 1},
		{"after it was read", 12, []workload.PlanPhase{phase(nil, 4, 10), phase([]int{0}, 5, 5)}, 15, 0},
		{"with its input", 8, []workload.PlanPhase{phase(nil, 3), phase([]int{0}, 4, 10), phase([]int{1}, 5)}, 25, 2},
		{"and nobody reads it", 6, []workload.PlanPhase{phase(nil, 4, 10)}, 10, 0},
	} {
		jobs, _ := lose(t, losing(2, c.lostAt, all, workload.PlanJob{Phases: c.phases}), "fifo", replay.Options{})
		if got := float64(jobs[0].Took) / 1e6; got != c.want || jobs[0].Losses.Gone != c.gone || jobs[0].Losses.Waited != c.gone {
			t.Errorf("an output is lost %s: the job takes %g s and finds %+v, want %g s and %d gone", c.what, got, jobs[0].Losses, c.want, c.gone)
		}
	}
}

// With a copy on another machine nobody waits; without one, an output that is made again as soon as another is missed is
// there when it is needed.
func TestProtectedOutputs(t *testing.T) {
	one := workload.PlanJob{Phases: []workload.PlanPhase{phase(nil, 4, 10), phase([]int{0}, 5, 5)}}
	_, spans := lose(t, losing(3, 0, func(int) bool { return false }, one), "fifo", replay.Options{})
	on := spans[0].Machine // of the task of 4 s, which ends first
	copied := losing(3, 6, func(m int) bool { return int32(m) == on }, one)
	jobs, _ := lose(t, copied, "fifo", replay.Options{Protector: &guard{copies: true}})
	if x := jobs[0].Losses; jobs[0].Took != 15e6 || x.Gone != 1 || x.CopyUsed != 1 || x.Copied != 2 || x.Waited != 0 {
		t.Errorf("with copies the job takes %d µs and finds %+v", jobs[0].Took, x)
	}
	two := workload.PlanJob{Phases: []workload.PlanPhase{phase(nil, 4, 30), phase([]int{0}, 5)}}
	early := losing(4, 6, all, one, two)
	jobs, _ = lose(t, early, "fifo", replay.Options{Protector: &guard{early: true}})
	if x := jobs[1].Losses; jobs[0].Took != 19e6 || jobs[1].Took != 35e6 || x.Early != 1 || x.EarlyUsed != 1 || x.Waited != 0 {
		t.Errorf("with an output made early the jobs take %d and %d µs, and the second finds %+v", jobs[0].Took, jobs[1].Took, x)
	}
	if jobs, _ = lose(t, early, "fifo", replay.Options{}); jobs[1].Took != 39e6 {
		t.Errorf("without, the second job takes %d µs", jobs[1].Took)
	}
}

// A reduce that began early holds the only slot for reduces, and waits for a map whose input, made by another reduce, is lost
// too: it makes room. From 29 s on a map of 3 s, a reduce of 4 s and a map of 2 s are made again, and it takes its 5 s.
func TestLostOutputsMakeRoom(t *testing.T) {
	phases := []workload.PlanPhase{phase(nil, 3), phase([]int{0}, 4), phase([]int{1}, 2, 20), phase([]int{2}, 5)}
	phases[1].Class, phases[3].Class, phases[3].Early = workload.ReduceSlots, workload.ReduceSlots, 0.3
	pl := losing(1, 15, all, workload.PlanJob{Phases: phases})
	pl.Machines[0].Slots[workload.ReduceSlots] = 1
	jobs, _ := lose(t, pl, "fifo", replay.Options{})
	if x := jobs[0].Losses; jobs[0].Took != 43e6 || x.Gone != 3 || jobs[0].Kills != 1 {
		t.Errorf("the job takes %d µs with %d kills and finds %+v", jobs[0].Took, jobs[0].Kills, x)
	}
}

// Whatever is lost, under any scheduler, with phases that begin early, jobs end; losses of no share change nothing; and each
// original that is gone had a copy, was made early, or is waited for.
func TestLossesEnd(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		plan := func(share float64) *workload.Plan {
			r := rand.New(rand.NewPCG(seed, 4))
			pl := losing(4, 0, func(int) bool { return false })
			for m := range pl.Machines {
				pl.Machines[m].Slots[1] = 1
				for range 8 {
					pl.Machines[m].Losses = append(pl.Machines[m].Losses, workload.PlanLoss{At: 200 * r.Float64(), Share: share})
				}
			}
			for range 3 {
				j := workload.PlanJob{Arrival: 20 * r.Float64()}
				for i := range 2 + r.IntN(4) {
					f := phase(nil, 1+9*r.Float64(), 1+20*r.Float64(), 1+9*r.Float64())
					early := i > 0 && r.IntN(2) == 0
					for q := range i {
						if q == i-1 || r.IntN(2) == 0 {
							f.After = append(f.After, q)
							early = early && j.Phases[q].Class == workload.MapSlots
						}
					}
					if early {
						f.Class, f.Early = workload.ReduceSlots, 0.3
					}
					j.Phases = append(j.Phases, f)
				}
				pl.Jobs = append(pl.Jobs, j)
			}
			return pl
		}
		name := []string{"fifo", "fair", "delay", "quincy"}[seed%4]
		without := plan(0)
		for m := range without.Machines {
			without.Machines[m].Losses = nil
		}
		before, _ := lose(t, without, name, replay.Options{Seed: 1})
		same, _ := lose(t, plan(0), name, replay.Options{Seed: 1})
		jobs, _ := lose(t, plan(r.Float64()), name, replay.Options{Seed: 1, Protector: &guard{copies: seed%3 == 0, early: seed%3 == 1}})
		for j := range jobs {
			if before[j].Took != same[j].Took {
				t.Errorf("seed %d: job %d takes %d µs, %d with losses of nothing", seed, j, before[j].Took, same[j].Took)
			}
			if x := jobs[j].Losses; x.Gone != x.Waited+x.CopyUsed+x.EarlyUsed || x.CopyUsed > x.Copied || x.EarlyUsed > x.Early {
				t.Errorf("seed %d: job %d: %+v", seed, j, x)
			}
		}
	}
}

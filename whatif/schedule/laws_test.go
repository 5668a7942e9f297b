package schedule_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// anyPool returns a few jobs of two phases that arrive on a few machines, one of them slow, some tasks unlucky.
func anyPool(seed uint64) *workload.Pool {
	r := rand.New(rand.NewPCG(seed, 3))
	c := scenario.Cluster{Machines: scenario.Uniform(2+r.IntN(4), 1+r.IntN(3))}
	c.Machines[0].Factor = 1 + 3*r.Float64()
	arrival := 0.0
	for range 1 + r.IntN(6) {
		j := scenario.Job{Arrival: arrival, Phases: []scenario.Phase{{Kind: "map"}, {Kind: "reduce", After: []int{0}}}}
		for p := range j.Phases {
			for range 1 + r.IntN(12) {
				t := scenario.Task{Seconds: 60 + 60*r.Float64(), Bytes: 64 << 20}
				if r.IntN(8) == 0 {
					t.Luck = 4
				}
				j.Phases[p].Tasks = append(j.Phases[p].Tasks, t)
			}
		}
		c.Jobs = append(c.Jobs, j)
		arrival += 100 * r.ExpFloat64()
	}
	return workload.Build(c.Rows()).Pools[0]
}

func schedulers(t testing.TB) []schedule.Scheduler {
	var out []schedule.Scheduler
	for _, spec := range schedule.Specs() {
		s, err := schedule.ByName(spec.Name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// Any straggler policy runs under any scheduler: all jobs end, no slot runs two attempts at once, the same seed gives the
// same, and every task succeeds once.
func TestEverySchedulerUnderEveryPolicy(t *testing.T) {
	for _, sched := range schedulers(t) {
		for _, name := range []string{"none", "hadoop", "mapreduce", "dryad", "late", "mantri", "dolly", "spark3", "mrv2", "blacklist"} {
			pol, err := policy.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprint(sched.Name, "/", name), func(t *testing.T) {
				var sim replay.Sim
				copies, seeds := int32(0), uint64(30)
				if sched.Name == "quincy" { // it solves a network at every instant
					seeds = 8
				}
				for seed := range seeds {
					p := anyPool(seed)
					run := func(watch func(replay.Span)) []replay.JobOutcome {
						out := sim.Run(p, replay.Options{Policy: pol.New(), Scheduler: sched.New(), Seed: int64(seed), Sigma: 0.1, Watch: watch})
						if err := out.Err(); err != nil {
							t.Fatalf("seed %d: %v", seed, err)
						}
						return slices.Clone(out.Jobs)
					}
					var spans []replay.Span
					first := run(func(x replay.Span) { spans = append(spans, x) })
					if again := run(nil); !slices.Equal(first, again) {
						t.Fatalf("seed %d: two runs differ", seed)
					}
					apart(t, spans)
					for _, j := range first {
						copies += j.Copies
					}
				}
				if copying := slices.Contains([]string{"dryad", "late", "mantri", "spark3", "mrv2"}, name); copying && copies == 0 {
					t.Error("not one copy was made")
				}
			})
		}
	}
}

// A copy is part of what its job asks for: it has a slot as a task of the job would have, though tasks of another job wait
// for hours. So a job with one slow task ends long before that task would.
func TestCopiesTakeTheirTurn(t *testing.T) {
	pl := &workload.Plan{}
	for range 10 {
		pl.Machines = append(pl.Machines, workload.PlanMachine{Slots: [2]int{1, 0}})
	}
	job := func(n int) workload.PlanJob {
		return workload.PlanJob{Phases: []workload.PlanPhase{{Kind: "map", Tasks: slices.Repeat([]workload.PlanTask{{Seconds: 60, Luck: 1}}, n)}}}
	}
	pl.Jobs = []workload.PlanJob{job(6), job(1000)}
	pl.Jobs[0].Phases[0].Tasks[3].Luck = 50 // 3000 s
	for _, sched := range []string{"fifo", "fair", "delay"} {
		for _, name := range []string{"none", "dryad", "spark3"} {
			s, err := schedule.ByName(sched)
			if err != nil {
				t.Fatal(err)
			}
			p, err := policy.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			var sim replay.Sim
			out := sim.Run(pool(t, pl), replay.Options{Scheduler: s.New(), Policy: p.New(), Seed: 1, Sigma: 0.1})
			if err := out.Err(); err != nil {
				t.Fatal(err)
			}
			if took := float64(out.Jobs[0].Took) / 1e6; (took >= 3000) != (name == "none") || name != "none" && took > 400 {
				t.Errorf("%s + %s: the job with a slow task took %v s", sched, name, took)
			}
		}
	}
}

// apart holds that no slot runs two attempts at once.
func apart(t *testing.T, spans []replay.Span) {
	t.Helper()
	slices.SortFunc(spans, func(a, b replay.Span) int {
		return cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	for n := 1; n < len(spans); n++ {
		if a, b := spans[n-1], spans[n]; a.Slot == b.Slot && b.Start < a.End {
			t.Fatalf("slot %d runs two attempts at once: %+v, %+v", a.Slot, a, b)
		}
	}
}

// Options with which a scheduler would never end, or could not be computed, are refused.
func TestOptionLimits(t *testing.T) {
	for _, x := range [][3]string{{"quincy", "every", "0"}, {"quincy", "every", "1e-6"}, {"quincy", "every", "0.0009"}, {"quincy", "wait", "1e300"}, {"quincy", "core", "1e7"}, {"copycompute", "reducers", "0"}, {"copycompute", "reducers", "1000000000"}} {
		s, err := schedule.ByName(x[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.With(x[1], x[2]); err == nil {
			t.Errorf("%s %s=%s is accepted", x[0], x[1], x[2])
		}
	}
	s, err := schedule.ByName("quincy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.With("every", "0.001"); err != nil {
		t.Error(err)
	}
	const want = `scheduler quincy: option every: "1e-6" is not a number from 0.001 up, in s: a decision takes as long`
	if _, err = s.With("every", "1e-6"); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

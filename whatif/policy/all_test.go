package policy_test

import (
	"math/rand/v2"
	"testing"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// random returns a cluster with a slow machine, skewed and unlucky tasks, in jobs of two phases.
func random(seed uint64, jobs, machines int) *scenario.Cluster {
	r := rand.New(rand.NewPCG(seed, 3))
	c := &scenario.Cluster{Machines: scenario.Uniform(machines, 2), Version: "3.5.6"}
	c.Machines[1].Factor = 3
	arrival := 0.0
	for range jobs {
		j := scenario.Job{Arrival: arrival, Phases: []scenario.Phase{{Kind: "map"}, {Kind: "reduce", After: []int{0}}}}
		for p := range j.Phases {
			for range 1 + r.IntN(4*machines) {
				bytes := int64(64<<20 + r.IntN(8<<20))
				if r.IntN(40) == 0 {
					bytes *= 5
				}
				t := scenario.Task{Seconds: float64(bytes) / (1 << 20), Bytes: bytes}
				if r.IntN(15) == 0 {
					t.Luck = 2 + 3*r.ExpFloat64()
				}
				j.Phases[p].Tasks = append(j.Phases[p].Tasks, t)
			}
		}
		c.Jobs = append(c.Jobs, j)
		arrival += 600 * r.ExpFloat64()
	}
	return c
}

func cluster(seed uint64, jobs, machines int) *workload.Workload {
	return workload.Build(random(seed, jobs, machines).Rows())
}

func run(t testing.TB, s *replay.Sim, p *workload.Pool, pol policy.Policy, seed int64) *replay.Outcome {
	o := replay.Options{Policy: pol.New(), Seed: seed, Sigma: 0.1}
	if f := pol.Durations(nil); f != nil {
		o.Took = f(p)
	}
	out := s.Run(p, o)
	if out.Stopped > 0 {
		t.Fatalf("%s: %d jobs did not end", pol.Name, out.Stopped)
	}
	return out
}

// Every number that an option accepts can be replayed, however small or large; others are refused.
func TestExtremeOptions(t *testing.T) {
	w := cluster(1, 3, 4)
	var s replay.Sim
	accepted, refused := 0, 0
	for _, spec := range policy.Specs() {
		for _, o := range spec.Options() {
			for _, value := range []string{"0", "1e-320", "1e-9", "0.5", "1", "1e9", "1e18", "1e300", "9223372036854775807"} {
				pol, err := policy.ByName(spec.Name)
				if err != nil {
					t.Fatal(err)
				}
				if pol, err = pol.With(o.Name, value); err != nil {
					refused++
					continue
				}
				accepted++
				for _, p := range w.Pools {
					run(t, &s, p, pol, 1)
				}
			}
		}
	}
	if accepted == 0 || refused == 0 {
		t.Errorf("%d values were accepted and %d refused", accepted, refused)
	}
	for _, x := range [][3]string{{"spark4", "interval", "1e-9"}, {"spark4", "quantile", "1.5"}, {"mantri", "delta", "2"}, {"blacklist", "window", "0"}} {
		pol, err := policy.ByName(x[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pol.With(x[1], x[2]); err == nil {
			t.Errorf("%s.%s=%s is accepted", x[0], x[1], x[2])
		}
	}
}

func TestSurvey(t *testing.T) {
	w := cluster(1, 30, 10)
	var s replay.Sim
	none := map[int]int64{}
	for _, spec := range policy.Specs() {
		pol, err := policy.ByName(spec.Name)
		if err != nil {
			t.Fatal(err)
		}
		var took, copies, wins, waste, slots int64
		for _, p := range w.Pools {
			out := run(t, &s, p, pol, 1)
			for j, o := range out.Jobs {
				if spec.Name == "none" {
					none[j] = o.Took
					if o.Took != p.Observed(j) {
						t.Fatal("identity")
					}
				}
				took += o.Took
				copies += int64(o.Copies)
				wins += int64(o.Wins)
				waste += o.Waste
				slots += o.Slots
			}
		}
		t.Logf("%-16s mean %8.1f s copies %5d wins %5d waste %8.0f slots %9.0f events", spec.Name, float64(took)/1e6/float64(len(none)), copies, wins, float64(waste)/1e6, float64(slots)/1e6)
	}
}

package policy_test

import (
	"fmt"
	"testing"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// looker counts the looks of a policy, and hides that it abstains.
type looker struct {
	replay.Policy
	looks int
}

func (l *looker) Look(v *replay.View, do *replay.Actions) replay.Again {
	l.looks++
	return l.Policy.Look(v, do)
}

// abstainer is a looker that does not hide it.
type abstainer struct{ looker }

func (a *abstainer) Abstains(most float64) bool { return a.Policy.(replay.Abstainer).Abstains(most) }

// A policy that abstains from jobs of one task does not look at them, uses no random numbers for them, and would have done
// nothing: not even where their progress makes them seem ever slower. Beside them, jobs of more tasks are replayed as always.
func TestAbstains(t *testing.T) {
	abstain := map[string]bool{"hadoop": true, "late": true, "late-phases": true, "late-early": true, "mantri": true, "mantri-protect": true, "mrv2": true, "mrv2-intended": true}
	for _, spec := range policy.Specs() {
		pol := byName(t, spec.Name)
		if _, ok := pol.New().(replay.Abstainer); ok != abstain[spec.Name] {
			t.Fatalf("%s is a replay.Abstainer: %v", spec.Name, ok)
		} else if !ok {
			continue
		}
		for _, sigma := range []float64{0.03, 0.3, 0.9} {
			single, mixed := singles(0), singles(3)
			hidden, shown := &looker{Policy: pol.New()}, &abstainer{looker{Policy: pol.New()}}
			want, drew := spansOf(t, single, hidden, sigma)
			got, draws := spansOf(t, single, shown, sigma)
			if sigma <= 0.3 && (shown.looks > 0 || draws) {
				t.Errorf("%s, σ %g: %d looks at jobs of one task, random numbers %v; with all looks %d, %v", spec.Name, sigma, shown.looks, draws, hidden.looks, drew)
			}
			if got != want {
				t.Errorf("%s, σ %g: jobs of one task are replayed differently if they are not looked at", spec.Name, sigma)
			}
			want, _ = spansOf(t, mixed, &looker{Policy: pol.New()}, sigma)
			if got, _ := spansOf(t, mixed, &abstainer{looker{Policy: pol.New()}}, sigma); got != want {
				t.Errorf("%s, σ %g: jobs among those of one task are replayed differently if these are not looked at", spec.Name, sigma)
			}
		}
	}
}

// A policy whose rule may apply to a task alone looks at it.
func TestDoesNotAbstain(t *testing.T) {
	x := &abstainer{looker{Policy: set(t, byName(t, "late"), "slow_task", "1").New()}}
	if spansOf(t, singles(0), x, 0.03); x.looks == 0 {
		t.Error("late with slow_task=1, which copies whatever takes longest, does not look at jobs of one task")
	}
}

// singles returns the log of 60 jobs of one task of 1 s to 3 000 s, and of some of 40 tasks, on eight machines of two slots.
func singles(others int) *workload.Pool {
	c := &scenario.Cluster{Machines: scenario.Uniform(8, 2)}
	for n := range 60 {
		c.Jobs = append(c.Jobs, scenario.Job{Arrival: 90 * float64(n), Phases: []scenario.Phase{{Kind: "map", Tasks: []scenario.Task{{Seconds: float64(1 + n*n*5/6), Bytes: 1e6}}}}})
	}
	for n := range others {
		p := scenario.Phase{Kind: "map"}
		for k := range 40 {
			p.Tasks = append(p.Tasks, scenario.Task{Seconds: float64(60 + k*k), Bytes: 1e6})
		}
		c.Jobs = append(c.Jobs, scenario.Job{Arrival: 500 * float64(n), Phases: []scenario.Phase{p}})
	}
	return workload.Build(c.Rows()).Pools[0]
}

// spansOf returns the attempts of a replay, and whether it used random numbers.
func spansOf(t *testing.T, p *workload.Pool, pol replay.Policy, sigma float64) (string, bool) {
	t.Helper()
	var spans []replay.Span
	out := (&replay.Sim{}).Run(p, replay.Options{Policy: pol, Seed: 5, Sigma: sigma, Watch: func(x replay.Span) { spans = append(spans, x) }})
	if out.Err() != nil {
		t.Fatal(out.Err())
	}
	return fmt.Sprint(spans, out.Jobs), out.Drew
}

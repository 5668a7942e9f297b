package policy_test

import (
	"math"
	"testing"

	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// Two maps of 10 and 30 s, two reduces of 100 and 40 s, two clones of each; a copy takes what the other task of its phase
// does. The first clones of both maps end at 10 s, the second ones would at 30 s. At 10 s the reduces start: the original
// of 100 s is beaten by its clone of 40 s, the original of 40 s wins. A shared input makes a task a tenth longer.
//
//	cac:   the clone waits for the second maps until 30 s and ends at 70 s
//	cc:    nobody waits, all share: 10 + 44 = 54 s
//	delay: with ω = 5 s the clone waits until 15 s and shares then: 15 + 44 = 59 s; with ω = 25 s it is exclusive, 70 s
func TestDollyAssignment(t *testing.T) {
	c := scenario.Cluster{Machines: scenario.Uniform(9, 1), Jobs: []scenario.Job{{Phases: []scenario.Phase{{Kind: "map"}, {Kind: "reduce", After: []int{0}}}}}}
	for p, seconds := range [][]float64{{10, 30}, {100, 40}} {
		for _, s := range seconds {
			c.Jobs[0].Phases[p].Tasks = append(c.Jobs[0].Phases[p].Tasks, scenario.Task{Seconds: s})
		}
	}
	w := workload.Build(c.Rows())
	dolly := byName(t, "dolly")
	for _, o := range [][2]string{{"budget", "1"}, {"ceiling", "2"}, {"contention", "0.5"}, {"transfer", "0.2"}} {
		dolly = set(t, dolly, o[0], o[1])
	}
	for _, x := range []struct {
		assignment, wait string
		want             float64
	}{{"cac", "0", 70}, {"cc", "0", 54}, {"delay", "5", 59}, {"delay", "25", 70}, {"delay", "0", 54}} {
		p := set(t, set(t, dolly, "assignment", x.assignment), "wait", x.wait)
		var s replay.Sim
		out := s.Run(w.Pools[0], replay.Options{Policy: p.New(), Seed: 1})
		if out.Err() != nil || math.Abs(float64(out.Jobs[0].Took)/1e6-x.want) > 1e-5 || out.Jobs[0].Copies != 4 {
			t.Errorf("%s, ω = %s s: %g s with %d copies, want %g s with 4 (%v)", x.assignment, x.wait, float64(out.Jobs[0].Took)/1e6, out.Jobs[0].Copies, x.want, out.Err())
		}
	}
}

// Left to itself, delay assignment waits no longer than it takes to read, and a job whose tasks are all alike has nothing
// to wait for: its clones end together, and delay assignment is as good as either of the others.
func TestDollyWaits(t *testing.T) {
	c := scenario.Cluster{Machines: scenario.Uniform(20, 1), Jobs: []scenario.Job{{Phases: []scenario.Phase{{Kind: "map"}, {Kind: "reduce", After: []int{0}}}}}}
	for p := range c.Jobs[0].Phases {
		for range 4 {
			c.Jobs[0].Phases[p].Tasks = append(c.Jobs[0].Phases[p].Tasks, scenario.Task{Seconds: 10})
		}
	}
	w := workload.Build(c.Rows())
	for _, assignment := range []string{"cac", "delay"} {
		p := set(t, set(t, set(t, byName(t, "dolly"), "budget", "1"), "ceiling", "2"), "assignment", assignment)
		if took := run(t, &replay.Sim{}, w.Pools[0], p, 1).Jobs[0].Took; took != 20_000_000 {
			t.Errorf("%s: %d µs, want 20 s", assignment, took)
		}
	}
}

package policy_test

import (
	"slices"
	"testing"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// A log whose tasks end centuries late, the last one or all of them, is replayed in a bounded number of steps, whatever the
// policy: one that looks every second has three billion instants to look at.
func TestLateEnds(t *testing.T) {
	const late = 1e10
	for _, seconds := range [][]float64{
		append(slices.Repeat([]float64{20}, 29), late), // one slot, which leaves none for a copy
		slices.Repeat([]float64{late, late / 2}, 100),
	} {
		p := workload.Build(onePhase(1, seconds...).Rows()).Pools[0]
		var s replay.Sim
		for _, spec := range policy.Specs() {
			if spec.Ideal {
				continue
			}
			asked := 0
			out := s.Run(p, replay.Options{Policy: byName(t, spec.Name).New(), Sigma: 0.1, Stop: func() bool {
				asked++
				return asked > 10_000
			}})
			if out.Err() != nil {
				t.Errorf("%d tasks: %s was stopped after %d events", len(seconds), spec.Name, out.Events)
			} else if took := replay.Time(out.Jobs[0].Took).Seconds(); took < late {
				t.Errorf("%d tasks: %s: the job took %g s", len(seconds), spec.Name, took)
			}
		}
	}
}

// What a policy does after a long time in which nothing happened is late by no more than 1/50 000 of the time that its phase
// has taken: a machine comes free after 300 000 s, on which a duplicate of the task that is left is worth its while.
func TestQuietDelay(t *testing.T) {
	const free = 300_000.0
	c := onePhase(2, append(slices.Repeat([]float64{20}, 5), 1e6)...)
	blocker := scenario.Job{Phases: []scenario.Phase{{Kind: "map", Tasks: []scenario.Task{{Seconds: free - 60}}}}, Arrival: 60}
	c.Jobs = append(c.Jobs, blocker)
	for _, name := range []string{"late", "mantri", "spark4"} {
		first := replay.Time(-1)
		(&replay.Sim{}).Run(workload.Build(c.Rows()).Pools[0], replay.Options{Policy: byName(t, name).New(), Sigma: 0.1, Watch: func(x replay.Span) {
			if x.Phase == 0 && x.Number > 0 && (first < 0 || x.Start < first) {
				first = x.Start
			}
		}})
		if late := first.Seconds() - free; late < 0 || late > free/50_000+10 {
			t.Errorf("%s makes its first copy %g s after the machine is free", name, late)
		}
	}
}

// A machine that made stragglers before a long time in which nothing ended is avoided until the end of the window that follows
// it.
func TestBlacklistAfterPause(t *testing.T) {
	c := &scenario.Cluster{Machines: scenario.Uniform(5, 2)}
	c.Machines[2].Factor = 8
	job := scenario.Job{Phases: []scenario.Phase{{Tasks: slices.Repeat([]scenario.Task{{Seconds: 10, Bytes: 1e6}}, 10)}}}
	for n := range 40 {
		job.Arrival = 100 * float64(n)
		c.Jobs = append(c.Jobs, job)
	}
	job.Arrival = 1e6 + 50 // 1e6 + 200 is a multiple of 300 s
	job.Phases = []scenario.Phase{{Tasks: slices.Repeat([]scenario.Task{{Seconds: 10, Bytes: 1e6}}, 400)}}
	c.Jobs = append(c.Jobs, job)
	used := 0
	(&replay.Sim{}).Run(workload.Build(c.Rows()).Pools[0], replay.Options{Policy: byName(t, "blacklist").New(), Watch: func(x replay.Span) {
		if x.Machine == 2 && x.Start > 1e6*replay.Second && x.Start < (1e6+200)*replay.Second {
			used++
		}
	}})
	if used > 0 {
		t.Errorf("%d tasks start on the machine before the window ends", used)
	}
}

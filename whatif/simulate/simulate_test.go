package simulate_test

import (
	"context"
	"testing"

	"straggler/whatif/simulate"
)

// Every example is read and runs, and runs again to the same.
func TestExamples(t *testing.T) {
	for _, w := range simulate.Examples() {
		t.Run(w.Name, func(t *testing.T) {
			w.Seeds = 1
			s, err := simulate.Run(context.Background(), w, simulate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range s.Runs {
				t.Logf("%-30s %-8s jobs %d tasks %d makespan %.0f mean %.1f p95 %.1f local %.2f rack %.2f copies %d kills %d ended %d", r.Run.Scheduler, r.Run.Policy, r.Run.Jobs, r.Run.Tasks, r.Run.MakespanS, r.Run.MeanS, r.Run.P95S, r.Run.NodeLocal.V, r.Run.RackLocal.V, r.Run.Copies, r.Run.Kills, r.Run.EndedJobs.V)
			}
		})
	}
}

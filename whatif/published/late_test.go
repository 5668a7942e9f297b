package published

import (
	"math"
	"slices"
	"testing"

	"straggler/whatif/workload"
)

// Chunks are slow to serve if both of their replicas are on stragglers: of 336 chunks on 204 machines, 8 of them stragglers,
// that is 336 · 8 · 7 / (204 · 203). Only their maps take as many times as long as stragglers do; without stragglers, no map
// does.
func TestServeSlowly(t *testing.T) {
	f, err := clusterFile("late-ec2-wordcount")
	if err != nil {
		t.Fatal(err)
	}
	none := *f
	none.Cluster.Slow = nil
	pl, err := f.Plan(t.Context(), 1, workload.Source{})
	if err != nil {
		t.Fatal(err)
	}
	maps, reduces := &pl.Jobs[0].Phases[0].Tasks, &pl.Jobs[0].Phases[1].Tasks
	before, others := slices.Clone(*maps), slices.Clone(*reduces)
	seconds := func(a, b workload.PlanTask) bool { return a.Seconds == b.Seconds }
	const runs = 3000
	slowed := 0.0
	for seed := range int64(runs) {
		*maps = slices.Clone(before)
		serveSlowly(f, pl, 4, seed)
		for n, task := range *maps {
			switch task.Seconds {
			case before[n].Seconds:
			case 4 * before[n].Seconds:
				slowed++
			default:
				t.Fatalf("a map of %g s takes %g s", before[n].Seconds, task.Seconds)
			}
		}
		*maps = slices.Clone(before)
		if serveSlowly(&none, pl, 4, seed); !slices.EqualFunc(*maps, before, seconds) {
			t.Fatal("maps are slow without stragglers")
		}
	}
	if want := 336. * 8 * 7 / (204 * 203); math.Abs(slowed/runs-want) > 0.05 { // four standard deviations
		t.Errorf("%g chunks a job are slow to serve, want %g", slowed/runs, want)
	}
	if !slices.EqualFunc(*reduces, others, seconds) {
		t.Error("reduces have changed")
	}
}

package published

import (
	"math"
	"math/rand/v2"
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

// Averages of some runs spread around the average of all, four times as many half as widely, and not at all if each run of a pair
// takes twice as long as the other.
func TestAveragesOver(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var than, double, longer []float64
	for range 40 {
		x := 100 + 20*r.NormFloat64()
		than, double, longer = append(than, x), append(double, 2*x), append(longer, x*(1.5+0.3*r.NormFloat64()))
	}
	if got := averagesOver(double, than, 4); math.Abs(got[0]-1) > 1e-9 || math.Abs(got[1]-1) > 1e-9 {
		t.Errorf("twice as long: %v, want 1 and 1", got)
	}
	few, many, mean := averagesOver(longer, than, 4), averagesOver(longer, than, 16), sum(longer)/sum(than)-1
	if !(few[0] < many[0] && many[0] < mean && mean < many[1] && many[1] < few[1]) {
		t.Errorf("averages of 4 runs spread over %v, of 16 over %v, and that of all is %g", few, many, mean)
	}
	if ratio := (few[1] - few[0]) / (many[1] - many[0]); math.Abs(ratio-2) > 0.2 {
		t.Errorf("averages of 4 runs spread %g times as far as those of 16, want 2", ratio)
	}
}

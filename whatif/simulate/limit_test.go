package simulate_test

import (
	"slices"
	"testing"

	"straggler/whatif/replay"
	"straggler/whatif/schedule"
	"straggler/whatif/simulate"
	"straggler/whatif/workload"
)

// A job with a limit runs as many tasks at once as that, and not one more, under whatever scheduler; one without runs as many
// as there are slots.
func TestLimit(t *testing.T) {
	w, err := simulate.Parse("limit.yaml", []byte(`
name: limit
cluster: {machines: 10, racks: 2, map_slots: 2, reduce_slots: 0}
jobs:
  - {name: limited, maps: 50, map_s: 5..15, limit: 7}
  - {name: free, maps: 50, map_s: 5..15}
`))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := w.Plan(t.Context(), 1, workload.Source{})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := plan.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fifo", "fair", "delay", "quincy"} {
		chosen, err := schedule.Choose([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		type edge struct {
			at replay.Time
			by int
		}
		edges := map[string][]edge{}
		var sim replay.Sim
		out := sim.Run(pool, replay.Options{Scheduler: chosen[0].New(), Seed: 1, Watch: func(x replay.Span) {
			job := pool.JobName(pool.JobOf(x.Phase))
			edges[job] = append(edges[job], edge{x.Start, 1}, edge{x.End, -1})
		}})
		if err := out.Err(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		most := map[string]int{}
		for job, list := range edges {
			slices.SortFunc(list, func(a, b edge) int {
				if a.at != b.at {
					return int(a.at - b.at)
				}
				return a.by - b.by
			})
			now := 0
			for _, e := range list {
				now += e.by
				most[job] = max(most[job], now)
			}
		}
		if most["limited"] != 7 || most["free"] <= 7 {
			t.Errorf("%s: the job with a limit of 7 ran %d tasks at once, the other %d", name, most["limited"], most["free"])
		}
	}
}

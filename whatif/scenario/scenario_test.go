package scenario_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// A cluster's run keeps its slots, its phases' order and its machines' factors.
func TestRows(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := &scenario.Cluster{}
		for range 9 {
			c.Machines = append(c.Machines, scenario.Machine{Slots: 1 + r.IntN(3), Factor: 1 + float64(r.IntN(8))/2})
		}
		for n := range 5 {
			j := scenario.Job{Arrival: float64(10 * n), Phases: []scenario.Phase{{Kind: "map"}, {Kind: "reduce", After: []int{0}}}}
			for p := range j.Phases {
				for range 1 + r.IntN(20) {
					j.Phases[p].Tasks = append(j.Phases[p].Tasks, scenario.Task{Seconds: 10 + 20*r.Float64(), Luck: float64(r.IntN(3))})
				}
			}
			c.Jobs = append(c.Jobs, j)
		}
		checkRun(t, c, c.Rows())
	}
}

func checkRun(t *testing.T, c *scenario.Cluster, r *workload.Rows) {
	t.Helper()
	type edge struct {
		at int64
		by int
	}
	busy := make([][]edge, len(c.Machines))
	ended := map[int]int64{} // when the first phase of a job was over
	n := 0
	for i := range r.Attempts {
		a := &r.Attempts[i]
		j, p := int(a.Phase>>20)-1, int(a.Phase&(1<<20-1))
		task := &c.Jobs[j].Phases[p].Tasks[a.Task]
		luck := task.Luck
		if luck == 0 {
			luck = 1
		}
		if want := int64(task.Seconds*luck*c.Machines[a.Machine].Factor*1e6 + 0.5); math.Abs(float64(a.Finish-a.Start-want)) > 1e-6*float64(want) {
			t.Errorf("task %d of job %d took %d µs, want %d", a.Task, j, a.Finish-a.Start, want)
		}
		if a.Start < int64(c.Jobs[j].Arrival*1e6) {
			t.Errorf("job %d started before it came", j)
		}
		if p == 0 {
			ended[j] = max(ended[j], a.Finish)
		}
		busy[a.Machine] = append(busy[a.Machine], edge{a.Start, 1}, edge{a.Finish, -1})
		n++
	}
	for i := range r.Attempts {
		if a := &r.Attempts[i]; a.Phase&1 == 1 && a.Start < ended[int(a.Phase>>20)-1] {
			t.Errorf("a reduce of job %d started before its maps were over", a.Phase>>20-1)
		}
	}
	most := func(edges []edge) (now, most int) {
		slices.SortFunc(edges, func(a, b edge) int {
			if a.at != b.at {
				return int(math.Copysign(1, float64(a.at-b.at)))
			}
			return a.by - b.by
		})
		for _, e := range edges {
			now += e.by
			most = max(most, now)
		}
		return now, most
	}
	for m := range busy {
		if _, most := most(busy[m]); most > c.Machines[m].Slots {
			t.Errorf("machine %d ran %d tasks at once on %d slots", m, most, c.Machines[m].Slots)
		}
	}
	want := 0
	for j := range c.Jobs {
		for _, p := range c.Jobs[j].Phases {
			want += len(p.Tasks)
		}
	}
	if n != want {
		t.Errorf("%d attempts of %d tasks", n, want)
	}
}

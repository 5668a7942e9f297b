package schedule_test

import (
	"math"
	"slices"
	"testing"

	"straggler/whatif/replay"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// farSeen notes the location factor at each end of an attempt.
type farSeen struct{ seen []float64 }

func (f *farSeen) Look(v *replay.View, _ *replay.Actions) replay.Again {
	f.seen = append(f.seen, v.Far())
	return replay.Again{End: true}
}

// Four machines in two racks; all data lies on the first, reading it costs nothing there, twice the time in its rack and three
// times elsewhere. On any machine that is (1 + 2 + 3 + 3)/4 = 2.25 on average. Tasks end one after the other on machines 0 to
// 3, which have one slot each: after the first, which read at home, the factor is 2.25, after the second 2.25/1.5, and after
// the others, which end together, 2.25/2.25. Before any has ended, and where nobody knows where data lies, it is 1.
func TestFarOfPlannedPools(t *testing.T) {
	pl := workload.Plan{Slowdown: [workload.Levels]float64{1, 2, 3}}
	for m := range 4 {
		pl.Machines = append(pl.Machines, workload.PlanMachine{Rack: int32(m / 2), Slots: [workload.Classes]int{1, 1}})
	}
	job := workload.PlanJob{Phases: []workload.PlanPhase{{Kind: "map"}}}
	for range 4 {
		job.Phases[0].Tasks = append(job.Phases[0].Tasks, workload.PlanTask{Seconds: 10, Bytes: 1e6, Replicas: []int32{0}})
	}
	for _, near := range []bool{true, false} {
		if !near { // without places of data nothing is far
			for n := range job.Phases[0].Tasks {
				job.Phases[0].Tasks[n].Replicas = nil
			}
		}
		pl.Jobs = []workload.PlanJob{job}
		p, err := pl.Build()
		if err != nil {
			t.Fatal(err)
		}
		s, err := schedule.ByName("fifo")
		if err != nil {
			t.Fatal(err)
		}
		var f farSeen
		var sim replay.Sim
		out := sim.Run(p, replay.Options{Scheduler: s.New(), Policy: &f})
		if err := out.Err(); err != nil {
			t.Fatal(err)
		}
		want := []float64{1, 2.25, 1.5, 1}
		if !near { // all end together
			want = []float64{1, 1}
		}
		if !slices.EqualFunc(f.seen, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) {
			t.Errorf("data is near %v: location factors %v, want %v", near, f.seen, want)
		}
	}
}

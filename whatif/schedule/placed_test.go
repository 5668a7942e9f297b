package schedule_test

import (
	"testing"

	"straggler/whatif/network"
	"straggler/whatif/replay"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// shuffle returns a job of maps and reduces on four racks of ten machines with one slot of each class; the reduces read all
// outputs over links of 100 MB/s.
func shuffle(t *testing.T, reduces int) *workload.Pool {
	t.Helper()
	pl := workload.Plan{Network: network.Uniform(4, 10, 100e6, 0)}
	for m := range 40 {
		pl.Machines = append(pl.Machines, workload.PlanMachine{Rack: int32(m / 10), Slots: [workload.Classes]int{1, 1}})
	}
	job := workload.PlanJob{Phases: []workload.PlanPhase{{Kind: "map"}, {Kind: "reduce", Class: workload.ReduceSlots, After: []int{0}}}}
	for range 40 {
		job.Phases[0].Tasks = append(job.Phases[0].Tasks, workload.PlanTask{Seconds: 10, Bytes: -1, Output: 1e9})
	}
	for range reduces {
		job.Phases[1].Tasks = append(job.Phases[1].Tasks, workload.PlanTask{Seconds: 1, Bytes: -1})
	}
	pl.Jobs = []workload.PlanJob{job}
	p, err := pl.Build()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// played returns how many reduces each rack got, and what the job took.
func played(t *testing.T, p *workload.Pool, name string, seed int64) (racks [4]int, took float64) {
	t.Helper()
	s, err := schedule.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	var sim replay.Sim
	out := sim.Run(p, replay.Options{Scheduler: s.New(), Seed: seed, Watch: func(x replay.Span) {
		if x.Phase == 1 {
			racks[x.Machine/10]++
		}
	}})
	if err := out.Err(); err != nil {
		t.Fatal(err)
	}
	return racks, float64(out.Jobs[0].Took) / 1e6
}

// Every rack holds 10 of 40 GB, and each of eight reduces reads 5 GB, 3.75 of them from other racks. Two reduces a rack
// bring 7.5 GB over every downlink: 75 s, after 10 s of maps and before 1 s of computing. Without placement some rack
// gets more of them in most runs.
func TestPlaced(t *testing.T) {
	p := shuffle(t, 8)
	worse := 0
	for seed := range int64(10) {
		racks, took := played(t, p, "fifo-placed", seed)
		if racks != [4]int{2, 2, 2, 2} || took < 85.9 || took > 86.1 {
			t.Errorf("seed %d: racks got %v reduces and the job took %.1f s; want two each and 86 s", seed, racks, took)
		}
		if other, late := played(t, p, "fifo", seed); other != racks {
			worse++
			if late < took+1 {
				t.Errorf("seed %d: with %v reduces in the racks the job took %.1f s, evenly spread %.1f s", seed, other, late, took)
			}
		}
	}
	if worse == 0 {
		t.Error("plain FIFO spread the reduces evenly in every run")
	}
}

// More reduces than slots: those of the plan first, the others wherever a slot comes free; all end.
func TestPlacedInWaves(t *testing.T) {
	racks, _ := played(t, shuffle(t, 100), "fifo-placed", 1)
	sum := 0
	for _, n := range racks {
		sum += n
		if n < 15 {
			t.Errorf("racks got %v of 100 reduces", racks)
		}
	}
	if sum != 100 {
		t.Errorf("%d of 100 reduces ran", sum)
	}
}

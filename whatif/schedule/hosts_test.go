package schedule_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"straggler/whatif/replay"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// onHosts plays tasks on hosts of so many machines each, of so many slots each, that are so many times slower than alone while
// all work. Task n runs on slot n.
func onHosts(t *testing.T, perHost, slots int, factor float64, seconds []float64, pol replay.Policy) (ends []float64) {
	t.Helper()
	pl := &workload.Plan{Jobs: []workload.PlanJob{{Phases: []workload.PlanPhase{{Kind: "map"}}}}}
	for n, s := range seconds {
		m := n / slots
		if m == len(pl.Machines) {
			pl.Machines = append(pl.Machines, workload.PlanMachine{Slots: [workload.Classes]int{slots, 0}, Factor: factor, Host: 1 + m/perHost, Alone: factor})
		}
		pl.Jobs[0].Phases[0].Tasks = append(pl.Jobs[0].Phases[0].Tasks, workload.PlanTask{Seconds: s, Bytes: -1, Replicas: []int32{int32(m)}})
	}
	pool, err := pl.Build()
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := schedule.Choose([]string{"delay"})
	if err != nil {
		t.Fatal(err)
	}
	ends = make([]float64, len(seconds))
	var s replay.Sim
	out := s.Run(pool, replay.Options{Policy: pol, Scheduler: chosen[0].New(), Watch: func(x replay.Span) { ends[x.Task] = x.End.Seconds() }})
	if err := out.Err(); err != nil {
		t.Fatal(err)
	}
	return ends
}

// Machines of a host share it while they work: two that are twice as slow together take 20 s for 10 s of work, and the one that
// goes on alone needs 10 s for the 10 s that are left of its 20. A host of one is as fast as a normal machine. So do the tasks
// of a machine share what it has of its host: of two whose times are said of a machine with both of its slots in use, the one
// that goes on alone is twice as fast.
func TestHosts(t *testing.T) {
	for _, x := range []struct {
		perHost, slots int
		seconds, want  []float64
	}{
		{2, 1, []float64{10, 20}, []float64{20, 30}},
		{2, 1, []float64{10, 1e-6}, []float64{10, 2e-6}}, // alone
		{1, 1, []float64{10, 20}, []float64{20, 40}},     // each has its factor to itself: no machine of its host rests
		{1, 2, []float64{10, 20}, []float64{20, 30}},
		{1, 3, []float64{10, 10, 40}, []float64{20, 20, 40}},
		// the last alone on its machine, and that alone on its host
		{2, 2, []float64{10, 10, 10, 20}, []float64{20, 20, 20, 25}},
	} {
		ends := onHosts(t, x.perHost, x.slots, 2, x.seconds, nil)
		for n := range ends {
			if math.Abs(ends[n]-x.want[n]) > 1e-5 {
				t.Errorf("hosts of %d, machines of %d slots: tasks of %v s end at %v, want %v", x.perHost, x.slots, x.seconds, ends, x.want)
				break
			}
		}
	}
}

// Maps and reduces share their machine: a map of 10 s beside a reduce takes 20 s, and the reduce of 20 s has done half of its work
// then.
func TestHostsMapsAndReduces(t *testing.T) {
	pl := &workload.Plan{
		Machines: []workload.PlanMachine{{Slots: [workload.Classes]int{1, 1}, Factor: 1, Host: 1, Alone: 1}},
		Jobs: []workload.PlanJob{
			{Phases: []workload.PlanPhase{{Kind: "map", Tasks: []workload.PlanTask{{Seconds: 10, Bytes: -1}}}}},
			{Phases: []workload.PlanPhase{{Kind: "reduce", Class: workload.ReduceSlots, Tasks: []workload.PlanTask{{Seconds: 20, Bytes: -1}}}}},
		},
	}
	pool, err := pl.Build()
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := schedule.Choose([]string{"fifo"})
	if err != nil {
		t.Fatal(err)
	}
	var s replay.Sim
	out := s.Run(pool, replay.Options{Scheduler: chosen[0].New()})
	if err := out.Err(); err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{20, 30} {
		if got := float64(out.Jobs[j].Took) / 1e6; math.Abs(got-want) > 1e-5 {
			t.Errorf("job %d takes %g s, want %g", j, got, want)
		}
	}
}

// A host whose machines may use all of it wastes nothing: its last task ends when the work of all has been done at the speed of
// the host, however long each takes, and however many run on a machine.
func TestHostsConserveWork(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 21))
		n, slots := 1+r.IntN(8), 1+r.IntN(3)
		seconds, all := make([]float64, n*slots), 0.0
		for i := range seconds {
			seconds[i] = 1 + 99*r.Float64()
			all += seconds[i] / float64(slots)
		}
		ends := onHosts(t, n, slots, float64(n), seconds, nil)
		last := 0.0
		for _, e := range ends {
			last = max(last, e)
		}
		if math.Abs(last-all) > 1e-4 {
			t.Errorf("seed %d: %d machines with tasks of %v s end after %g s, want %g", seed, n, seconds, last, all)
		}
	}
}

// seen notes the progress of a task at instants.
type seen struct{ at, score []float64 }

func (s *seen) Look(v *replay.View, _ *replay.Actions) replay.Again {
	for _, a := range v.Running() {
		if a.Task == 1 {
			s.at, s.score = append(s.at, v.Now().Seconds()), append(s.score, v.Progress(&a))
		}
	}
	return v.In(5 * replay.Second)
}

// Progress is the share of the work that is done: a quarter when half of the time is over that the other slowed it down.
func TestHostsProgress(t *testing.T) {
	p := &seen{}
	onHosts(t, 2, 1, 2, []float64{10, 20}, p)
	for n, at := range p.at {
		want := at / 40
		if at > 20 {
			want = 0.5 + (at-20)/20
		}
		if math.Abs(p.score[n]-want) > 1e-5 {
			t.Errorf("at %g s the progress is %g, want %g", at, p.score[n], want)
		}
	}
	if len(p.at) < 5 {
		t.Errorf("looked at %v only", p.at)
	}
}

package schedule_test

import (
	"math"
	"testing"

	"straggler/whatif/replay"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// looks notes what the reduce of a job reports at instants, and when it reached a third and two thirds.
type looks struct {
	at, score []float64
	reached   [2]float64
	spent     [2]float64
}

var thirds = [2]float64{1. / 3, 2. / 3}

func (l *looks) Look(v *replay.View, _ *replay.Actions) replay.Again {
	if v.Kind() != "reduce" {
		return replay.Again{End: true}
	}
	for _, a := range v.Running() {
		l.at, l.score = append(l.at, v.Now().Seconds()), append(l.score, v.Progress(&a))
		for n, want := range thirds {
			if at, ok := v.Reached(&a, want); ok {
				l.reached[n] = at.Seconds()
			}
		}
	}
	if done := v.Done(); len(done) > 0 {
		for n, want := range thirds {
			l.spent[n] = v.Spent(&done[0], want).Seconds()
		}
		return replay.Again{End: true}
	}
	return replay.Again{At: v.Now() + replay.Second/2, End: true}
}

// copied plays two maps, of 5 and of 50 s, and a reduce that begins after the first, copies for so many seconds and computes
// for 20. All take factor times as long; every machine has a host to itself, or none.
func copied(t *testing.T, hosts bool, fetch, factor float64) (*looks, float64) {
	t.Helper()
	reduce := workload.PlanPhase{Kind: "reduce", Class: workload.ReduceSlots, After: []int{0}, Early: 0.5, CopyScore: 1. / 3,
		Reports: []workload.Point{{At: 0.5, Score: 0.5}},
		Tasks:   []workload.PlanTask{{Seconds: 20, Fetch: fetch, Bytes: -1}}}
	pl := &workload.Plan{Jobs: []workload.PlanJob{{Phases: []workload.PlanPhase{
		{Kind: "map", Tasks: []workload.PlanTask{{Seconds: 5, Bytes: -1}, {Seconds: 50, Bytes: -1}}}, reduce}}}}
	for m, slots := range [][workload.Classes]int{{1, 0}, {1, 0}, {0, 1}} { // the reduce shares no machine with a map
		x := workload.PlanMachine{Slots: slots, Factor: factor}
		if hosts {
			x.Host, x.Alone = m+1, factor
		}
		pl.Machines = append(pl.Machines, x)
	}
	pool, err := pl.Build()
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := schedule.Choose([]string{"fifo"})
	if err != nil {
		t.Fatal(err)
	}
	l := &looks{}
	var s replay.Sim
	out := s.Run(pool, replay.Options{Policy: l, Scheduler: chosen[0].New()})
	if err := out.Err(); err != nil {
		t.Fatal(err)
	}
	return l, float64(out.Jobs[0].Took) / 1e6
}

// A reduce copies while maps run, no more than there is, and of what it copied the last twentieth remains when they end. Its
// score is a third of the share that it has copied; of what is left, it is the share of its computing (LATE §2.1). On a host of
// its own, a machine that takes twice as long takes as long for the copying.
func TestCopying(t *testing.T) {
	for _, x := range []struct {
		hosts         bool
		fetch, factor float64
		copied, took  float64
		at            [3]float64
		score         [3]float64
	}{
		{hosts: true, fetch: 10, factor: 1, copied: 50.5, took: 70.5, at: [3]float64{7, 25, 60.5}, score: [3]float64{0.2 / 3, 0.5 / 3, 2. / 3}},
		{hosts: false, fetch: 10, factor: 1, copied: 50.5, took: 70.5, at: [3]float64{7, 25, 60.5}, score: [3]float64{0.2 / 3, 0.5 / 3, 2. / 3}},
		{hosts: true, fetch: 100, factor: 1, copied: 105, took: 125, at: [3]float64{25, 80, 115}, score: [3]float64{0.2 / 3, 0.25, 2. / 3}},
		{hosts: false, fetch: 100, factor: 1, copied: 105, took: 125, at: [3]float64{25, 80, 115}, score: [3]float64{0.2 / 3, 0.25, 2. / 3}},
		{hosts: true, fetch: 100, factor: 2, copied: 210, took: 250, at: [3]float64{50, 160, 230}, score: [3]float64{0.2 / 3, 0.25, 2. / 3}},
		// the network's time
		{hosts: false, fetch: 100, factor: 2, copied: 110, took: 150, at: [3]float64{30, 104, 130}, score: [3]float64{0.2 / 3, 0.94 / 3, 2. / 3}},
	} {
		l, took := copied(t, x.hosts, x.fetch, x.factor)
		began := 5 * x.factor
		if math.Abs(took-x.took) > 1e-5 {
			t.Errorf("%+v: took %g s", x, took)
		}
		for n, at := range x.at {
			found := false
			for k := range l.at {
				if math.Abs(l.at[k]-at) < 1e-6 {
					found = true
					if math.Abs(l.score[k]-x.score[n]) > 1e-5 {
						t.Errorf("%+v: at %g s the score is %g, want %g", x, at, l.score[k], x.score[n])
					}
				}
			}
			if !found {
				t.Errorf("%+v: no look at %g s of %v", x, at, l.at)
			}
		}
		middle := (x.copied + x.took) / 2
		for n, want := range [2]float64{x.copied - began, middle - began} {
			if math.Abs(l.reached[n]-want) > 1e-4 || math.Abs(l.spent[n]-want) > 1e-4 {
				t.Errorf("%+v: a score of %.2f was reached after %g s, and in the end after %g, want %g", x, thirds[n], l.reached[n], l.spent[n], want)
			}
		}
	}
}

// A score for copying is of a phase that copies, without a network.
func TestCopyScoreChecked(t *testing.T) {
	for _, score := range []float32{-0.1, 0.5, 1} {
		pl := &workload.Plan{Machines: []workload.PlanMachine{{Slots: [workload.Classes]int{1, 1}}},
			Jobs: []workload.PlanJob{{Phases: []workload.PlanPhase{{Kind: "map", CopyScore: score, Tasks: []workload.PlanTask{{Seconds: 1, Bytes: -1}}}}}}}
		if _, err := pl.Build(); err == nil {
			t.Errorf("maps with a score of %g for copying make a pool", score)
		}
	}
}

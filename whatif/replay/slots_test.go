package replay_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// More slots never hurt policy none on independent tasks.
func TestMoreSlotsNeverHurt(t *testing.T) {
	var s replay.Sim
	faster := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		c := scenario.Cluster{Machines: scenario.Uniform(1+r.IntN(4), 1+r.IntN(2)), Jobs: []scenario.Job{{Phases: []scenario.Phase{{}}}}}
		for range 1 + r.IntN(30) {
			c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, scenario.Task{Seconds: r.ExpFloat64() * 100})
		}
		p := workload.Build(c.Rows()).Pools[0]
		before := s.Run(p, replay.Options{}).Jobs[0].Took
		after := s.Run(replay.WithSlots(p, 1+r.IntN(3)), replay.Options{}).Jobs[0].Took
		if after > before {
			t.Errorf("seed %d: %d µs, with more slots %d", seed, before, after)
		}
		if after < before {
			faster++
		}
	}
	if faster < 100 {
		t.Errorf("more slots helped in %d of 200 traces only", faster)
	}
}

// avoider keeps attempts off machine 0 for five seconds, again and again.
type avoider struct{}

func (avoider) Look(v *replay.View, do *replay.Actions) replay.Again {
	do.Avoid(0, v.Now()+5*replay.Second)
	return v.In(6 * replay.Second)
}

// A slot that comes to a machine after others is not there before, nor twice, when the machine is avoided and comes back.
func TestAvoidedBeforeSlotComes(t *testing.T) {
	const comes = 30
	p := tasksOf(40, 2, 2)
	p.Slots[1].From = comes * 1e6 // the second of machine 0
	for _, x := range p.Slots[:2] {
		if x.Machine != 0 {
			t.Fatalf("slots %+v", p.Slots)
		}
	}
	busy := map[int32]replay.Time{}
	second := 0
	var spans []replay.Span
	out := (&replay.Sim{}).Run(p, replay.Options{Policy: avoider{}, Watch: func(x replay.Span) { spans = append(spans, x) }})
	if err := out.Err(); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(spans, func(a, b replay.Span) int { return cmp.Compare(a.Start, b.Start) })
	for _, x := range spans {
		if x.Start < busy[x.Slot] {
			t.Errorf("slot %d runs two attempts at %v", x.Slot, x.Start)
		}
		busy[x.Slot] = x.End
		if x.Slot == 1 {
			second++
			if x.Start < comes*replay.Second {
				t.Errorf("task %d runs at %v on a slot that comes at %d s", x.Task, x.Start, comes)
			}
		}
	}
	if second == 0 {
		t.Error("nothing ran on the slot that came")
	}
}

// tasksOf returns a pool of one phase of tasks of 7 to 13 s.
func tasksOf(tasks, machines, slots int) *workload.Pool {
	c := scenario.Cluster{Machines: scenario.Uniform(machines, slots), Jobs: []scenario.Job{{Phases: []scenario.Phase{{}}}}}
	for n := range tasks {
		c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, scenario.Task{Seconds: float64(7 + n*5%7)})
	}
	return workload.Build(c.Rows()).Pools[0]
}

// An attempt that runs fills a cache line and no more: policies read thousands of them at a look.
func TestRunningSize(t *testing.T) {
	if replay.RunningSize != 64 {
		t.Errorf("an attempt that runs has %d bytes", replay.RunningSize)
	}
}

package causes

import (
	"math"
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/schema"
)

// How long the first tasks of a phase load and compile differs from process to process: two that start together on a machine
// and are slow together do not show that it is slow. If the first tasks of the other machines are alike, they do; on three
// machines, one of which is slow, that cannot always be told.
func TestFirstTasksDiffer(t *testing.T) {
	for _, c := range []struct {
		machines       int
		differ         bool
		seeds          uint64
		fewest         int
		atLeast, below float64 // share attributed to the machine
	}{
		{machines: 10, differ: true, seeds: 10, fewest: 150, below: 0.02},
		{machines: 10, differ: false, seeds: 10, fewest: 15, atLeast: 0.9, below: 1},
		{machines: 3, differ: true, seeds: 60, fewest: 250, below: 0.1},
		{machines: 3, differ: false, seeds: 60, fewest: 100, atLeast: 0.5, below: 1},
	} {
		named, n := slowFirstTasks(c.machines, c.differ, c.seeds)
		t.Logf("%d machines, they differ %v: %d of %d slow first tasks are the machine's", c.machines, c.differ, named, n)
		if share := float64(named) / float64(n); n < c.fewest || share < c.atLeast || share > c.below {
			t.Errorf("%d machines, they differ %v: %d of %d slow first tasks are the machine's", c.machines, c.differ, named, n)
		}
	}
}

// slowFirstTasks returns how many slow first tasks are attributed to their machine, and how many there are, in runs of six
// phases. Either processes differ, with a standard deviation of 0.35, or one machine is 2.2 times as slow when a phase begins.
func slowFirstTasks(machines int, differ bool, seeds uint64) (named, n int) {
	for seed := range seeds {
		c := causestest.New(700+seed, machines)
		c.Slots = 2
		var phases []*fit.Phase
		for k := range 6 {
			longer := make([]float64, machines)
			for m := range longer {
				if longer[m] = 1; differ {
					longer[m] = math.Exp(0.35 * c.Rng.NormFloat64())
				}
			}
			if !differ && k == 2 {
				longer[machines/3] = 2.2
			}
			phases = append(phases, c.Phase(10*machines, 2, nil, func(t *fit.Task, body *float64) {
				if t.Index < int64(2*machines) {
					*body *= longer[t.Machine]
				}
			}))
		}
		for _, r := range attributeAll(phases) {
			if task := find(phases, r.AttemptID); r.Rank == 1 && task.Index < int64(2*machines) {
				n++
				if r.Cause == schema.BadMachine && r.Confidence.Or(0) >= 0.5 {
					named++
				}
			}
		}
	}
	return named, n
}

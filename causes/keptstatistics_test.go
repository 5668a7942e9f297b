package causes

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/schema"
)

// Kept rows give the same model as the sums from which they were written, to the last bit, in any order, and can be converted
// back to these sums.
func TestKeptRowsAreSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"m1", "m2", "m3", "m4"}
	fresh, kept := newRun(nil, Options{WindowS: 3600}), newRun(nil, Options{WindowS: 3600})
	for _, r := range []*run{fresh, kept} {
		r.machines, r.racks, r.number = names, make([]string, len(names)), map[string]int64{}
		for k, name := range names {
			r.number[name] = int64(k)
		}
	}
	for key := range schema.Key(20) {
		a := fresh.application(key + 1)
		for range 10 {
			a.sums.Stages[rng.Uint64()] = model.StageStatistics{Stage: model.Stage{N: rng.Float64(), LogSigma: rng.NormFloat64(),
				ElasticityW: rng.Float64(), Elasticity: rng.Float64(), SpillW: rng.Float64(), Spill: rng.Float64()},
				Outliers: fit.OutlierCounts{N: 20, Slow: 3 * rng.Float64(), Sum: rng.Float64(), Sum2: rng.Float64(), CPUKnown: 2,
					Computing: rng.Float64()}, Starts: fit.StartCounts{Starts: 9, Slow: rng.Float64()}}
		}
		for k := range int64(len(names)) {
			for n := range 1 + rng.Int64N(4) {
				var s machines.SufficientStats
				for range 4 {
					s.Add(rng.NormFloat64(), 0.1+rng.Float64(), 5)
				}
				w := machines.Window{Machine: k, Number: 400_000 + n}
				a.sums.Windows[w], a.slow[w] = s, rng.Int64N(3)
			}
			w, z := rng.Float64(), rng.NormFloat64()
			a.sums.CPU[k] = machines.SufficientStats{W: w, WZ: w * z, WZZ: w * z * z, Phases: 4, Attempts: 4}
			a.racks[k] = ""
		}
	}
	fresh.merge()
	for key, a := range fresh.applications {
		b := kept.application(key)
		b.before, b.stages = fresh.machineRows(key, a), fresh.stageRows(key, a)
		rng.Shuffle(len(b.stages), func(i, j int) { b.stages[i], b.stages[j] = b.stages[j], b.stages[i] })
		slices.SortStableFunc(b.before, func(s, t schema.MachineStatistics) int { return -int(s.WindowStart.V - t.WindowStart.V) })
		b.sortRows()
	}
	kept.merge()
	if !reflect.DeepEqual(fresh.model, kept.model) {
		t.Errorf("the model of rows is not that of the sums that they are: %+v, %+v", kept.model.Outliers, fresh.model.Outliers)
	}
	want := fresh.slowHere()
	for w, n := range want {
		if n == 0 {
			delete(want, w) // not an outlier, as without an entry
		}
	}
	if got := kept.slowHere(); !reflect.DeepEqual(got, want) {
		t.Errorf("outliers by window: %v, want %v", got, want)
	}
	for key, a := range fresh.applications {
		b := kept.applications[key]
		if kept.take(b); !reflect.DeepEqual(b.sums, a.sums) || !reflect.DeepEqual(b.racks, a.racks) {
			t.Errorf("application %d: the sums of rows are not those that they were written from", key)
		}
	}
}

package audit

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"straggler/audit/baseline"
	"straggler/audit/measure"
)

// Tasks are read in batches, for the runs that are compared with something, and give the same night as runs that contain
// their tasks. The runs passed in are not modified.
func TestTasksOfJudgedRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	var whole []measure.Run
	for _, group := range []string{"a", "b", "c"} {
		for n := range 12 {
			r := slowNight(rng, n, func(machine, _ int) (float64, float64) {
				if n == 11 && machine == 3 && group != "c" {
					return 3, 0.9
				}
				return 1, 0
			})
			r.Group, r.Values["attempts"] = group, batchAttempts
			whole = append(whole, r)
			if group == "c" {
				break // it has no run to be compared with
			}
		}
	}
	bare := func() []measure.Run {
		runs := slices.Clone(whole)
		for i := range runs {
			runs[i].Stages = slices.Clone(runs[i].Stages)
			for k := range runs[i].Stages {
				s := &runs[i].Stages[k]
				s.Longest, s.Parts, s.Shared = nil, nil, nil
			}
		}
		return runs
	}
	var asked [][]string
	read := func(runs ...*measure.Run) error {
		var keys []string
		for _, r := range runs {
			keys = append(keys, r.Key())
			at := slices.IndexFunc(whole, func(x measure.Run) bool { return x.Key() == r.Key() })
			for k := range r.Stages {
				s, of := &r.Stages[k], &whole[at].Stages[k]
				s.Longest, s.Parts, s.Shared = of.Longest, of.Parts, of.Shared
			}
		}
		asked = append(asked, keys)
		return nil
	}
	want, err := Judge(whole, &baseline.Baseline{}, DefaultConfig(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	runs := bare()
	got, err := Judge(runs, &baseline.Baseline{}, DefaultConfig(), Options{Tasks: read})
	if err != nil || !reflect.DeepEqual(got.Runs, want.Runs) {
		t.Errorf("%v; the night is another one than with all tasks", err)
	}
	if got.Runs[0].Slowness == nil {
		t.Error("nothing was compared")
	}
	if keys := [][]string{{whole[11].Key()}, {whole[23].Key()}}; !reflect.DeepEqual(asked, keys) {
		t.Errorf("tasks of %q were read, not those of %q", asked, keys)
	}
	if !reflect.DeepEqual(runs, bare()) {
		t.Error("the runs were changed")
	}
	failed := errors.New("no such table")
	if _, err := Judge(runs, &baseline.Baseline{}, DefaultConfig(), Options{Tasks: func(...*measure.Run) error { return failed }}); !errors.Is(err, failed) {
		t.Errorf("where reading fails: %v", err)
	}
}

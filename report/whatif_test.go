package report

import (
	"context"
	"slices"
	"testing"

	"straggler/report/reporttest"
	"straggler/schema"
)

// Results of replays in the store are read unchanged, and what they lack stays unknown.
func TestSavings(t *testing.T) {
	w := built(t, reporttest.LabelledWithSavings(t, "clean")).Whatif
	if w.ReplayErrorS.V != 2.5 || w.ReplayErrorShare.V != 0.02 || len(w.Notes) != 1 || len(w.Savings.Rows) != 3 {
		t.Fatalf("%+v", w)
	}
	s := w.Savings.Rows[0]
	if s.Policy != "spark" || s.Verdict != "saves" || s.Copies.V != 12 || s.Wins.V != 7 || s.MedianJobS.V != 20 ||
		s.MedianJobWasS.V != 30 || s.SmallSavingShare.V != 0.2 {
		t.Errorf("%+v", s)
	}
	if s := w.Savings.Rows[2]; s.Copies.OK || s.MedianJobS.OK || s.SmallSavingShare.OK || !s.Ideal {
		t.Errorf("the bound does not stand last: %+v", s)
	}
	if s, _ := newSaving(SavingRow{Assumptions: "not JSON"}); s.Copies.OK || s.Verdict != "" {
		t.Errorf("%+v", s)
	}
	k := &known{f: &facts{settings: map[string]schema.Null[string]{"spark.speculation": schema.Some("false")}}}
	want := []Setting{{Name: "spark.speculation", Value: "true", Current: schema.Some("false")},
		{Name: "spark.speculation.quantile", Value: "0.5"}, {Name: "spark.speculation.minTaskRuntime", Value: "100ms"}}
	if lines := k.sparkSettings(&s); !slices.Equal(lines, want) {
		t.Errorf("settings %+v, want %+v", lines, want)
	}
}

// A job before and after a policy is drawn on one scale, and no attempt is lost.
func TestReplayed(t *testing.T) {
	eng := reporttest.Labelled(t, "skew")
	job, phase := built(t, eng).Phases.Rows[0].JobID, built(t, eng).Phases.Rows[0].PhaseID
	r := &Replayed{JobID: job, Policy: "late<b>",
		Before: []ReplayedAttempt{{Phase: phase, Machine: "m1", Slot: 1, EndS: 10}, {Phase: phase, Task: 1, Machine: "m2", Slot: 1, EndS: 50}},
		After: []ReplayedAttempt{{Phase: phase, Machine: "m1", Slot: 1, EndS: 10}, {Phase: phase, Task: 1, Machine: "m2", Slot: 1, EndS: 22, Killed: true},
			{Phase: phase, Task: 1, Machine: "m1", Slot: 1, StartS: 12, EndS: 22, Copy: true}}}
	d, err := Build(context.Background(), eng, Options{Replayed: r})
	reporttest.Check(t, err)
	before, after := d.Whatif.Before, d.Whatif.After
	if before == nil || after == nil || before.LengthS != 50 || after.LengthS != 50 {
		t.Fatalf("before %+v, after %+v", before, after)
	}
	if after.Marks != 2 || after.Drawn != 2 || len(after.Lanes) != 2 {
		t.Errorf("after: %+v", after)
	}
}

package report

import (
	"context"
	"strings"
	"testing"

	"straggler/schema"
)

// madeWhatif is two policies and a bound.
func madeWhatif() Whatif {
	row := func(policy, parameters string, low, mid, high float64, assumptions string) Saving {
		s, _ := newSaving(SavingRow{Policy: policy, Parameters: parameters, SavingS: schema.Some(mid), SavingLow: schema.Some(low), SavingHigh: schema.Some(high),
			SavingShare: schema.Some(mid / 100), SlotTimeChange: schema.Some(0.02), Assumptions: assumptions})
		return s
	}
	return Whatif{ReplayErrorS: schema.Some(2.5), ReplayErrorShare: schema.Some(0.02), Notes: []string{"A copy never fails."},
		Savings: List[Saving]{Total: 3, SQL: "SELECT * FROM whatif_savings", Rows: []Saving{
			row("spark", `{"quantile":0.5,"multiplier":"log","min_task_runtime":0.1}`, 30, 33, 36, `{"verdict":"saves","all":{"copies":12,"wins":7,"median_s":[30,20]},"small":{"jobs":3,"saving_share":0.2}}`),
			row("late", `{"progress_error":0.3}`, -1, 1, 3, `{"verdict":"cannot tell","all":{"copies":2,"wins":0}}`),
			row("noskew", `{}`, 50, 50, 50, `{"verdict":"saves","ideal":true,"all":{}}`)}}}
}

// What the store says of a replay is read as it is, and what it does not say stays unknown.
func TestSavings(t *testing.T) {
	w := madeWhatif()
	s := w.Savings.Rows[0]
	if s.Verdict != "saves" || s.Copies.V != 12 || s.Wins.V != 7 || s.MedianJobS.V != 20 || s.MedianJobWasS.V != 30 || s.SmallSavingShare.V != 0.2 {
		t.Errorf("%+v", s)
	}
	if s := w.Savings.Rows[2]; s.Copies.OK || s.MedianJobS.OK || s.SmallSavingShare.OK || !s.Ideal {
		t.Errorf("%+v", s)
	}
	if s, _ := newSaving(SavingRow{Assumptions: "not JSON"}); s.Copies.OK || s.Verdict != "" {
		t.Errorf("%+v", s)
	}
	k := &known{f: &facts{settings: map[string]schema.Null[string]{"spark.speculation": schema.Some("false")}}}
	lines := settingLines(k.sparkSettings(&w.Savings.Rows[0]))
	if want := "spark.speculation true   # was false\nspark.speculation.quantile 0.5\nspark.speculation.minTaskRuntime 100ms"; lines != want {
		t.Errorf("settings:\n%s\nwant:\n%s", lines, want)
	}
}

// A job before and after a policy is drawn on one scale, and no attempt is lost.
func TestReplayed(t *testing.T) {
	eng := labelled(t, "skew")
	job, phase := built(t, eng).Phases.Rows[0].JobID, built(t, eng).Phases.Rows[0].PhaseID
	r := &Replayed{JobID: job, Policy: "late<b>",
		Before: []ReplayedAttempt{{Phase: phase, Machine: "m1", Slot: 1, EndS: 10}, {Phase: phase, Task: 1, Machine: "m2", Slot: 1, EndS: 50}},
		After: []ReplayedAttempt{{Phase: phase, Machine: "m1", Slot: 1, EndS: 10}, {Phase: phase, Task: 1, Machine: "m2", Slot: 1, EndS: 22, Killed: true},
			{Phase: phase, Task: 1, Machine: "m1", Slot: 1, StartS: 12, EndS: 22, Copy: true}}}
	d, err := Build(context.Background(), eng, Options{Replayed: r})
	check(t, err)
	before, after := d.Whatif.Before, d.Whatif.After
	if before == nil || after == nil || before.LengthS != 50 || after.LengthS != 50 {
		t.Fatalf("before %+v, after %+v", before, after)
	}
	if after.Marks != 2 || after.Drawn != 2 || len(after.Lanes) != 2 {
		t.Errorf("after: %+v", after)
	}
	page := rendered(t, d)
	wellFormed(t, page)
	if !strings.Contains(page, "The same job under late&lt;b&gt;") {
		t.Error("the replay is not on the page")
	}
}

package view

import (
	"strings"
	"testing"

	"straggler/report"
	"straggler/schema"
)

// A policy that saves more than stragglers cost is explained; bounds, and policies that save less, are not.
func TestSavingsBeyondWhatWasLost(t *testing.T) {
	for name, c := range map[string]struct {
		saving float64
		ideal  bool
		says   bool
	}{"more": {12.6, false, true}, "less": {2.5, false, false}, "a bound": {12.6, true, false}} {
		var d report.Document
		d.Trust.Counts.Attempts = 10
		d.Cost.Loss.LostS = schema.Some(2.7)
		s := report.Saving{Ideal: c.ideal}
		s.Policy, s.SavingS, s.Verdict = "mantri", schema.Some(c.saving), schema.Unclear
		d.Whatif.Savings.Rows = []report.Saving{s}
		note, _ := policiesSection(&d).Blocks[0].(Note)
		if strings.Contains(string(note), "more than the 2.70\u00a0s that stragglers cost") != c.says {
			t.Errorf("%s: %s", name, note)
		}
	}
}

// Where nothing could be replayed, no policy is said to have changed nothing.
func TestNothingReplayed(t *testing.T) {
	var d report.Document
	d.Trust.Counts.Attempts = 410
	s := report.Saving{}
	s.Policy, s.SavingS, s.Verdict = "mantri", schema.Some(0.0), schema.CannotTell
	d.Whatif.Savings.Rows = []report.Saving{s}
	for attempts, blocks := range map[schema.Null[int64]]int{schema.Some[int64](0): 1, schema.Some[int64](9): 3, {}: 3} {
		d.Whatif.Attempts = attempts
		got := policiesSection(&d).Blocks
		note, _ := got[0].(Note)
		if len(got) != blocks || strings.Contains(string(note), "No job could be replayed") != (blocks == 1) {
			t.Errorf("%+v attempts replayed: %d blocks, the first %q", attempts, len(got), note)
		}
	}
	d.Trust.Counts.Attempts, d.Whatif.Attempts = 0, schema.Some[int64](0)
	if got := policiesSection(&d).Blocks; got[0] != Note("No job could be replayed: no task attempt was read.") {
		t.Errorf("without attempts: %v", got)
	}
}

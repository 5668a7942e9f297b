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

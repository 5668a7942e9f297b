package report

import (
	"strings"
	"testing"

	"straggler/schema"
)

// The sentence about an attempt is never empty, whatever its attribution contains.
func TestOutlierWordsAreNeverEmpty(t *testing.T) {
	for name, a := range map[string]AttributionRow{
		"no evidence":     {Cause: schema.GC, Rank: 1, Seconds: 2},
		"blank evidence":  {Cause: schema.BadMachine, Rank: 1, Seconds: 2, Evidence: `{"text":"  "}`},
		"no row of rank1": {Cause: schema.DataSkew, Rank: 2, Seconds: -1, Evidence: `{}`},
		"unknown cause":   {Cause: "gremlins", Rank: 1, Seconds: 2, Evidence: `not JSON`},
	} {
		o := Outlier{Causes: []Attribution{{AttributionRow: a}}}
		o.Causes[0].Words = causeWords(&o, &o.Causes[0])
		if s := outlierWords(&o); len(strings.Trim(s, " .;")) < 10 || strings.HasPrefix(s, ";") || strings.HasPrefix(s, " ") {
			t.Errorf("%s: %q", name, s)
		}
	}
}

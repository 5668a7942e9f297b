package audit

import (
	"slices"
	"testing"
	"time"

	"straggler/audit/audittest"
	"straggler/audit/baseline"
	"straggler/audit/measure"
)

// That a log is not complete is a finding until it is accepted; then it is normal, until a complete log is.
func TestAcceptedIncompleteLog(t *testing.T) {
	cfg := DefaultConfig()
	for name, accept := range map[string]int{"never": -1, "at once": 6, "later": 7} {
		b := &baseline.Baseline{}
		var got []Status
		for i, r := range audittest.Runs(12) {
			if r.Complete = i < 6 || i == 10; !r.Complete {
				r.Values["rejects"] = 5
			}
			o := Options{Now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}
			if i == accept {
				o.Accept = []string{findingID(r.Group, "log_complete", measure.Signature{}, "")}
			}
			n, err := Judge([]measure.Run{r}, b, cfg, o)
			if err != nil {
				t.Fatal(err)
			}
			n.Update(b, cfg)
			status := Status("")
			for _, f := range n.Findings() {
				if f.Rule == "log_complete" {
					status = f.Status
				}
			}
			got = append(got, status)
		}
		want := map[string][]Status{
			"never":   {New, Ongoing, Ongoing, Ongoing, Fixed, New},
			"at once": {"", "", "", "", "", New},
			"later":   {New, "", "", "", "", New},
		}[name]
		if !slices.Equal(got[6:], want) {
			t.Errorf("accepted %s: %q, want %q", name, got[6:], want)
		}
	}
}

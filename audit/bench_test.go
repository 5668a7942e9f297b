package audit

import (
	"fmt"
	"testing"
	"time"

	"straggler/audit/baseline"
	"straggler/audit/measure"
)

// BenchmarkJudge judges a night of many programs, each with 29 earlier runs in the baseline and one in five with an open
// finding.
func BenchmarkJudge(b *testing.B) {
	for _, programs := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("programs=%d", programs), func(b *testing.B) {
			base := &baseline.Baseline{}
			var runs []measure.Run
			for p := range programs {
				group := fmt.Sprintf("program %05d", p)
				for day := range 30 {
					r := measure.Run{Group: group, ID: fmt.Sprintf("%s on day %d", group, day),
						Start: fmt.Sprintf("2026-01-%02d", day+1), Values: measure.Values{"time_s": float64(100 + day*7%10)}}
					if day < 29 {
						base.Runs = append(base.Runs, r)
					} else {
						runs = append(runs, r)
					}
				}
				if p%5 == 0 {
					base.Reopen(baseline.Open{ID: findingID(group, "slower_application", measure.Signature{}, ""), Group: group})
				}
			}
			cfg := DefaultConfig()
			for b.Loop() {
				if _, err := Judge(runs, base, cfg, Options{Now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(programs), "µs/program")
		})
	}
}

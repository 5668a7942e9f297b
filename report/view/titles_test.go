package view

import (
	"strings"
	"testing"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// A report is about the time from the start of the first application to the end of the last one, which is longer than that of
// their attempts; where the log says only one of both, that.
func TestSpan(t *testing.T) {
	at := func(s int64) schema.Null[schema.Time] {
		return schema.Some(schema.FromMillis(1_700_000_000_000 + 1000*s))
	}
	none := schema.Null[schema.Time]{}
	for name, c := range map[string]struct {
		counts report.Counts
		want   string
	}{
		"both":            {report.Counts{FirstStart: at(0), LastFinish: at(16), StartTime: at(8), FinishTime: at(15)}, "22:13:20 UTC, for 16.0 s"},
		"attempts only":   {report.Counts{StartTime: at(8), FinishTime: at(15)}, "22:13:28 UTC, for 7.00 s"},
		"no end":          {report.Counts{FirstStart: at(0), StartTime: at(8), FinishTime: at(15)}, "22:13:20 UTC, for 15.0 s"},
		"attempts linger": {report.Counts{FirstStart: at(0), LastFinish: at(10), StartTime: at(8), FinishTime: at(15)}, "22:13:20 UTC, for 15.0 s"},
		"no times":        {report.Counts{FirstStart: none}, "spark"},
	} {
		var d report.Document
		d.Trust.Counts = c.counts
		d.Trust.Applications.Rows = []report.Application{{ApplicationRow: report.ApplicationRow{Framework: "spark", TimeOrigin: "epoch"}}}
		if got := strings.ReplaceAll(Span(&d), prose.NBSP, " "); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

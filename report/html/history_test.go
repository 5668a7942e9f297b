package html

import (
	"fmt"
	"strings"
	"testing"

	"straggler/report"
	"straggler/report/reporttest"
	"straggler/report/view"
	"straggler/schema"
)

// Three runs of two programs are slow: each program has a picture with a dot per run, slow ones in their colour, and names
// that are markup stay text.
func TestHistoryPictures(t *testing.T) {
	run := func(name string, key schema.Key, took float64) *report.SlowRun {
		r := &report.SlowRun{SlowRunRow: report.SlowRunRow{ApplicationID: key, NativeID: reporttest.Hostile, Name: name, TookS: took, UsualS: 100, Runs: 10}}
		for i := range schema.Key(10) {
			p := report.RunPoint{ApplicationID: key/100*100 + i,
				StartTime: schema.Some(reporttest.Origin.Add(86400 * float64(i))), TimeOrigin: "epoch", TookS: 100}
			if p.ApplicationID == key {
				p.TookS = took
			}
			r.Points = append(r.Points, p)
		}
		return r
	}
	runs := view.RunHistories{run("a"+reporttest.Hostile, 109, 700), run("a"+reporttest.Hostile, 108, 300), run("b", 205, 250)}
	var b strings.Builder
	if err := WriteSections(&b, []view.Section{{ID: "history", Title: "x", Blocks: []view.Block{runs}}}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for what, n := range map[string]int{"<figure>": 2, `class="sd s-bad_machine"`: 3, `class="sd s-ink"`: 17, `id="history-2"`: 1, "<script": 0, "<img": 0} {
		if got := strings.Count(page, what); got != n {
			t.Errorf("%d × %q, want %d", got, what, n)
		}
	}
	// an axis of 15 minutes
	slowest := fmt.Sprintf(`cy="%.1f" r="3" class="sd s-bad_machine"`, paperBottom-(paperBottom-paperTop)*700/900.0)
	if !strings.Contains(page, slowest) {
		t.Errorf("no dot at 700 s of 900: %s", slowest)
	}
	// A run with unknown points, or a single one, is not drawn.
	for _, r := range []*report.SlowRun{{}, {Points: []report.RunPoint{{TookS: 1}}}} {
		if v := historyViews(view.RunHistories{r}); len(v) != 0 {
			t.Errorf("%+v is drawn", r)
		}
	}
}

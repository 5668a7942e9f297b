package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"straggler/engine/enginetest"
	"straggler/report/reporttest"
	"straggler/schema"
)

// A program that runs twice a day and takes half as long again at night has slow hours, although none of its runs is slow
// compared with earlier ones; one that takes equally long at all hours has none, nor has one whose log hides the date.
func TestSlowHours(t *testing.T) {
	var traces []*schema.Trace
	n := 0
	add := func(program, origin string, hour, took float64) {
		m := reporttest.NewTrace()
		m.Phase(m.Job(0, took), 0, slices.Repeat([]float64{took, took, took * 0.98, took * 0.99}, 3)...)
		a := &m.Applications[0]
		a.NativeID, a.Name, a.TimeOrigin = fmt.Sprint("run-", n), schema.Some(program), origin
		start := schema.Time(int64(n/2+20000)*86_400_000_000 + int64(hour*3_600_000_000))
		a.StartTime, a.FinishTime = schema.Some(start), schema.Some(start.Add(took))
		enginetest.Shift(&m.Trace, schema.Key(100*(n+1)))
		traces = append(traces, &m.Trace)
		n++
	}
	for day := range 6 {
		few := 1 + 0.01*float64(day%3)
		for _, p := range []struct {
			name, origin string
			night        float64
		}{{"twice a day", "epoch", 1.5}, {"alike", "epoch", 1}, {"hidden", "trace", 1.5}} {
			add(p.name, p.origin, 2.3, 100*p.night*few)
			add(p.name, p.origin, 14.1, 100*few)
		}
	}
	d := built(t, reporttest.Stored(t, traces...))
	if len(d.SlowHours.Rows) != 1 {
		t.Fatalf("%+v", d.SlowHours.Rows)
	}
	x := d.SlowHours.Rows[0]
	if x.Program != "twice a day" || x.From != 2 || x.Until != 3 || x.Runs != 6 || x.Slow != 6 || x.OtherRuns != 6 || x.OtherSlow != 0 {
		t.Errorf("%+v", x)
	}
	if w := strings.ReplaceAll(x.Words(), "\u00a0", " "); !strings.Contains(w, "between 02:00 and 03:00 UTC take 152 s, 1.50× those that start at other hours: 6 of 6") {
		t.Error(w)
	}
}

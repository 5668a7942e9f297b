package report

import (
	"fmt"
	"strings"
	"testing"

	"straggler/report/reporttest"
	"straggler/schema"
)

// Runs of one program: all tasks of a stage of the last take three times as long. No task is an outlier, and the report says which
// run is slow and in which stage; of runs alike, and of fewer than four, it says nothing.
func TestSlowAsAWhole(t *testing.T) {
	runs := func(n int, last float64) *Document {
		var traces []*schema.Trace
		for i := range n {
			f := 1 + 0.02*float64(i%3)
			if i == n-1 {
				f = last
			}
			m := reporttest.NewTrace()
			job := m.Job(0, 10+20*f)
			m.Phase(job, 0, 10, 10.2, 10.1, 10.3)
			m.Phase(job, 10.3, 20*f, 20.2*f, 20.4*f, 20.1*f)
			a := &m.Applications[0]
			a.NativeID, a.Name = fmt.Sprint("run-", i), schema.Some("nightly")
			a.FinishTime = schema.Some(reporttest.Origin.Add(10.3 + 20.4*f))
			m.Phases[0].Name, m.Phases[1].Name = schema.Some("read"), schema.Some("join")
			shift(&m.Trace, schema.Key(100*(i+1)))
			traces = append(traces, &m.Trace)
		}
		return built(t, reporttest.Stored(t, traces...))
	}
	d := runs(6, 3)
	if len(d.SlowRuns.Rows) != 1 || d.SlowRuns.Rows[0].NativeID != "run-5" || d.SlowRuns.Rows[0].Runs != 6 {
		t.Fatalf("slow runs %+v", d.SlowRuns.Rows)
	}
	if s := d.SlowRuns.Rows[0].Stages; len(s) != 1 || s[0].Stage != "join" || s[0].Outliers.V != 0 || s[0].MedianS < 2.8*s[0].UsualS {
		t.Errorf("slow stages %+v", s)
	}
	for _, want := range []string{"run-5 took", "of nightly (6\u00a0runs)", "tasks of join", "none of them is an outlier"} {
		if !strings.Contains(d.Headline.Verdict, want) {
			t.Errorf("%q does not say %q", d.Headline.Verdict, want)
		}
	}
	for what, d := range map[string]*Document{"alike": runs(6, 1.01), "three": runs(3, 3)} {
		if len(d.SlowRuns.Rows) > 0 {
			t.Errorf("%s: slow runs %+v", what, d.SlowRuns.Rows)
		}
	}
}

// shift adds to all keys of a trace.
func shift(tr *schema.Trace, by schema.Key) {
	for i := range tr.Applications {
		tr.Applications[i].ApplicationID += by
	}
	for i := range tr.Jobs {
		tr.Jobs[i].JobID += by
		tr.Jobs[i].ApplicationID += by
	}
	for i := range tr.Phases {
		tr.Phases[i].PhaseID += by
		tr.Phases[i].JobID += by
	}
	for i := range tr.Attempts {
		a := &tr.Attempts[i]
		a.AttemptID, a.PhaseID, a.JobID, a.ApplicationID = a.AttemptID+by, a.PhaseID+by, a.JobID+by, a.ApplicationID+by
	}
}

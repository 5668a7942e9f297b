package workload_test

import (
	"testing"

	"straggler/schema"
	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// An attempt whose end the log lost ended with its phase, or else its job; only in a phase that still runs it goes on to the
// end of the log.
func TestUnendedAttempts(t *testing.T) {
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	for name, c := range map[string]struct {
		phase, job schema.Null[schema.Time]
		want       float64 // s from the start of the log
	}{
		"phase":  {at(10), at(20), 10},
		"job":    {schema.Null[schema.Time]{}, at(20), 20},
		"log":    {schema.Null[schema.Time]{}, schema.Null[schema.Time]{}, 500},
		"before": {at(1), at(20), 2}, // and not before it started
	} {
		tr := &schema.Trace{
			Applications: []schema.Application{{ApplicationID: 1, Framework: "spark"}},
			Jobs: []schema.Job{{JobID: 2, ApplicationID: 1, SubmitTime: at(0), FinishTime: c.job},
				{JobID: 4, ApplicationID: 1, SubmitTime: at(400), FinishTime: at(500)}},
			Phases: []schema.Phase{{PhaseID: 3, JobID: 2, Kind: "map", FinishTime: c.phase}},
			Attempts: []schema.Attempt{{AttemptID: 5, PhaseID: 3, JobID: 2, ApplicationID: 1, Status: schema.Running,
				Machine: schema.Some("m"), StartTime: at(2)}},
		}
		w := workload.Build(workloadtest.FromTrace(tr))
		if got := 2 + float64(w.Pools[0].Attempts[0].Dur)/1e6; got != c.want || 2+w.Notes.LongestS != c.want {
			t.Errorf("%s: it ends at %g s, want %g s; the longest attempt takes %g s", name, got, c.want, w.Notes.LongestS)
		}
	}
}

// A phase that a store holds twice is replayed once.
func TestPhaseTwice(t *testing.T) {
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	phase := schema.Phase{PhaseID: 3, JobID: 2, Kind: "map"}
	tr := &schema.Trace{
		Applications: []schema.Application{{ApplicationID: 1, Framework: "spark"}},
		Jobs:         []schema.Job{{JobID: 2, ApplicationID: 1}},
		Phases:       []schema.Phase{phase, phase},
		Attempts: []schema.Attempt{{AttemptID: 5, PhaseID: 3, JobID: 2, ApplicationID: 1, Status: schema.Success,
			Machine: schema.Some("m"), StartTime: at(2), FinishTime: at(9),
			DurationS: schema.Some(7.0)}},
	}
	if p := workload.Build(workloadtest.FromTrace(tr)).Pools[0]; len(p.Phases) != 1 || len(p.Tasks) != 1 || len(p.Attempts) != 1 {
		t.Errorf("%d phases, %d tasks, %d attempts", len(p.Phases), len(p.Tasks), len(p.Attempts))
	}
}

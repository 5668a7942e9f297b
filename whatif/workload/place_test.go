package workload_test

import (
	"testing"

	"straggler/schema"
	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// A declaration holds where a framework hands a slot on before it writes down the end of the attempt that had it, also when
// that overlaps a third of short attempts. Where three run at once all the time, two declared slots are not what limits them.
func TestDeclaredSlots(t *testing.T) {
	for name, c := range map[string]struct {
		tasks, at       int     // of them short ones, and how many run at once
		short, long     float64 // s
		late            float64 // s
		slots, measured int
	}{
		"ends written late":         {tasks: 12, at: 2, short: 0.4, long: 10, late: 0.15, slots: 2},
		"never more than declared":  {tasks: 12, at: 2, short: 0.4, long: 10, slots: 2},
		"more run than is declared": {tasks: 12, at: 3, short: 0.4, long: 10, slots: 3, measured: 3},
	} {
		at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
		tr := &schema.Trace{
			Applications: []schema.Application{{ApplicationID: 1, Framework: "spark"}},
			Jobs:         []schema.Job{{JobID: 2, ApplicationID: 1}},
			Phases:       []schema.Phase{{PhaseID: 3, JobID: 2, Kind: "map"}},
			Machines:     []schema.Machine{{ApplicationID: schema.Some(schema.Key(1)), Machine: "m", Slots: schema.Some(int64(2))}},
		}
		start := 0.0
		for n := range 2 * c.tasks {
			took := c.short
			if n >= c.tasks {
				took = c.long
			}
			tr.Attempts = append(tr.Attempts, schema.Attempt{AttemptID: schema.Key(10 + n), PhaseID: 3, JobID: 2, ApplicationID: 1, Task: int64(n),
				Status: schema.Success, Machine: schema.Some("m"), StartTime: at(start), FinishTime: at(start + took + c.late)})
			if n%c.at == c.at-1 {
				start += took
			}
		}
		w := workload.Build(workloadtest.FromTrace(tr))
		if p := w.Pools[0]; p.Capacity() != c.slots || w.Notes.MeasuredSlots != c.measured {
			t.Errorf("%s: %d slots, %d of them measured, want %d and %d", name, p.Capacity(), w.Notes.MeasuredSlots, c.slots, c.measured)
		}
	}
}

// With dynamic allocation an executor may come and go before the first job. It has no slot in the pool, and the replay does
// not begin before the first job to take it away.
func TestExecutorGoneBeforeTheFirstJob(t *testing.T) {
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	tr := &schema.Trace{
		Applications: []schema.Application{{ApplicationID: 1, Framework: "spark", StartTime: at(-60)}},
		Jobs:         []schema.Job{{JobID: 2, ApplicationID: 1, SubmitTime: at(0), FinishTime: at(3)}},
		Phases:       []schema.Phase{{PhaseID: 3, JobID: 2, Kind: "map", SubmitTime: at(0)}},
		Attempts: []schema.Attempt{{AttemptID: 4, PhaseID: 3, JobID: 2, ApplicationID: 1, Status: schema.Success, Machine: schema.Some("m"),
			Executor: schema.Some("2"), StartTime: at(1), FinishTime: at(3)}},
	}
	for n, gone := range []schema.Null[schema.Time]{at(-40), {}} {
		tr.Machines = append(tr.Machines, schema.Machine{ApplicationID: schema.Some(schema.Key(1)), Machine: "m", Slots: schema.Some(int64(2)),
			Executor: schema.Some([]string{"1", "2"}[n]), AddedTime: at(-50), RemovedTime: gone})
	}
	w := workload.Build(workloadtest.FromTrace(tr))
	if p := w.Pools[0]; p.Capacity() != 2 || w.Notes.DeclaredSlots != 2 {
		t.Errorf("%d slots, %d of them declared, want the 2 of the second executor", p.Capacity(), w.Notes.DeclaredSlots)
	}
	for _, s := range w.Pools[0].Slots {
		if s.Till < 0 {
			t.Errorf("a slot goes %d µs before the pool begins", -s.Till)
		}
	}
}

// A log that lacks the start of a job still has the submission of its stage, which precedes the first attempt.
func TestPhaseSubmittedBeforeAnythingElse(t *testing.T) {
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	w := workload.Build(workloadtest.FromTrace(&schema.Trace{
		Applications: []schema.Application{{ApplicationID: 1, Framework: "spark"}},
		Jobs:         []schema.Job{{JobID: 2, ApplicationID: 1}},
		Phases:       []schema.Phase{{PhaseID: 3, JobID: 2, Kind: "map", SubmitTime: at(-5)}},
		Attempts: []schema.Attempt{{AttemptID: 4, PhaseID: 3, JobID: 2, ApplicationID: 1, Status: schema.Success, Machine: schema.Some("m"),
			StartTime: at(1), FinishTime: at(3)}},
	}))
	if gap := w.Pools[0].Jobs[0].Gap; gap != 0 {
		t.Errorf("the job is released at %d µs, want 0", gap)
	}
}

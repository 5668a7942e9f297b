package detect

import (
	"fmt"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/store"
)

// The tests describe phases by the attempts of their tasks, and read what Run wrote back from the store.

const origin = schema.Time(1_700_000_000_000_000)

// made builds a trace of one application and one job.
type made struct {
	schema.Trace
	next  schema.Key
	tries map[[2]int64]int32 // attempts of each task
}

func newMade() *made {
	m := &made{tries: make(map[[2]int64]int32)}
	m.Applications = []schema.Application{{ApplicationID: 1, NativeID: "app", Framework: "test", StartTime: schema.Some(origin),
		Status: schema.RunSucceeded, SourceFile: "made", Complete: true, TimeOrigin: "epoch"}}
	m.Jobs = []schema.Job{{JobID: 1, ApplicationID: 1, NativeID: "0", Status: schema.RunSucceeded}}
	return m
}

// phase adds a phase with a task of each duration, all started together.
func (m *made) phase(seconds ...float64) schema.Key {
	p := schema.Key(len(m.Phases) + 1)
	m.Phases = append(m.Phases, schema.Phase{PhaseID: p, JobID: 1, NativeID: fmt.Sprint(p), Kind: "map", Status: schema.RunSucceeded})
	for i, s := range seconds {
		m.attempt(p, int64(i), s)
	}
	return p
}

// attempt adds a successful attempt of a task; the caller may modify it through the pointer until the next call.
func (m *made) attempt(phase schema.Key, task int64, seconds float64) *schema.Attempt {
	m.next++
	a := schema.Attempt{AttemptID: m.next, PhaseID: phase, JobID: 1, ApplicationID: 1, Task: task, NativeID: fmt.Sprint(m.next),
		StartTime: schema.Some(origin), FinishTime: schema.Some(origin.Add(seconds)), DurationS: schema.Some(seconds), Status: schema.Success}
	a.Number = m.tries[[2]int64{phase, task}]
	m.tries[[2]int64{phase, task}]++
	m.Attempts = append(m.Attempts, a)
	return &m.Attempts[len(m.Attempts)-1]
}

// startAt moves an attempt to a time, in seconds after the others.
func startAt(a *schema.Attempt, s float64) {
	a.StartTime = schema.Some(origin.Add(s))
	a.FinishTime = schema.Some(origin.Add(s + a.DurationS.V))
}

// detected is the result of Run for a trace.
type detected struct {
	phases   []schema.PhaseStats
	outliers []schema.Outlier
	history  []schema.StageHistory
	times    []schema.TaskTime
	summary  Summary
}

// of returns the row of a phase.
func (d *detected) of(t *testing.T, phase schema.Key) schema.PhaseStats {
	t.Helper()
	for _, p := range d.phases {
		if p.PhaseID == phase {
			return p
		}
	}
	t.Fatalf("no row for phase %d", phase)
	return schema.PhaseStats{}
}

// slow returns the outlier row of an attempt under a rule, and whether there is one.
func (d *detected) slow(attempt schema.Key, rule schema.Rule) (schema.Outlier, bool) {
	for _, o := range d.outliers {
		if o.AttemptID == attempt && o.Rule == rule {
			return o, true
		}
	}
	return schema.Outlier{}, false
}

// run runs detect on a trace, with the number of threads that users have.
func run(t *testing.T, tr *schema.Trace) *detected { return runOn(t, tr, 0) }

func runOn(t *testing.T, tr *schema.Trace, threads int) *detected {
	t.Helper()
	st, err := store.Temp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	enginetest.IngestTrace(t, st, tr)
	return runStoreOn(t, st, threads, Options{})
}

func runStore(t *testing.T, st *store.Store, o Options) *detected { return runStoreOn(t, st, 0, o) }

func runStoreOn(t *testing.T, st *store.Store, threads int, o Options) *detected {
	t.Helper()
	eng, err := engines.Open(t.Context(), st, engine.Options{Threads: threads, MemoryBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	s, err := Run(t.Context(), st, eng, o)
	if err != nil {
		t.Fatal(err)
	}
	d := resultsOf(t, eng)
	d.summary = s
	return d
}

// resultsOf reads the results in the store.
func resultsOf(t *testing.T, eng engine.Engine) *detected {
	t.Helper()
	return &detected{
		phases:   enginetest.ReadAll[schema.PhaseStats](t, eng, "SELECT * FROM phase_stats ORDER BY phase_id NULLS LAST"),
		outliers: enginetest.ReadAll[schema.Outlier](t, eng, "SELECT * FROM outliers ORDER BY phase_id NULLS LAST, attempt_id NULLS LAST, rule NULLS LAST"),
		history:  enginetest.ReadAll[schema.StageHistory](t, eng, "SELECT * FROM stage_history ORDER BY phase_id NULLS LAST"),
		times: enginetest.ReadAll[schema.TaskTime](t, eng, "SELECT * FROM task_times ORDER BY phase_id NULLS LAST, "+
			"task NULLS LAST, duration_s NULLS LAST, input_bytes NULLS LAST, input_records NULLS LAST"),
	}
}

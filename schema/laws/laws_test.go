package laws_test

import (
	"slices"
	"testing"

	"straggler/schema"
	"straggler/schema/laws"
	"straggler/schema/laws/lawstest"
)

func TestSoundTraces(t *testing.T) {
	for name, trace := range map[string]*schema.Trace{"empty": {}, "sound": lawstest.Sound()} {
		for _, v := range laws.Trace(trace) {
			t.Errorf("%s: %v", name, v)
		}
	}
	filled := make(map[*schema.Table]bool)
	for b := range lawstest.Sound().Batches() {
		filled[b.Table()] = true
	}
	for _, table := range schema.LogTables() {
		if !filled[table] {
			t.Errorf("lawstest.Sound has no row of %s", table.Name)
		}
	}
}

// Each fault violates the law that it is about and no other, and every law has a fault; that of the table of ingests, which no
// trace contains, is below.
func TestFaults(t *testing.T) {
	tried := map[laws.Law]bool{laws.AllRecords: true}
	for _, f := range lawstest.Faults() {
		trace := lawstest.Sound()
		f.Make(trace)
		tried[f.Law] = true
		found := laws.Trace(trace)
		if !slices.ContainsFunc(found, func(v laws.Violation) bool { return v.Table == f.Table && v.Column == f.Column && v.Law == f.Law }) {
			t.Errorf("%s: want %s.%s %s, found %v", f.Name, f.Table, f.Column, f.Law, found)
		}
		for _, v := range found {
			if v.Law != f.Law || v.Key == "" || v.Value == "" {
				t.Errorf("%s: also found %v", f.Name, v)
			}
		}
	}
	for _, e := range laws.All() {
		if !tried[laws.Law(e.Word)] || e.Meaning == "" {
			t.Errorf("no fault breaks law %s", e.Word)
		}
		delete(tried, laws.Law(e.Word))
	}
	for law := range tried {
		t.Errorf("law %s is not listed", law)
	}
}

func TestRecordsOfIngests(t *testing.T) {
	var found []laws.Violation
	rows := []schema.Ingest{{IngestID: "a", RowsIn: 10, RowsOut: 7, Rejects: 3}, {IngestID: "b", RowsIn: 10, RowsOut: 10, Rejects: 1}}
	laws.Rows(schema.BatchOf(rows), func(v laws.Violation) { found = append(found, v) })
	if len(found) != 1 || found[0].Key != "b" || found[0].Law != laws.AllRecords {
		t.Errorf("found %v", found)
	}
}

// A resubmission has the missing tasks under their own indexes; a position in a smaller set is marked as such.
func TestPartialSets(t *testing.T) {
	trace := lawstest.Sound()
	trace.Attempts[5].Task = 1000
	trace.Losses = nil
	trace.Attempts[3].Task = 77
	trace.Attempts[3].Quality |= schema.TaskUnknown
	for _, v := range laws.Trace(trace) {
		t.Error(v)
	}
}

func TestLongChain(t *testing.T) {
	const n = 200_000
	trace := &schema.Trace{
		Applications: []schema.Application{{ApplicationID: 1, Status: schema.RunSucceeded}},
		Jobs:         []schema.Job{{JobID: 1, ApplicationID: 1, Status: schema.RunSucceeded}},
	}
	for k := schema.Key(1); k <= n; k++ {
		trace.Phases = append(trace.Phases, schema.Phase{PhaseID: k, JobID: 1, Status: schema.RunSkipped})
		if k > 1 {
			trace.Edges = append(trace.Edges, schema.Edge{JobID: 1, FromPhase: k - 1, ToPhase: k, Pattern: schema.OneToOne})
		}
	}
	for _, v := range laws.Trace(trace) {
		t.Fatal(v)
	}
	trace.Edges = append(trace.Edges, schema.Edge{JobID: 1, FromPhase: n, ToPhase: 1, Pattern: schema.OneToOne})
	if found := laws.Trace(trace); len(found) != 1 || found[0].Law != laws.EdgeOnce {
		t.Errorf("a cycle of %d phases: %v", n, found)
	}
}

func BenchmarkTrace(b *testing.B) {
	trace := lawstest.Sound()
	for range 17 {
		trace.Attempts = append(trace.Attempts, trace.Attempts...)
	}
	for i := range trace.Attempts {
		trace.Attempts[i].AttemptID = schema.Key(i + 10)
		trace.Attempts[i].Number = int32(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		laws.Trace(trace)
	}
	b.ReportMetric(float64(b.N)*float64(len(trace.Attempts))/b.Elapsed().Seconds(), "attempts/s")
}

// Durations of thousands of years, which a log with wrong times has, are finish − start to the precision of a double.
func TestLongDurations(t *testing.T) {
	for ms := int64(253402300799000); ms < 253402300799999; ms += 7 {
		trace := &schema.Trace{Attempts: []schema.Attempt{{
			AttemptID: 1, StartTime: schema.Some(schema.Time(1000)), FinishTime: schema.Some(schema.Time(ms * 1000)),
			DurationS: schema.Some(float64(ms-1) / 1e3),
		}}}
		for _, v := range laws.Trace(trace) {
			if v.Law == laws.Duration {
				t.Error(v)
			}
		}
		trace.Attempts[0].DurationS.V += 1
		if !slices.ContainsFunc(laws.Trace(trace), func(v laws.Violation) bool { return v.Law == laws.Duration }) {
			t.Error("a second too long")
		}
	}
}

package verify_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/schema/laws"
	"straggler/schema/laws/lawstest"
	"straggler/schema/synth"
	"straggler/store"
	"straggler/verify"
)

// verified checks a trace by way of a store.
func verified(t testing.TB, trace *schema.Trace, o verify.Options) verify.Result {
	t.Helper()
	ctx := context.Background()
	st, err := store.Temp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	enginetest.IngestTrace(t, st, trace)
	eng, err := engines.Open(ctx, st, engine.Options{Threads: 2, MemoryBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	r, err := verify.Rows(ctx, eng, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// texts returns violations in one order.
func texts(found []laws.Violation) []string {
	var all []string
	for _, v := range found {
		all = append(all, v.String())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A store breaks the laws that its rows break in memory, with the same keys and values, whatever the fault.
func TestStoreAsTrace(t *testing.T) {
	for _, f := range append(lawstest.Faults(), lawstest.Fault{Name: "none", Make: func(*schema.Trace) {}}) {
		trace := lawstest.Sound()
		f.Make(trace)
		r := verified(t, trace, verify.Options{})
		if f.Law == laws.Text { // the store writes UTF-8, whatever it is given
			if r.Rows != 0 {
				t.Errorf("%s: %+v", f.Name, r)
			}
			continue
		}
		var found []laws.Violation
		for _, b := range r.Broken {
			found = append(found, b.First...)
		}
		if got, want := texts(found), texts(laws.Trace(trace)); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", f.Name, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
}

// Generated traces break no law, with losses, copies and several jobs.
func TestGeneratedTraces(t *testing.T) {
	for _, s := range synth.Scenarios() {
		trace, _, err := synth.Generate(s.Make(3))
		if err != nil {
			t.Fatal(err)
		}
		if r := verified(t, trace, verify.Options{}); r.Rows != 0 {
			t.Errorf("%s: %+v", s.Name, r)
		}
	}
}

// Of many violations the first are kept and all are counted, in whatever order they come.
func TestManyViolations(t *testing.T) {
	const n = 5000
	trace := &schema.Trace{}
	for i := range n {
		trace.Jobs = append(trace.Jobs, schema.Job{JobID: schema.Key(i + 1), ApplicationID: 77, NativeID: fmt.Sprint(i), Status: schema.RunUnknown})
	}
	r := verified(t, trace, verify.Options{PerLaw: 3})
	if len(r.Broken) != 1 || r.Rows != n || r.Broken[0].Rows != n {
		t.Fatalf("%+v", r)
	}
	b := r.Broken[0]
	var keys []string
	for _, v := range b.First {
		keys = append(keys, v.Key)
	}
	if b.Law != laws.KnownKey || b.Table != "jobs" || b.Column != "application_id" || !reflect.DeepEqual(keys, []string{"1", "2", "3"}) {
		t.Errorf("%+v", b)
	}
}

// A cycle is found among the edges of a job, and among those of several.
func TestCycles(t *testing.T) {
	trace := &schema.Trace{Applications: []schema.Application{{ApplicationID: 1, Status: schema.RunUnknown}}}
	for job := schema.Key(1); job <= 3; job++ {
		trace.Jobs = append(trace.Jobs, schema.Job{JobID: job, ApplicationID: 1, Status: schema.RunUnknown})
		for p := range schema.Key(3) {
			trace.Phases = append(trace.Phases, schema.Phase{PhaseID: 10*job + p, JobID: job, Kind: "map", Status: schema.RunUnknown})
		}
	}
	edge := func(job, from, to schema.Key) {
		trace.Edges = append(trace.Edges, schema.Edge{JobID: job, FromPhase: from, ToPhase: to, Pattern: schema.AllToAll})
	}
	edge(1, 10, 11)
	edge(1, 11, 12)
	edge(2, 12, 20)
	edge(2, 20, 21)
	edge(3, 30, 31)
	if r := verified(t, trace, verify.Options{}); r.Rows != 0 {
		t.Errorf("without a cycle: %+v", r)
	}
	edge(3, 31, 30)
	if r := verified(t, trace, verify.Options{}); r.Rows != 1 || r.Broken[0].First[0].Key != "3" {
		t.Errorf("a cycle in job 3: %+v", r)
	}
	edge(1, 21, 10)
	if r := verified(t, trace, verify.Options{}); r.Rows != 2 {
		t.Errorf("another over jobs 1 and 2: %+v", r)
	}
}

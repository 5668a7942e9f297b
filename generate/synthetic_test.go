package generate

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/generate/sparklog"
	"straggler/ingest/ingesttest"
	"straggler/ingest/spark"
	"straggler/schema"
	"straggler/schema/synth"
	"straggler/store"
)

func options(t testing.TB, s Synthetic) synth.Options {
	t.Helper()
	o, err := s.Options()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestToStore: the store has the trace that synth makes, once, however often it is made.
func TestToStore(t *testing.T) {
	ctx := t.Context()
	st, err := store.Temp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	o := options(t, Synthetic{Scenario: "nightly", Seed: 4})
	o.Applications, o.BatchRows = 3, 100
	want, _, err := synth.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	var truth bytes.Buffer
	for range 2 {
		truth.Reset()
		made, err := ToStore(ctx, st, o, "test", &truth)
		if err != nil {
			t.Fatal(err)
		}
		if made.Applications != 3 || made.Attempts != int64(len(want.Attempts)) || made.Commit == nil {
			t.Errorf("made %+v of %d attempts", made, len(want.Attempts))
		}
	}
	eng, err := engines.Open(ctx, st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	type counts struct {
		Attempts int64   `col:"attempts"`
		Seconds  float64 `col:"seconds"`
		Phases   int64   `col:"phases"`
		Apps     int64   `col:"apps"`
	}
	seconds := 0.0
	for i := range want.Attempts {
		seconds += want.Attempts[i].DurationS.V
	}
	for r, err := range engine.Read[counts](ctx, eng, `SELECT (SELECT count(*) FROM attempts) AS attempts, (SELECT sum(duration_s) FROM attempts) AS seconds,
		(SELECT count(*) FROM phases) AS phases, (SELECT count(*) FROM applications) AS apps`) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Attempts != int64(len(want.Attempts)) || r.Phases != int64(len(want.Phases)) || r.Apps != 3 ||
			r.Seconds < seconds*(1-1e-9) || r.Seconds > seconds*(1+1e-9) {
			t.Errorf("the store has %+v; made were %d attempts of %v s and %d phases", *r, len(want.Attempts), seconds, len(want.Phases))
		}
	}
	if lines := bytes.Count(truth.Bytes(), []byte("\n")); lines != len(want.Attempts)+1 {
		t.Errorf("%d lines of truth for %d attempts", lines, len(want.Attempts))
	}
}

// TestToLogs: a directory of labelled logs, with labels of attempts in the log and of causes that were active.
func TestToLogs(t *testing.T) {
	dir := t.TempDir()
	made, err := ToLogs(t.Context(), dir, 2, options(t, Synthetic{Scenario: "mixed", Seed: 7}), sparklog.Options{})
	if err != nil || made.Applications != 2 {
		t.Fatalf("%+v, %v", made, err)
	}
	runs, err := filepath.Glob(filepath.Join(dir, "mixed-*"))
	if err != nil || len(runs) != 2 {
		t.Fatalf("runs %v, %v", runs, err)
	}
	for _, run := range runs {
		text, err := os.ReadFile(filepath.Join(run, "truth.json"))
		if err != nil {
			t.Fatal(err)
		}
		var truth truthJSON
		if err := json.Unmarshal(text, &truth); err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(filepath.Join(run, truth.AppID))
		if err != nil {
			t.Fatal(err)
		}
		r := ingesttest.Bytes(t, spark.Format(), truth.AppID, log)
		checkLabels(t, &truth, &r.Trace)
	}
}

// A scenario of several applications gives as many logs, one a night.
func TestToLogsOfNights(t *testing.T) {
	dir := t.TempDir()
	o := options(t, Synthetic{Scenario: "nightly", Seed: 7})
	made, err := ToLogs(t.Context(), dir, 2, o, sparklog.Options{})
	if err != nil || made.Applications != 28 {
		t.Fatalf("%+v, %v", made, err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "nightly-8-*", "app-8-*"))
	if err != nil || len(logs) != 14 {
		t.Fatalf("%q, %v", logs, err)
	}
	var last schema.Time
	for _, path := range logs {
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var truth truthJSON
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "truth.json"))
		if err == nil {
			err = json.Unmarshal(text, &truth)
		}
		r := ingesttest.Bytes(t, spark.Format(), filepath.Base(path), log)
		if err != nil || len(r.Trace.Applications) != 1 || truth.AppID != filepath.Base(path) || r.Trace.Applications[0].NativeID != truth.AppID {
			t.Fatalf("%s: %v, truth of %s, %+v", path, err, truth.AppID, r.Trace.Applications)
		}
		if start := r.Trace.Applications[0].StartTime.V; start.Sub(last) < 10*3600 {
			t.Errorf("%s starts %g s after the night before", path, start.Sub(last))
		} else {
			last = start
		}
	}
}

func checkLabels(t *testing.T, truth *truthJSON, trace *schema.Trace) {
	t.Helper()
	type id struct {
		stage, attempt, task, number int64
	}
	phases := map[schema.Key]schema.Phase{}
	for _, p := range trace.Phases {
		phases[p.PhaseID] = p
	}
	hosts := map[id]string{}
	for i := range trace.Attempts {
		a := &trace.Attempts[i]
		p := phases[a.PhaseID]
		hosts[id{number10(p.NativeID), int64(p.Attempt), a.Task, int64(a.Number)}] = a.Machine.V
	}
	causes := map[schema.Cause]int{}
	for _, l := range truth.Labels {
		causes[l.Cause]++
		if host := hosts[id{l.StageID, int64(l.StageAttempt), l.Partition, int64(l.Attempt)}]; host != l.Host {
			t.Fatalf("label %+v: the log has %q", l, host)
		}
		if _, ok := truth.Machines[l.Host]; !ok {
			t.Errorf("label on unknown machine %s", l.Host)
		}
	}
	for _, c := range []schema.Cause{schema.DataSkew, schema.BadMachine, schema.Transient, schema.GC} {
		if causes[c] == 0 {
			t.Errorf("no label of %s among %v", c, causes)
		}
	}
	if len(truth.Jobs) != len(trace.Jobs) {
		t.Errorf("%d jobs, the log has %d", len(truth.Jobs), len(trace.Jobs))
	}
	for _, j := range truth.Jobs {
		if j.Makespan <= 0 || len(j.Stages) == 0 {
			t.Errorf("job %+v", j)
		}
	}
}

func TestSyntheticOptions(t *testing.T) {
	if _, err := (Synthetic{Scenario: "nosuch"}).Options(); !errors.Is(err, ErrScenario) {
		t.Errorf("unknown scenario: %v", err)
	}
	var log bytes.Buffer
	made, err := ToLog(t.Context(), &log, options(t, Synthetic{Wide: 3000, Seed: 1}), sparklog.Options{Terse: true}, nil)
	if err != nil || made.Attempts != 3000 || made.Bytes != int64(log.Len()) {
		t.Errorf("wide: %+v of %d bytes, %v", made, log.Len(), err)
	}
	made, err = ToLog(t.Context(), &bytes.Buffer{}, options(t, Synthetic{Phases: 200, Seed: 1}), sparklog.Options{Terse: true}, nil)
	if err != nil || made.Attempts < 400 || made.Attempts > 2400 {
		t.Errorf("200 phases of 2 to 12 tasks: %+v, %v", made, err)
	}
}

func BenchmarkToStore(b *testing.B) {
	o := options(b, Synthetic{Scenario: "mixed", Seed: 1, Tasks: 200_000})
	b.ReportAllocs()
	var n int64
	for b.Loop() {
		st, err := store.Temp(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		made, err := ToStore(b.Context(), st, o, "bench", nil)
		if err != nil {
			b.Fatal(err)
		}
		n += made.Attempts
		st.Close()
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "attempts/s")
}

package audit

import (
	"errors"
	"testing"

	"straggler/audit/measure"
	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/schema/laws/lawstest"
	"straggler/store"
)

// The rejected records of a log of several files are those of the files in its directory.
func TestRejectsOfSeveralFiles(t *testing.T) {
	ctx := t.Context()
	tr := lawstest.Sound()
	tr.Applications, tr.Rejects = tr.Applications[:1], nil
	log := tr.Applications[0].SourceFile
	for _, file := range []string{log, log + "/events_1_app", log + "/events_2_app", "other", "other/" + log} {
		tr.Rejects = append(tr.Rejects, schema.Reject{SourceFile: file, Line: schema.Some(int64(1)), Reason: "it is broken"})
	}
	st, err := store.Temp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Log, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	err = tx.Input(store.InputRecord{Name: "made", Key: 1})
	for b := range tr.Batches() {
		err = errors.Join(err, tx.Append(1, b))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	eng, err := engines.Open(ctx, st, engine.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	_, err = detect.Run(ctx, st, eng, detect.Options{Tool: "test"})
	if _, failed := causes.Run(ctx, st, eng, causes.Options{Tool: "test"}); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	runs, err := measure.Runs(ctx, eng, measure.Grouping{})
	if err != nil || len(runs) != 1 || runs[0].Values["rejects"] != 3 {
		t.Errorf("%v, %+v, want a run with 3 rejects", err, runs)
	}
}

// Package reporttest takes traces, labelled logs or hostile names and returns stores to build reports from, in tests: the rows
// committed, detect and causes run, and an engine on the result.
//
// Start with stores.go.
package reporttest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest"
	"straggler/ingest/run"
	"straggler/ingest/spark"
	"straggler/schema"
	"straggler/store"
)

// Stored commits traces.
func Stored(t testing.TB, traces ...*schema.Trace) engine.Engine {
	t.Helper()
	return Filled(t, func(tx *store.Tx) {
		for _, tr := range traces {
			for b := range tr.Batches() {
				Check(t, tx.Append(1, b))
			}
		}
	})
}

// Filled commits what put appends.
func Filled(t testing.TB, put func(*store.Tx)) engine.Engine {
	t.Helper()
	ctx := context.Background()
	st, err := store.Temp(ctx)
	Check(t, err)
	t.Cleanup(func() { st.Close() })
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Log})
	Check(t, err)
	Check(t, tx.Input(store.InputRecord{Name: "made", Key: 1, Fingerprint: "made"}))
	put(tx)
	_, err = tx.Commit(ctx)
	Check(t, err)
	return analysed(t, st, engine.Options{})
}

// Put appends rows to a transaction.
func Put[R any](t testing.TB, tx *store.Tx, rows []R) {
	t.Helper()
	Check(t, store.Append(tx, 1, rows))
}

// analysed runs detect and causes.
func analysed(t testing.TB, st *store.Store, o engine.Options) engine.Engine {
	t.Helper()
	ctx := context.Background()
	eng, err := engines.Open(ctx, st, o)
	Check(t, err)
	t.Cleanup(func() { eng.Close() })
	_, err = detect.Run(ctx, st, eng, detect.Options{})
	Check(t, err)
	_, err = causes.Run(ctx, st, eng, causes.Options{})
	Check(t, err)
	return eng
}

// Labelled reads some of the labelled logs of testdata into one store.
func Labelled(t testing.TB, names ...string) engine.Engine {
	t.Helper()
	return LabelledOn(t, engine.Options{}, names...)
}

// LabelledOn is Labelled with an engine of some options.
func LabelledOn(t testing.TB, o engine.Options, names ...string) engine.Engine {
	t.Helper()
	_, eng := labelled(t, o, names)
	return eng
}

// LabelledWithSavings is Labelled with what three policies would have saved: one saves, one may or may not, and one is a bound.
func LabelledWithSavings(t testing.TB, names ...string) engine.Engine {
	t.Helper()
	st, eng := labelled(t, engine.Options{}, names)
	tx, err := st.Begin(t.Context(), store.Origin{Kind: store.Whatif})
	Check(t, err)
	Check(t, store.Append(tx, 0, Savings()))
	_, err = tx.Commit(t.Context())
	Check(t, err)
	return eng
}

// Savings returns rows of whatif_savings, over all jobs.
func Savings() []schema.WhatifSaving {
	row := func(policy, parameters string, low, mid, high float64, verdict schema.SavingVerdict, assumptions string) schema.WhatifSaving {
		return schema.WhatifSaving{Policy: policy, Parameters: parameters, SavingS: schema.Some(mid), SavingLow: schema.Some(low),
			SavingHigh: schema.Some(high), ThisRunLow: schema.Some(mid - (mid-low)/10), ThisRunHigh: schema.Some(mid + (high-mid)/10),
			SavingShare: schema.Some(mid / 100), SlotTimeChange: schema.Some(0.02), Verdict: verdict, Assumptions: assumptions}
	}
	return []schema.WhatifSaving{
		row("spark", `{"quantile":0.5,"multiplier":"log","min_task_runtime":0.1}`, 30, 33, 36, schema.Saves,
			`{"replay_error_s":2.5,"replay_error_share":0.02,"notes":["A copy never fails."],"all":{"copies":12,"wins":7,"median_s":[30,20]},"small":{"jobs":3,"saving_share":0.2}}`),
		row("late", `{"progress_error":0.3}`, -1, 1, 3, schema.CannotTell, `{"all":{"copies":2,"wins":0}}`),
		row("noskew", `{}`, 50, 50, 50, schema.Saves, `{"ideal":true,"all":{}}`)}
}

func labelled(t testing.TB, o engine.Options, names []string) (*store.Store, engine.Engine) {
	t.Helper()
	var paths []string
	for _, n := range names {
		found, err := filepath.Glob(filepath.Join(moduleRoot(t), "testdata", "labelled", n, "*app-*"))
		Check(t, err)
		if len(found) == 0 {
			t.Fatalf("no labelled log %s", n)
		}
		paths = append(paths, found...)
	}
	ctx := context.Background()
	st, err := store.Temp(ctx)
	Check(t, err)
	t.Cleanup(func() { st.Close() })
	_, err = run.Run(ctx, st, []ingest.Format{spark.Format()}, paths, run.Options{})
	Check(t, err)
	return st, analysed(t, st, o)
}

// moduleRoot returns the directory of go.mod: tests run in the directories of their packages.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	Check(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// Check ends the test on an error.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Required reports whether a test must not be skipped for want of something.
func Required(word string) bool {
	return strings.Contains(os.Getenv("STRAGGLER_REQUIRE"), word)
}

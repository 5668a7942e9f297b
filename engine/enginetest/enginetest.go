// Package enginetest takes nothing and gives tests of engines a store with rows in it, and what a query of it gives.
package enginetest

import (
	"context"
	"fmt"
	"testing"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// Store is an empty store that goes when the test ends.
func Store(t testing.TB) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// Attempts makes n rows of an input, a third of whose nullable values are NULL, over several phases.
func Attempts(input schema.Key, n int) []schema.Attempt {
	ids, phases := schema.NewKeys(input, "attempts"), schema.NewKeys(input, "phases")
	rows := make([]schema.Attempt, n)
	for i := range rows {
		rows[i] = schema.Attempt{AttemptID: ids.Next(), PhaseID: phases.Nth(int64(i/7) % 5), JobID: 1, ApplicationID: 2, Task: int64(i),
			Number: int32(i % 3), NativeID: fmt.Sprint("task_", i), Status: schema.Success, Recompute: i%5 == 0, Quality: schema.Quality(i % 4)}
		if i%3 == 0 {
			continue
		}
		r := &rows[i]
		r.Machine = schema.Some(fmt.Sprint("machine-", i%100))
		r.StartTime = schema.Some(schema.FromMillis(1700000000000 + int64(i)*10))
		r.DurationS = schema.Some(float64(i) / 8)
		r.Speculative = schema.Some(i%2 == 0)
		r.Locality = schema.Some(schema.NodeLocal)
		r.InputBytes = schema.Some(int64(i) * 1000)
	}
	return rows
}

// Ingest commits rows of one input.
func Ingest[R any](t testing.TB, st *store.Store, input schema.Key, rows []R) store.Commit {
	t.Helper()
	tx, err := st.Begin(t.Context(), store.Origin{Kind: store.Log, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Append(tx, input, rows); err != nil {
		t.Fatal(err)
	}
	if err := tx.Input(store.InputRecord{Name: fmt.Sprint("log-", input), Key: store.KeyText(input), Fingerprint: fmt.Sprintf("%032x", input)}); err != nil {
		t.Fatal(err)
	}
	c, err := tx.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Count runs a query to its end, reads every value, and counts its rows.
func Count(ctx context.Context, eng engine.Engine, sql string) (int, error) {
	rows, err := eng.Query(ctx, sql)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		for i := range rows.Columns() {
			rows.Value(i)
		}
		n++
	}
	return n, rows.Err()
}

// ReadAll gives copies of a query's rows.
func ReadAll[R any](t testing.TB, eng engine.Engine, sql string) []R {
	t.Helper()
	var out []R
	for r, err := range engine.Read[R](context.Background(), eng, sql) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, *r)
	}
	return out
}

// Package enginetest makes stores with rows or a trace in them for tests of engines, and reads the results of queries.
package enginetest

import (
	"context"
	"fmt"
	"testing"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// Store returns an empty store that is removed when the test ends.
func Store(t testing.TB) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return st
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

// IngestTrace commits a trace as one input.
func IngestTrace(t testing.TB, st *store.Store, trace *schema.Trace) {
	t.Helper()
	tx, err := st.Begin(t.Context(), store.Origin{Kind: store.Log, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Abort()
	const input = 7
	for b := range trace.Batches() {
		if err := tx.Append(input, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Input(store.InputRecord{Name: "made", Key: store.KeyText(input)}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Shift adds to the keys of a trace of applications, settings, jobs, phases and attempts, so that it can be stored together
// with another.
func Shift(tr *schema.Trace, by schema.Key) {
	for i := range tr.Applications {
		tr.Applications[i].ApplicationID += by
	}
	for i := range tr.Settings {
		tr.Settings[i].ApplicationID += by
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
	for i := range tr.Queries {
		tr.Queries[i].QueryID += by
		tr.Queries[i].ApplicationID += by
	}
	for i := range tr.PlanNodes {
		tr.PlanNodes[i].NodeID += by
		tr.PlanNodes[i].QueryID += by
	}
	for i := range tr.NodePhases {
		n := &tr.NodePhases[i]
		n.QueryID, n.NodeID, n.PhaseID = n.QueryID+by, n.NodeID+by, n.PhaseID+by
	}
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

// ReadAll returns copies of a query's rows.
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

// Server returns the address of a Spark server for tests: with ANSI SQL, which sessions request, before Spark 4, and without
// since. Running the tests on both therefore covers both. open connects to an address.
func Server(t testing.TB, address string, open func(address string) (engine.Engine, error)) string {
	t.Helper()
	eng, err := open(address)
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	type release struct {
		Version string `col:"version"`
	}
	if ReadAll[release](t, eng, "SELECT version() AS version")[0].Version < "4" {
		return address
	}
	return address + "&set.spark.sql.ansi.enabled=false"
}

// Package catalogtest makes stores and catalogs for the tests of what shows them.
package catalogtest

import (
	"path/filepath"
	"testing"
	"time"

	"straggler/analysis"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest"
	"straggler/ingest/run"
	"straggler/ingest/spark"
	"straggler/report/reporttest"
	"straggler/serve/catalog"
	"straggler/store"
)

// Labelled are the files of labelled logs, as a package so many directories below the root finds them.
func Labelled(t testing.TB, root string, names ...string) []string {
	t.Helper()
	var paths []string
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join(root, "testdata", "labelled", name, "*app-*"))
		reporttest.Check(t, err)
		paths = append(paths, found...)
	}
	return paths
}

// Store returns a store of some logs and, where hostile, of a trace with hostile names, with its results.
func Store(t testing.TB, hostile bool, logs ...string) *store.Store {
	t.Helper()
	st, err := store.Temp(t.Context())
	reporttest.Check(t, err)
	t.Cleanup(func() { st.Close() })
	if hostile {
		tx, err := st.Begin(t.Context(), store.Origin{Kind: store.Log})
		reporttest.Check(t, err)
		reporttest.Check(t, tx.Input(store.InputRecord{Name: "made", Key: 1, Fingerprint: "made"}))
		for b := range reporttest.HostileTrace().Batches() {
			reporttest.Check(t, tx.Append(1, b))
		}
		_, err = tx.Commit(t.Context())
		reporttest.Check(t, err)
	}
	if len(logs) > 0 {
		_, err := run.Run(t.Context(), st, []ingest.Format{spark.Format()}, logs, run.Options{})
		reporttest.Check(t, err)
	}
	eng, err := engines.Open(t.Context(), st, engine.Options{})
	reporttest.Check(t, err)
	defer eng.Close()
	_, err = analysis.Update(t.Context(), st, eng, analysis.Options{Tool: "test"})
	reporttest.Check(t, err)
	return st
}

// Open returns a catalog that changes nothing in a store.
func Open(t testing.TB, st *store.Store) *catalog.Catalog {
	t.Helper()
	shown, err := store.Open(t.Context(), st.Where(), store.Options{ReadOnly: true})
	reporttest.Check(t, err)
	c, err := catalog.Open(t.Context(), catalog.Options{Store: shown, Shown: shown, Fixed: true, Tool: "test", Every: time.Second})
	reporttest.Check(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// Package catalogtest makes stores and catalogs for the tests of what shows them.
package catalogtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
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

// Labelled returns the paths of labelled logs, for tests in a package from which the repository's root is at root.
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

// made caches the files of stores by their contents, since analysing the same logs for every test takes longer than most tests.
var (
	making sync.Mutex
	made   = map[string]fstest.MapFS{}
)

// Store returns a store of some logs and, if hostile is set, a trace with hostile names, with results. Every call returns a new
// store.
func Store(t testing.TB, hostile bool, logs ...string) *store.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	reporttest.Check(t, os.CopyFS(dir, filesOf(t, hostile, logs)))
	st, err := store.Open(t.Context(), dir, store.Options{})
	reporttest.Check(t, err)
	return st
}

// filesOf returns the files of such a store, which is made once.
func filesOf(t testing.TB, hostile bool, logs []string) fs.FS {
	t.Helper()
	making.Lock()
	defer making.Unlock()
	key := fmt.Sprint(hostile, logs)
	if made[key] == nil {
		made[key] = read(t, fill(t, hostile, logs))
	}
	return made[key]
}

// read returns the files of a directory.
func read(t testing.TB, dir string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	from := os.DirFS(dir)
	reporttest.Check(t, fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, name)
		files[name] = &fstest.MapFile{Data: data, Mode: 0o644}
		return err
	}))
	return files
}

// Commit adds a trace with hostile names to a store, without results, as another program does.
func Commit(t testing.TB, st *store.Store) {
	t.Helper()
	tx, err := st.Begin(t.Context(), store.Origin{Kind: store.Log})
	reporttest.Check(t, err)
	reporttest.Check(t, tx.Input(store.InputRecord{Name: "made", Key: 1, Fingerprint: "made"}))
	for b := range reporttest.HostileTrace().Batches() {
		reporttest.Check(t, tx.Append(1, b))
	}
	_, err = tx.Commit(t.Context())
	reporttest.Check(t, err)
}

// fill makes a store in a temporary directory, which it returns.
func fill(t testing.TB, hostile bool, logs []string) (dir string) {
	t.Helper()
	st, err := store.Temp(t.Context())
	reporttest.Check(t, err)
	t.Cleanup(func() { st.Close() })
	if hostile {
		Commit(t, st)
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
	return st.Where()
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

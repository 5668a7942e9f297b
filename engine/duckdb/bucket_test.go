package duckdb

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"straggler/bucket/s3test"
	"straggler/engine"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/store"
	"straggler/store/storetest"
)

// openBucket opens a store in a bucket.
func openBucket(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOnlyNamedTablesAreFetched: and each once, for any number of queries and processes.
func TestOnlyNamedTablesAreFetched(t *testing.T) {
	server := s3test.Serve(t)
	const lake = "s3://lakes/x"
	jobs := schema.NewKeys(1, "jobs")
	rows := make([]schema.Job, 10)
	for i := range rows {
		rows[i] = schema.Job{JobID: jobs.Next(), ApplicationID: 2, Status: schema.RunSucceeded}
	}
	enginetest.Ingest(t, openBucket(t, lake), 1, rows)
	enginetest.Ingest(t, openBucket(t, lake), 2, storetest.Attempts(2, 10))
	t.Setenv("STRAGGLER_CACHE", t.TempDir())
	fetched := func(do func()) int64 {
		before := server.Gets.Load()
		do()
		return server.Gets.Load() - before
	}
	s := openBucket(t, lake)
	eng := testEngine(t, s, engine.Options{Locked: true})
	ask := func(sql string, want int) func() {
		return func() {
			if n, err := enginetest.Count(t.Context(), eng, sql); err != nil || n != want {
				t.Errorf("%s: %d rows, %v", sql, n, err)
			}
		}
	}
	for _, c := range []struct {
		sql  string
		rows int
		gets int64
	}{
		{"SELECT 1", 1, 0},
		{"SELECT * FROM duckdb_columns() WHERE table_name = 'attempts' AND column_name = 'task'", 1, 1}, // a mention counts
		{"SELECT * FROM Attempts", 10, 0},
		{`SELECT * FROM "jobs"`, 10, 1},
		{"SELECT * FROM jobs, attempts", 100, 0},
		{"SELECT * FROM phases", 0, 0},
	} {
		if n := fetched(ask(c.sql, c.rows)); n != c.gets {
			t.Errorf("%s fetched %d files", c.sql, n)
		}
	}
	t.Setenv("STRAGGLER_CACHE", t.TempDir())
	var wg sync.WaitGroup
	n := fetched(func() {
		for range 4 {
			s := openBucket(t, lake) // separate caches over the same directory, as in separate processes
			eng := testEngine(t, s, engine.Options{Threads: 1})
			wg.Go(func() {
				if n, err := enginetest.Count(t.Context(), eng, "SELECT * FROM attempts"); err != nil || n != 10 {
					t.Errorf("%d rows, %v", n, err)
				}
			})
		}
		wg.Wait()
	})
	if n != 4*2+1 { // each reads two commits
		t.Errorf("%d files were fetched by four", n)
	}
}

// TestFencesAroundCopies tries each way out of a locked engine over a bucket: other copies, other files, and writing.
func TestFencesAroundCopies(t *testing.T) {
	s3test.Serve(t)
	const lake, other = "s3://lakes/x", "s3://lakes/other"
	cache := os.Getenv("STRAGGLER_CACHE")
	enginetest.Ingest(t, openBucket(t, lake), 1, storetest.Attempts(1, 10))
	beforeSecret := copies(t, cache)
	secret := enginetest.Ingest(t, openBucket(t, other), 2, storetest.Attempts(2, 10)).Tables[0].Files[0]
	foreign := "" // a copy of a file of the other store
	for name := range copies(t, cache) {
		if !beforeSecret[name] {
			foreign = name
		}
	}
	s := openBucket(t, lake)
	eng := testEngine(t, s, engine.Options{Locked: true})
	if n, err := enginetest.Count(t.Context(), eng, "SELECT * FROM attempts"); err != nil || n != 10 {
		t.Fatalf("%d rows, %v", n, err)
	}
	files := eng.(*Engine).files
	held := filepath.Dir(files.Path(secret))
	if _, err := os.Stat(foreign); err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(held, "beside.parquet")
	if err := os.Link(foreign, beside); err != nil {
		t.Fatal(err)
	}
	before := storetest.Tree(t, cache)
	for _, sql := range []string{
		"SELECT * FROM read_parquet('" + foreign + "')",
		"SELECT * FROM '" + foreign + "'",
		"SELECT * FROM '" + beside + "'",
		"SELECT * FROM '" + held + "/*.parquet'",
		"SELECT * FROM read_blob('" + held + "/lock')",
		"SELECT * FROM glob('" + cache + "/**')",
		"SELECT * FROM 's3://lakes/other/" + secret.Path + "'",
		"SELECT * FROM query('SELECT 1')",
		"SELECT * FROM query_table('attempts')",
		"COPY attempts TO '" + filepath.Join(held, "out.csv") + "'",
		"COPY (SELECT 1) TO '" + files.Path(secret) + "'",
		"ATTACH '" + filepath.Join(held, "x.db") + "'",
		"EXPORT DATABASE '" + held + "'",
		"SET enable_external_access = true",
		"SET allowed_directories = ['/']",
		"CREATE TABLE x AS SELECT 1",
		"CREATE OR REPLACE VIEW attempts AS SELECT 1",
		"DROP VIEW attempts",
		"INSTALL httpfs",
		"LOAD httpfs",
	} {
		rows, err := eng.Query(t.Context(), sql)
		if err == nil {
			for rows.Next() {
			}
			err = errors.Join(rows.Err(), rows.Close())
		}
		if err == nil {
			t.Errorf("%s is let through", sql)
		}
		s3test.KeepsSecrets(t, err)
	}
	if after := storetest.Tree(t, cache); after != before {
		t.Errorf("the copies changed from\n%s\nto\n%s", before, after)
	}
	if n, err := enginetest.Count(t.Context(), eng, "SELECT * FROM attempts"); err != nil || n != 10 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// copies returns the copies in a cache.
func copies(t *testing.T, cache string) map[string]bool {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(cache, "files", "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]bool)
	for _, n := range names {
		out[n] = true
	}
	return out
}

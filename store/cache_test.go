package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"straggler/schema"
)

// TestOnlyNamedTablesAreFetched, each once, whatever the number of queries and of processes.
func TestOnlyNamedTablesAreFetched(t *testing.T) {
	server := serveS3(t)
	g := ground{where: "s3://lakes/x", server: server}
	if err := write(t.Context(), g.open(t), 1, "a", 10); err != nil {
		t.Fatal(err)
	}
	ingest(t, g.open(t), 2, attempts(2, 10))
	t.Setenv("STRAGGLER_CACHE", t.TempDir())
	fetched := func(do func()) int64 {
		before := server.gets.Load()
		do()
		return server.gets.Load() - before
	}
	s := g.open(t)
	eng := testEngine(t, s, EngineOptions{Locked: true})
	ask := func(sql string, want int) func() {
		return func() {
			if n, err := count(t.Context(), eng, sql); err != nil || n != want {
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
		{"SELECT * FROM duckdb_columns() WHERE table_name = 'attempts' AND column_name = 'task'", 1, 1}, // the word counts
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
			s := g.open(t) // caches of their own over the same directory, as processes have
			eng := testEngine(t, s, EngineOptions{Threads: 1})
			wg.Go(func() {
				if n, err := count(t.Context(), eng, "SELECT * FROM attempts"); err != nil || n != 10 {
					t.Errorf("%d rows, %v", n, err)
				}
			})
		}
		wg.Wait()
	})
	if n != 4*2+1 { // every one reads two commits
		t.Errorf("%d files were fetched by four", n)
	}
}

// TestCopies: their bound, what is evicted, what is touched, and a full disk.
func TestCopies(t *testing.T) {
	server := serveS3(t)
	g := ground{where: "s3://lakes/x", server: server}
	var files []FileRecord
	for k := range schema.Key(3) {
		c := ingest(t, g.open(t), k+1, attempts(k+1, 200))
		files = append(files, c.Tables[0].Files...)
	}
	open := func(t *testing.T, bytes int64) *objects {
		s, err := Open(t.Context(), g.where, Options{Cache: Cache{Dir: t.TempDir(), Bytes: bytes}, retry: fewRetries})
		if err != nil {
			t.Fatal(err)
		}
		return s.at.(*objects)
	}
	fetch := func(t *testing.T, at *objects, f ...FileRecord) (holding, error) {
		h, err := at.hold(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		return h, h.fetch(t.Context(), f)
	}
	two := files[0].Bytes + files[1].Bytes + files[2].Bytes/2
	t.Run("the oldest goes", func(t *testing.T) {
		at := open(t, two)
		for i, f := range []FileRecord{files[0], files[1], files[0], files[2]} {
			h, err := fetch(t, at, f)
			if err != nil {
				t.Fatal(err)
			}
			stamp := time.Unix(int64(i), 0) // uses far enough apart for any disk's clock
			if err := errors.Join(h.Close(), os.Chtimes(at.cache.file(f, ".used"), stamp, stamp)); err != nil {
				t.Fatal(err)
			}
		}
		if !at.cache.has(files[0]) || at.cache.has(files[1]) || !at.cache.has(files[2]) {
			t.Error("another copy was evicted")
		}
	})
	t.Run("what is read stays", func(t *testing.T) {
		at := open(t, two)
		h, err := fetch(t, at, files[0], files[1])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fetch(t, at, files[2]); !errors.Is(err, ErrCache) || !strings.Contains(err.Error(), "STRAGGLER_CACHE_BYTES") {
			t.Errorf("it says %v", err)
		}
		if _, err := os.ReadFile(h.path(files[0])); err != nil {
			t.Error(err)
		}
		h.Close()
		if _, err := fetch(t, at, files[2]); err != nil {
			t.Error(err)
		}
	})
	t.Run("touched", func(t *testing.T) {
		at := open(t, 0)
		h, err := fetch(t, at, files[0])
		if err != nil {
			t.Fatal(err)
		}
		h.Close()
		name := at.cache.file(files[0], ".parquet")
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(data)
		bad[len(bad)/2] ^= 1
		if err := errors.Join(os.Chmod(name, 0o600), os.WriteFile(name, bad, 0o600)); err != nil {
			t.Fatal(err)
		}
		if h, err = fetch(t, at, files[0]); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(h.path(files[0])); err != nil || !bytes.Equal(got, data) {
			t.Errorf("a changed copy is used, %v", err)
		}
	})
	t.Run("a full disk", func(t *testing.T) {
		if _, err := os.Stat("/dev/full"); err != nil {
			t.Skip("this system has no /dev/full, which stands for the disk")
		}
		at := open(t, 0)
		if err := os.Symlink("/dev/full", at.cache.file(files[0], ".part")); err != nil {
			t.Fatal(err)
		}
		if _, err := fetch(t, at, files[0]); !errors.Is(err, ErrCache) || !strings.Contains(err.Error(), "the disk is full") || !strings.Contains(err.Error(), "--cache DIR") {
			t.Errorf("it says %v", err)
		}
	})
	t.Run("a dead reader", func(t *testing.T) {
		at := open(t, two)
		h, err := fetch(t, at, files[0], files[1])
		if err != nil {
			t.Fatal(err)
		}
		h.(*heldCopies).lock.Close() // as the end of its process does
		if _, err := fetch(t, at, files[2]); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(h.(*heldCopies).dir); !errors.Is(err, fs.ErrNotExist) {
			t.Error("its links are left")
		}
	})
}

// TestFencesAroundCopies tries each way out of a locked engine over a bucket: other copies, other files, and writing.
func TestFencesAroundCopies(t *testing.T) {
	g := ground{where: "s3://lakes/x", server: serveS3(t)}
	ingest(t, g.open(t), 1, attempts(1, 10))
	other := ground{where: "s3://lakes/other", server: g.server}
	secret := ingest(t, other.open(t), 2, attempts(2, 10)).Tables[0].Files[0]
	s := g.open(t)
	eng := testEngine(t, s, EngineOptions{Locked: true})
	if n, err := count(t.Context(), eng, "SELECT * FROM attempts"); err != nil || n != 10 {
		t.Fatalf("%d rows, %v", n, err)
	}
	held := eng.(*duckDB).files.(*heldCopies)
	foreign := other.open(t).at.(*objects).cache.file(secret, ".parquet")
	if _, err := os.Stat(foreign); err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(held.dir, "beside.parquet")
	if err := os.Link(foreign, beside); err != nil {
		t.Fatal(err)
	}
	before := tree(t, held.p.cache.dir)
	for _, sql := range []string{
		"SELECT * FROM read_parquet('" + foreign + "')",
		"SELECT * FROM '" + foreign + "'",
		"SELECT * FROM '" + beside + "'",
		"SELECT * FROM '" + held.dir + "/*.parquet'",
		"SELECT * FROM read_blob('" + held.dir + "/lock')",
		"SELECT * FROM glob('" + held.p.cache.dir + "/**')",
		"SELECT * FROM 's3://lakes/other/" + secret.Path + "'",
		"SELECT * FROM query('SELECT 1')",
		"SELECT * FROM query_table('attempts')",
		"COPY attempts TO '" + filepath.Join(held.dir, "out.csv") + "'",
		"COPY (SELECT 1) TO '" + held.path(secret) + "'",
		"ATTACH '" + filepath.Join(held.dir, "x.db") + "'",
		"EXPORT DATABASE '" + held.dir + "'",
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
		keepsSecrets(t, err)
	}
	if after := tree(t, held.p.cache.dir); after != before {
		t.Errorf("the copies changed from\n%s\nto\n%s", before, after)
	}
	if n, err := count(t.Context(), eng, "SELECT * FROM attempts"); err != nil || n != 10 {
		t.Errorf("%d rows, %v", n, err)
	}
}

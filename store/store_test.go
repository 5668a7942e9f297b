package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"straggler/schema"
	"straggler/store/parquet"
)

func testStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// snapshot takes a snapshot, which is closed with the test.
func snapshot(t testing.TB, s *Store) *Snapshot {
	t.Helper()
	n, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// attempts makes n rows of an input, a third of whose nullable values are NULL, over several phases.
func attempts(input schema.Key, n int) []schema.Attempt {
	ids, phases := schema.NewKeys(input, "attempts"), schema.NewKeys(input, "phases")
	rows := make([]schema.Attempt, n)
	for i := range rows {
		r := &rows[i]
		r.AttemptID = ids.Next()
		r.PhaseID = phases.Nth(int64(i/7) % 5)
		r.JobID, r.ApplicationID = 1, 2
		r.Task = int64(i)
		r.Number = int32(i % 3)
		r.NativeID = fmt.Sprint("task_", i)
		r.Status = schema.Success
		r.Recompute = i%5 == 0
		r.Quality = schema.Quality(i % 4)
		if i%3 == 0 {
			continue
		}
		r.Machine = schema.Some(fmt.Sprint("machine-", i%100))
		r.StartTime = schema.Some(schema.FromMillis(1700000000000 + int64(i)*10))
		r.DurationS = schema.Some(float64(i) / 8)
		r.Speculative = schema.Some(i%2 == 0)
		r.Locality = schema.Some(schema.NodeLocal)
		r.InputBytes = schema.Some(int64(i) * 1000)
	}
	return rows
}

// ingest commits rows of one input.
func ingest(t testing.TB, s *Store, input schema.Key, rows []schema.Attempt) Commit {
	t.Helper()
	tx, err := s.Begin(t.Context(), Origin{Kind: Log, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := Append(tx, input, rows); err != nil {
		t.Fatal(err)
	}
	if err := tx.Input(InputRecord{Name: fmt.Sprint("log-", input), Key: KeyText(input), Fingerprint: fmt.Sprintf("%032x", input)}); err != nil {
		t.Fatal(err)
	}
	c, err := tx.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// scanned reads the rows of a table that a snapshot shows.
func scanned[R any](ctx context.Context, n *Snapshot) ([]R, error) {
	t := schema.TableOf[R]()
	var out []R
	for _, sl := range n.Slices(t.Name) {
		err := n.scan(ctx, t, sl, func(_ schema.Key, rows schema.Batch) error {
			batch, _ := schema.RowsOf[R](rows)
			out = append(out, batch...)
			return nil
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// rowsOf reads them in a test, and visible those that are visible now.
func rowsOf[R any](t testing.TB, n *Snapshot) []R {
	t.Helper()
	rows, err := scanned[R](t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func visible[R any](t testing.TB, s *Store) []R { return rowsOf[R](t, snapshot(t, s)) }

func byTask(a, b schema.Attempt) int { return cmp.Compare(a.Task, b.Task) }

func TestRowsComeBack(t *testing.T) {
	for _, n := range []int{1, 2, 5000, parquet.RowGroupRows + 1} {
		s := testStore(t)
		want := attempts(7, n)
		ingest(t, s, 7, want)
		got := visible[schema.Attempt](t, s)
		slices.SortFunc(got, byTask)
		if len(got) != n {
			t.Fatalf("%d rows came back of %d", len(got), n)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("row %d of %d came back as\n%+v\nand was\n%+v", i, n, got[i], want[i])
			}
		}
	}
}

func TestTempStore(t *testing.T) {
	s, err := Temp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ingest(t, s, 7, attempts(7, 10))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Where()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there, %v", err)
	}
}

// existing is the first Parquet file of a directory.
func existing(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(names) == 0 {
		t.Fatal("no Parquet file in", dir, err)
	}
	return names[0]
}

// tree is a text of all files under a directory with their sizes and times of change.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&out, strings.TrimPrefix(path, dir), info.Size(), info.Mode(), info.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

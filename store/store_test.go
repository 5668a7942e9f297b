package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"straggler/schema"
	"straggler/store/parquet"
	"straggler/store/storetest"
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
		want := storetest.Attempts(7, n)
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
	ingest(t, s, 7, storetest.Attempts(7, 10))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Where()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there, %v", err)
	}
}

package store

import (
	"runtime"
	"slices"
	"sync"
	"testing"

	"straggler/schema"
	"straggler/store/parquet"
	"straggler/store/parquet/benchrows"
	"straggler/store/storetest"
)

// maxTxBytes bounds the memory of a transaction, whatever its size.
const maxTxBytes = 150 << 20

// TestMemoryIsBounded compares the live memory after many row groups from two concurrent readers with the bound.
func TestMemoryIsBounded(t *testing.T) {
	s, err := Temp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows := benchrows.Spark(8192)
	transfers := make([]schema.Transfer, 8192)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tx, err := s.Begin(t.Context(), Origin{Kind: Log})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Abort()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range 6 * parquet.RowGroupRows / len(rows) {
				if err := Append(tx, 0, rows); err != nil {
					t.Error(err)
				}
				if err := Append(tx, 0, transfers); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := int64(after.HeapAlloc) - int64(before.HeapAlloc); n > maxTxBytes {
		t.Errorf("%d MiB are held after %d row groups", n>>20, 12)
	} else {
		t.Logf("%d MiB are held", n>>20)
	}
	runtime.KeepAlive(rows)
}

// TestLongStringsAreBounded: rows with strings of a megabyte make small row groups.
func TestLongStringsAreBounded(t *testing.T) {
	s, err := Temp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tx, err := s.Begin(t.Context(), Origin{Kind: Log})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Abort()
	long := make([]byte, 1<<20)
	for i := range long {
		long[i] = byte('a' + i%26)
	}
	for i := range 100 {
		long[0], long[1] = byte('0'+i/10), byte('0'+i%10)
		if err := Append(tx, 0, []schema.Setting{{Name: "x", Value: string(long)}}); err != nil {
			t.Fatal(err)
		}
	}
	if groups := tx.tables["settings"].file.rows.Groups(); groups < 5 {
		t.Errorf("100 MB of strings made %d row groups", groups)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	values := make(map[string]bool)
	for _, r := range visible[schema.Setting](t, s) {
		values[r.Value] = len(r.Value) == 1<<20
	}
	for v, whole := range values {
		if !whole || len(values) != 100 {
			t.Fatalf("%d values came back, one of %d bytes", len(values), len(v))
		}
	}
}

// TestNotUTF8: invalid text is read back as valid text, and does not prevent the file from being read.
func TestNotUTF8(t *testing.T) {
	s := testStore(t)
	tx, err := s.Begin(t.Context(), Origin{Kind: Log})
	if err != nil {
		t.Fatal(err)
	}
	values := []string{"a\xffb", "\xff", "\xfe", "", "ü", "a\x00b", "a\uFFFDb"}
	for _, v := range values {
		if err := Append(tx, 0, []schema.Setting{{Name: v, Value: v}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := visible[schema.Setting](t, s)
	for i, want := range []string{"a\uFFFDb", "\uFFFD", "\uFFFD", "", "ü", "a\x00b", "a\uFFFDb"} {
		if len(got) != len(values) || got[i].Value != want || got[i].Name != want {
			t.Fatalf("%q came back as %q, want %q", values[i], got[i].Value, want)
		}
	}
}

// TestManyDistinctStrings crosses the limit at which a column stops being a dictionary, within a row group and in the groups
// after it.
func TestManyDistinctStrings(t *testing.T) {
	s := testStore(t)
	want := storetest.Attempts(7, 2*parquet.RowGroupRows+5)
	ingest(t, s, 7, want)
	got := visible[schema.Attempt](t, s)
	slices.SortFunc(got, byTask)
	if len(got) != len(want) {
		t.Fatalf("%d rows came back of %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("row %d came back as\n%+v\nand was\n%+v", i, got[i], want[i])
		}
	}
}

// TestRowsOfAPhaseLieTogether: within a row group, phases in the order of their first row and rows in theirs.
func TestRowsOfAPhaseLieTogether(t *testing.T) {
	s := testStore(t)
	ingest(t, s, 7, storetest.Attempts(7, 1000))
	seen := make(map[schema.Key]bool)
	var last schema.Attempt
	for _, r := range visible[schema.Attempt](t, s) {
		switch {
		case r.PhaseID == last.PhaseID && r.Task <= last.Task:
			t.Errorf("task %d comes after %d", r.Task, last.Task)
		case r.PhaseID != last.PhaseID && seen[r.PhaseID]:
			t.Errorf("phase %d comes twice", r.PhaseID)
		}
		seen[r.PhaseID] = true
		last = r
	}
	if len(seen) != 5 {
		t.Errorf("%d phases", len(seen))
	}
}

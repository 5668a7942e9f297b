package parquet

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"straggler/schema"
)

// sameInSlices checks that columns are read into slices as they were written, twice through the same memory.
func sameInSlices(t *testing.T, data []byte, n int, row func(i int) *schema.Attempt) {
	t.Helper()
	f, err := Open(io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))))
	if err != nil {
		t.Fatal(err)
	}
	groups := f.RowGroups()
	if len(groups) != 1 || groups[0].Rows() != n {
		t.Fatalf("%d row groups, the first of %d rows; want 1 of %d", len(groups), groups[0].Rows(), n)
	}
	g := &groups[0]
	text := func(b []byte) string { return string(b) }
	checkSlices(t, g, Numbers[int64]("attempt_id"), n, func(i int) schema.Null[int64] { return some(row(i).AttemptID) })
	checkSlices(t, g, Numbers[int32]("number"), n, func(i int) schema.Null[int32] { return some(row(i).Number) })
	checkSlices(t, g, Texts("native_id", text), n, func(i int) schema.Null[string] { return some(row(i).NativeID) })
	checkSlices(t, g, Numbers[bool]("recompute"), n, func(i int) schema.Null[bool] { return some(row(i).Recompute) })
	checkSlices(t, g, Numbers[int64]("input_bytes"), n, func(i int) schema.Null[int64] { return row(i).InputBytes })
	checkSlices(t, g, Numbers[float64]("duration_s"), n, func(i int) schema.Null[float64] { return row(i).DurationS })
	checkSlices(t, g, Numbers[bool]("speculative"), n, func(i int) schema.Null[bool] { return row(i).Speculative })
	checkSlices(t, g, Texts("machine", text), n, func(i int) schema.Null[string] { return row(i).Machine })
	low, high, ok := g.Range("attempt_id")
	for i := range n {
		if id := row(i).AttemptID; !ok || id < low || id > high {
			t.Fatalf("%d lies outside of %d to %d, known: %v", id, low, high, ok)
		}
	}
	if _, _, ok := g.Range("duration_s"); ok {
		t.Error("a column of doubles has a range of integers")
	}
	if err := Numbers[int32]("task").Open(g); !errors.Is(err, ErrMalformed) {
		t.Errorf("a column of another type opens: %v", err)
	}
}

func checkSlices[T comparable](t *testing.T, g *RowGroup, c *Column[T], n int, want func(i int) schema.Null[T]) {
	t.Helper()
	var unknown T
	values, known := make([]T, n), make([]bool, n)
	for _, atOnce := range []int{n, 1 + n/3} {
		if err := c.Open(g); err != nil {
			t.Fatal(err)
		}
		for from := 0; from < n; from += atOnce {
			to := min(from+atOnce, n)
			if err := c.Read(values[from:to], unknown, known[from:to]); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			w := want(i)
			if !w.OK {
				w.V = unknown
			}
			if known[i] != w.OK || values[i] != w.V {
				t.Fatalf("%s: row %d of %d was read as %v, known: %v, and was %v", c.name, i, n, values[i], known[i], w)
			}
		}
	}
	if err := c.Read(values[:1], unknown, nil); !errors.Is(err, ErrMalformed) {
		t.Fatalf("%s: there is a value after the last row: %v", c.name, err)
	}
}

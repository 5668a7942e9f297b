package duckdb

import (
	"errors"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/engine"
	"straggler/engine/enginetest"
	"straggler/schema"
)

// Rows that are loaded are those that are read, over as many vectors as they take; loaded again, they take the place of the others.
func TestLoad(t *testing.T) {
	type row struct {
		Key   schema.Key           `col:"k"`
		Count schema.Null[int64]   `col:"n"`
		Value schema.Null[float64] `col:"v"`
	}
	eng := testEngine(t, enginetest.Store(t), engine.Options{})
	for _, n := range []int{5000, 2048, 1, 0} {
		rows := make([]row, n)
		for i := range rows {
			rows[i] = row{schema.Key(i), schema.Null[int64]{V: int64(i % 7), OK: i%7 > 0 && n > 2048}, schema.Null[float64]{V: float64(i) / 8, OK: i%3 > 0}}
			if !rows[i].Count.OK {
				rows[i].Count.V = 0
			}
			if !rows[i].Value.OK {
				rows[i].Value.V = 0
			}
		}
		if err := engine.Load(t.Context(), eng.(engine.Loader), "loaded", func(yield func([]row, error) bool) { _ = yield(rows[:n/2], nil) && yield(rows[n/2:], nil) }); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(rows, append([]row{}, enginetest.ReadAll[row](t, eng, "SELECT * FROM loaded ORDER BY k NULLS LAST")...)); diff != "" {
			t.Errorf("%d rows:\n%.2000s", n, diff)
		}
	}
	type text struct {
		Name string `col:"name"`
	}
	if err := engine.Load(t.Context(), eng.(engine.Loader), "loaded", func(yield func([]text, error) bool) { yield([]text{{"x"}}, nil) }); err == nil {
		t.Error("text is loaded")
	}
	locked := testEngine(t, enginetest.Store(t), engine.Options{Locked: true})
	if err := engine.Load(t.Context(), locked.(engine.Loader), "loaded", func(yield func([]row, error) bool) { yield([]row{{}}, nil) }); !errors.Is(err, engine.ErrStatement) {
		t.Errorf("a locked engine takes rows: %v", err)
	}
}

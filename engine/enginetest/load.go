package enginetest

import (
	"errors"
	"math"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/engine"
	"straggler/schema"
)

// Loads tests that rows loaded into an engine are read back unchanged, to the last bit; loading again replaces them. A locked
// engine refuses to load.
func Loads(t *testing.T, eng, locked engine.Engine) {
	t.Helper()
	type row struct {
		Key   schema.Key           `col:"k"`
		Count schema.Null[int64]   `col:"n"`
		Value schema.Null[float64] `col:"v"`
	}
	for _, n := range []int{5000, 2048, 1, 0} {
		rows := make([]row, n)
		for i := range rows {
			r := &rows[i]
			r.Key = schema.Key(i) - math.MaxInt64/2
			if i%7 > 0 && n > 2048 {
				r.Count = schema.Some(int64(math.MaxInt64 - i))
			}
			if i%3 > 0 {
				r.Value = schema.Some(math.Exp(float64(i)/30-300) / -3)
			}
		}
		if err := engine.Load(t.Context(), eng.(engine.Loader), "loaded", func(yield func([]row, error) bool) { _ = yield(rows[:n/2], nil) && yield(rows[n/2:], nil) }); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(rows, append([]row{}, ReadAll[row](t, eng, "SELECT * FROM loaded ORDER BY k NULLS LAST")...)); diff != "" {
			t.Errorf("%d rows:\n%.2000s", n, diff)
		}
	}
	type text struct {
		Name string `col:"name"`
	}
	if err := engine.Load(t.Context(), eng.(engine.Loader), "loaded", func(yield func([]text, error) bool) { yield([]text{{"x"}}, nil) }); err == nil {
		t.Error("text is loaded")
	}
	if err := engine.Load(t.Context(), locked.(engine.Loader), "loaded", func(yield func([]row, error) bool) { yield([]row{{}}, nil) }); !errors.Is(err, engine.ErrStatement) {
		t.Errorf("a locked engine takes rows: %v", err)
	}
}

package parquet

import (
	"math"
	"testing"

	"straggler/schema"
)

// TestRunsByNumber: integers far apart in runs are written by number, others as differences, and all are read back, with the
// bounds of the present ones.
func TestRunsByNumber(t *testing.T) {
	key := func(i int) int64 { return int64(uint64(i+1)*0x9e3779b97f4a7c15) >> 1 } // far apart
	ends := []int64{math.MinInt64, math.MaxInt64, 0, -1}
	const n = 2*pageRows + 77
	for name, c := range map[string]struct {
		value    func(i int) int64
		numbered bool
	}{
		"keys in runs of 40":       {func(i int) int64 { return key(i / 40) }, true},
		"runs across pages":        {func(i int) int64 { return key(i / 3000) }, true},
		"keys that come again":     {func(i int) int64 { return key(i / 40 % 7) }, true},
		"the least, the greatest":  {func(i int) int64 { return ends[i/50%len(ends)] }, true},
		"one":                      {func(i int) int64 { return key(1) }, false},
		"runs of 4":                {func(i int) int64 { return key(i / 4) }, false},
		"one more in each run":     {func(i int) int64 { return int64(i / 40) }, false},
		"all differ":               {key, false},
		"they differ from here on": {func(i int) int64 { return key(max(i, n/2)) }, false},
	} {
		for pattern, there := range patterns {
			for _, reverse := range []bool{false, true} {
				t.Run(name+"/"+pattern, func(t *testing.T) {
					rows := make([]schema.Attempt, n)
					for i := range rows {
						rows[i].InputBytes = schema.Null[int64]{V: c.value(i), OK: there(i, n)}
					}
					data := fileInOrder(t, rows, reverse)
					dense := pattern == "all" || pattern == "all but the last"
					if got := byNumber(t, data, "input_bytes"); dense && got != c.numbered {
						t.Errorf("by number: %v, want %v", got, c.numbered)
					}
					readBack(t, data, rows)
				})
			}
		}
	}
}

// readBack reads the bytes that attempts read, and the bounds of those that are known.
func readBack(t *testing.T, data []byte, rows []schema.Attempt) {
	t.Helper()
	least, greatest := int64(math.MaxInt64), int64(math.MinInt64)
	for i, v := range readColumn(t, opened(t, data), "input_bytes") {
		if v == nil != !rows[i].InputBytes.OK || v != nil && v != rows[i].InputBytes.V {
			t.Fatalf("row %d is %v, want %v", i, v, rows[i].InputBytes)
		}
		if v != nil {
			least, greatest = min(least, rows[i].InputBytes.V), max(greatest, rows[i].InputBytes.V)
		}
	}
	if s := statisticsOf(t, data, "input_bytes"); least <= greatest && (s.Min != least || s.Max != greatest) {
		t.Errorf("bounds %v and %v, want %d and %d", s.Min, s.Max, least, greatest)
	}
}

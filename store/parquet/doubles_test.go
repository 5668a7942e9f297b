package parquet

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"straggler/parquetfile"
	"straggler/schema"
)

// TestDoublesByNumber: doubles with few different values are written by number, others directly, and all are read back with the
// same bits.
func TestDoublesByNumber(t *testing.T) {
	odd := []float64{0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0x7ff8000000000123), math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64}
	const n = 2*pageRows + 77
	for name, c := range map[string]struct {
		value    func(i int) float64
		numbered bool
	}{
		"few":                 {func(i int) float64 { return float64(i*i%1000) / 1000 }, true},
		"odd ones":            {func(i int) float64 { return odd[i/3%len(odd)] }, true},
		"one":                 {func(i int) float64 { return 7 }, true},
		"two":                 {func(i int) float64 { return float64(i % 2) }, true},
		"a fourth differ":     {func(i int) float64 { return math.Sqrt(float64(i / 4)) }, true},
		"half of them differ": {func(i int) float64 { return math.Sqrt(float64(i / 2)) }, false},
		"the first differ":    {func(i int) float64 { return math.Sqrt(float64(i % 10_000)) }, false},
		"all differ":          {func(i int) float64 { return math.Sqrt(float64(i)) }, false},
		"they differ later":   {func(i int) float64 { return math.Sqrt(float64(max(i, n/2))) }, false},
	} {
		for _, pattern := range []string{"all", "all but the last"} {
			for _, reverse := range []bool{false, true} {
				t.Run(name+"/"+pattern, func(t *testing.T) { comesBack(t, n, c.value, patterns[pattern], c.numbered, reverse) })
			}
		}
	}
}

func comesBack(t *testing.T, n int, value func(int) float64, there func(i, n int) bool, numbered, reverse bool) {
	rows := make([]schema.Attempt, n)
	for i := range rows {
		rows[i].DurationS = schema.Null[float64]{V: value(i), OK: there(i, n)}
	}
	data := fileInOrder(t, rows, reverse)
	if got := byNumber(t, data, "duration_s"); got != numbered {
		t.Errorf("by number: %v, want %v", got, numbered)
	}
	for i, got := range readColumn(t, opened(t, data), "duration_s") {
		want := rows[i].DurationS
		if v, ok := got.(float64); ok != want.OK || ok && math.Float64bits(v) != math.Float64bits(want.V) {
			t.Fatalf("row %d came back as %v and was %v", i, got, want)
		}
	}
}

// fileInOrder returns a file of the rows, or of their reverse, which they are put in then.
func fileInOrder(t *testing.T, rows []schema.Attempt, reverse bool) []byte {
	t.Helper()
	if !reverse {
		return fileOf(t, rows, nil, false)
	}
	order := make([]int32, len(rows))
	for i := range order {
		order[i] = int32(len(rows) - 1 - i)
	}
	data := fileOf(t, rows, order, false)
	slices.Reverse(rows)
	return data
}

// byNumber reports whether a column of the first row group has a dictionary.
func byNumber(t *testing.T, data []byte, column string) bool {
	t.Helper()
	footer, err := parquetfile.ReadMetadata(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range footer.RowGroups[0].Columns {
		if c.Metadata.Path[0] == column {
			return slices.Contains(c.Metadata.Encodings, parquetfile.RLEDictionary)
		}
	}
	t.Fatalf("no column %s", column)
	return false
}

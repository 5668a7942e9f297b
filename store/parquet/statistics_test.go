package parquet

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go/encoding/thrift"

	"straggler/schema"
)

// written is the statistics of a column chunk in a file.
type written struct {
	Nulls              int64
	Min, Max           any // nil where there is none
	MinExact, MaxExact bool
}

// columnIn is what a footer has of a column chunk, by the fields of parquet.thrift.
type columnIn struct {
	Path       []string `thrift:"3"`
	Bytes      int64    `thrift:"7"` // compressed
	Statistics struct {
		NullCount  *int64 `thrift:"3"`
		Max        []byte `thrift:"5"`
		Min        []byte `thrift:"6"`
		IsMaxExact *bool  `thrift:"7"`
		IsMinExact *bool  `thrift:"8"`
	} `thrift:"12"`
}

// columnsIn reads them from the footer of a file of one row group.
func columnsIn(t *testing.T, data []byte) (columns []columnIn) {
	t.Helper()
	var footer struct {
		RowGroups []struct {
			Columns []struct {
				Metadata columnIn `thrift:"3"`
			} `thrift:"1"`
		} `thrift:"4"`
	}
	end := len(data) - 8
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), data[end-int(binary.LittleEndian.Uint32(data[end:])):end], &footer); err != nil {
		t.Fatal(err)
	}
	for _, c := range footer.RowGroups[0].Columns {
		columns = append(columns, c.Metadata)
	}
	return columns
}

// statisticsOf reads what a file says of a column.
func statisticsOf(t *testing.T, data []byte, name string) written {
	t.Helper()
	columns := columnsIn(t, data)
	s := columns[slices.IndexFunc(columns, func(c columnIn) bool { return c.Path[0] == name })].Statistics
	typ := schema.TableOf[schema.Attempt]().Column(name).Type
	value := func(b []byte) any {
		switch {
		case b == nil:
			return nil
		case typ == schema.Bool:
			return b[0] == 1
		case typ == schema.Int:
			return int64(int32(binary.LittleEndian.Uint32(b)))
		case typ == schema.Double:
			return math.Float64frombits(binary.LittleEndian.Uint64(b))
		case typ == schema.String:
			return string(b)
		}
		return int64(binary.LittleEndian.Uint64(b))
	}
	exact := func(flag *bool) bool { return flag == nil || *flag }
	return written{*s.NullCount, value(s.Min), value(s.Max), exact(s.IsMinExact), exact(s.IsMaxExact)}
}

func TestStatistics(t *testing.T) {
	rows := make([]schema.Attempt, 3*pageRows/2)
	for i := range rows {
		rows[i].Number = int32(i - 5)
		rows[i].NativeID = string(rune('b' + i%7))
		if i%2 == 1 {
			rows[i].InputBytes, rows[i].DurationS = some(int64(i)*10), some(float64(i)/2)
			rows[i].Speculative, rows[i].Machine = some(true), some("m")
		}
	}
	n := int64(len(rows))
	for _, stringsPlain := range []bool{false, true} {
		data := fileOf(t, rows, nil, stringsPlain)
		for name, want := range map[string]written{
			"number":       {0, int64(-5), n - 6, true, true},
			"input_bytes":  {n / 2, int64(10), (n - 1) * 10, true, true},
			"duration_s":   {n / 2, 0.5, float64(n-1) / 2, true, true},
			"speculative":  {n / 2, true, true, true, true},
			"recompute":    {0, false, false, true, true},
			"native_id":    {0, "b", "h", true, true},
			"machine":      {n / 2, "m", "m", true, true},
			"output_bytes": {n, nil, nil, true, true},
			"gc_s":         {n, nil, nil, true, true},
			"executor":     {n, nil, nil, true, true},
		} {
			if d := cmp.Diff(want, statisticsOf(t, data, name)); d != "" {
				t.Errorf("%s (without a dictionary: %v):\n%s", name, stringsPlain, d)
			}
		}
	}
}

// TestStatisticsOfDoubles: parquet.thrift, ColumnOrder: no NaN in a bound, a least zero is -0 and a greatest one is +0.
func TestStatisticsOfDoubles(t *testing.T) {
	zero, negative, nan, inf := 0.0, math.Copysign(0, -1), math.NaN(), math.Inf(1)
	for _, c := range []struct {
		values   []float64
		min, max any
	}{
		{[]float64{3, -2, 7}, -2.0, 7.0},
		{[]float64{zero}, negative, zero},
		{[]float64{negative}, negative, zero},
		{[]float64{negative, zero, 1}, negative, 1.0},
		{[]float64{-1, zero, negative}, -1.0, zero},
		{[]float64{1, nan, 2}, nil, nil},
		{[]float64{nan, 1}, nil, nil},
		{[]float64{nan}, nil, nil},
		{[]float64{-inf, 1, inf}, -inf, inf},
		{[]float64{inf}, inf, inf},
		{[]float64{math.SmallestNonzeroFloat64, math.MaxFloat64}, math.SmallestNonzeroFloat64, math.MaxFloat64},
	} {
		rows := make([]schema.Attempt, len(c.values))
		for i, v := range c.values {
			rows[i].DurationS = some(v)
		}
		got := statisticsOf(t, fileOf(t, rows, nil, false), "duration_s")
		if !sameDouble(got.Min, c.min) || !sameDouble(got.Max, c.max) {
			t.Errorf("%v: from %v to %v, want %v to %v", c.values, got.Min, got.Max, c.min, c.max)
		}
	}
}

// sameDouble distinguishes zeros by their signs.
func sameDouble(a, b any) bool {
	x, xok := a.(float64)
	y, yok := b.(float64)
	return xok == yok && math.Float64bits(x) == math.Float64bits(y)
}

func TestStatisticsOfLongStrings(t *testing.T) {
	fill := strings.Repeat("a", maxBound-1)
	top := strings.Repeat("\U0010FFFF", maxBound/4)
	for _, c := range []struct {
		value string
		min   string
		max   any
	}{
		{"", "", ""},
		{fill + "b", fill + "b", fill + "b"}, // as long as a bound may be
		{fill + "bc", fill + "b", fill + "c"},
		{fill + "éx", fill, strings.Repeat("a", maxBound-2) + "b"}, // the bound ends in the middle of é
		{fill + "\x7fx", fill + "\x7f", fill + "\u0080"},
		{strings.Repeat("a", maxBound-3) + "\uD7FFx", strings.Repeat("a", maxBound-3) + "\uD7FF", strings.Repeat("a", maxBound-3) + "\uE000"},
		{"b" + top + "x", "b" + strings.TrimSuffix(top, "\U0010FFFF"), "c"},
		{top + "x", top, nil}, // nothing is greater than all that begin so
		{strings.Repeat("\x00", 2*maxBound), strings.Repeat("\x00", maxBound), strings.Repeat("\x00", maxBound-1) + "\x01"},
	} {
		short := c.value == c.min
		for _, plain := range []bool{false, true} {
			got := statisticsOf(t, fileOf(t, []schema.Attempt{{Machine: some(c.value)}}, nil, plain), "machine")
			want := written{0, c.min, c.max, short, short || c.max == nil}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%q:\n%s", c.value, d)
			}
		}
	}
}

// TestStatisticsBoundAllValues: whatever the strings, a bound is beyond all of them or one of them, is text, and is short.
func TestStatisticsBoundAllValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []rune{0, 'a', 'z', 0x7F, 'é', 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10000, utf8.MaxRune}
	for range 2000 {
		var b bounds[string]
		var values []string
		shared := strings.Repeat(string(letters[rng.IntN(len(letters))]), rng.IntN(maxBound))
		for range 1 + rng.IntN(3) {
			v := []rune(shared)
			for range rng.IntN(30) {
				v = append(v, letters[rng.IntN(len(letters))])
			}
			values = append(values, string(v))
			b.extend(string(v))
		}
		var s statistics
		s.setStrings(b)
		isMin, isMax := false, false
		for _, v := range values {
			if string(s.min) > v || s.max != nil && string(s.max) < v {
				t.Fatalf("%q is not from %q to %q", v, s.min, s.max)
			}
			isMin, isMax = isMin || string(s.min) == v, isMax || string(s.max) == v
		}
		if isMin == s.minInexact || s.max != nil && isMax == s.maxInexact {
			t.Fatalf("%q: %q is inexact: %v; %q is: %v", values, s.min, s.minInexact, s.max, s.maxInexact)
		}
		for _, bound := range [][]byte{s.min, s.max} {
			if !utf8.Valid(bound) || len(bound) > maxBound+utf8.UTFMax {
				t.Fatalf("%q is no bound of %q", bound, values)
			}
		}
	}
}

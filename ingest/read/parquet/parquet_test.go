package parquet_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"straggler/ingest/ingesttest"
	"straggler/ingest/read/parquet"
)

// made is a generated type.
type made struct {
	name     string
	leaf     pq.Type // nil: a list or a structure
	of       *made   // of a list: its elements
	fields   []*made // of a structure
	nullable bool
}

// madeUp generates a type of lists and structures up to a depth.
func madeUp(r *rand.Rand, name string, depth int) *made {
	m := &made{name: name}
	n := r.IntN(8)
	if depth > 0 {
		n = r.IntN(12)
	}
	switch n {
	case 0:
		m.leaf = pq.Int32Type
	case 1, 2:
		m.leaf = pq.Int64Type
	case 3:
		m.leaf = pq.Uint(32).Type()
	case 4:
		m.leaf = pq.DoubleType
	case 5:
		m.leaf = pq.FloatType
	case 6:
		m.leaf = pq.BooleanType
	case 7:
		m.leaf = pq.String().Type()
	case 8, 9:
		m.of = madeUp(r, "element", depth-1)
	default:
		for i := range 1 + r.IntN(3) {
			m.fields = append(m.fields, madeUp(r, fmt.Sprintf("f%d", i), depth-1))
		}
	}
	m.nullable = r.IntN(2) == 0
	return m
}

// node returns the type in parquet-go's form.
func (m *made) node(dictionary bool) (n pq.Node) {
	switch {
	case m.of != nil:
		n = pq.List(m.of.node(dictionary))
	case m.fields != nil:
		n = group(m.fields, dictionary)
	case dictionary && m.leaf.Kind() != pq.Boolean:
		n = pq.Encoded(pq.Leaf(m.leaf), &pq.RLEDictionary)
	default:
		n = pq.Encoded(pq.Leaf(m.leaf), &pq.Plain)
	}
	if m.nullable {
		n = pq.Optional(n)
	}
	return n
}

func group(fields []*made, dictionary bool) pq.Group {
	g := pq.Group{}
	for _, f := range fields {
		g[f.name] = f.node(dictionary)
	}
	return g
}

// value generates a value of a type, in JSON's form.
func (m *made) value(r *rand.Rand) any {
	switch {
	case m.nullable && r.IntN(3) == 0:
		return nil
	case m.of != nil:
		items := []any{}
		for range r.IntN(4) * r.IntN(3) {
			items = append(items, m.of.value(r))
		}
		return items
	case m.fields != nil:
		fields := map[string]any{}
		for _, f := range m.fields {
			fields[f.name] = f.value(r)
		}
		return fields
	}
	switch m.leaf.Kind() {
	case pq.ByteArray:
		return strings.Repeat("xyé\"", r.IntN(4))
	case pq.Boolean:
		return r.IntN(2) == 0
	case pq.Double, pq.Float:
		return float64(r.IntN(1000)) / 8
	}
	return r.IntN(1000)
}

// shredded are the values of a row by column.
type shredded [][]pq.Value

// add adds a value to the columns from the given one on, with the levels of its parent, and returns the column after its own.
func (s *shredded) add(m *made, v any, column, repetition, definition, depth int) int {
	if m.nullable && v != nil {
		definition++
	}
	switch {
	case m.of != nil:
		items, _ := v.([]any)
		end := column
		for n, item := range items {
			if n > 0 {
				repetition = depth + 1
			}
			end = s.add(m.of, item, column, repetition, definition+1, depth+1)
		}
		if len(items) == 0 {
			end = s.add(m.of, nil, column, repetition, definition, depth+1)
		}
		return end
	case m.fields != nil:
		fields, _ := v.(map[string]any)
		for _, f := range m.fields {
			column = s.add(f, fields[f.name], column, repetition, definition, depth)
		}
		return column
	}
	for len(*s) <= column {
		*s = append(*s, nil)
	}
	(*s)[column] = append((*s)[column], m.leafValue(v).Level(repetition, definition, column))
	return column + 1
}

func (m *made) leafValue(v any) pq.Value {
	switch v := v.(type) {
	case nil:
		return pq.NullValue()
	case string:
		return pq.ByteArrayValue([]byte(v))
	case bool:
		return pq.BooleanValue(v)
	case float64:
		if m.leaf.Kind() == pq.Float {
			return pq.FloatValue(float32(v))
		}
		return pq.DoubleValue(v)
	}
	if n := v.(int); m.leaf.Kind() == pq.Int64 {
		return pq.Int64Value(int64(n))
	} else {
		return pq.Int32Value(int32(n))
	}
}

// written writes rows as a Parquet file.
func written(t testing.TB, g pq.Group, rows []pq.Row, o ...pq.WriterOption) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := pq.NewWriter(&buf, append([]pq.WriterOption{pq.NewSchema("schema", g)}, o...)...)
	for batch := range slices.Chunk(rows, 16) {
		if _, err := w.WriteRows(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// rowsOf reads a file, and returns each value as JSON.
func rowsOf(data []byte) (rows [][]string, err error) {
	in := ingesttest.Input("x.parquet", data)
	err = parquet.EachBatch(context.Background(), in.Parts[0], func(b *parquet.Batch) error {
		for i := range b.Rows {
			var row []string
			for c := range b.Columns {
				row = append(row, b.Value(i, c).String())
			}
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}

// What was written is read back, whatever the nesting, the pages and the row groups.
func TestNested(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		var fields []*made
		for i := range 1 + r.IntN(3) {
			fields = append(fields, madeUp(r, fmt.Sprintf("c%d", i), 3))
		}
		var rows []map[string]any
		var levels []pq.Row
		for range 1 + r.IntN(700) {
			row := map[string]any{}
			var s shredded
			column := 0
			for _, f := range fields {
				row[f.name] = f.value(r)
				column = s.add(f, row[f.name], column, 0, 0, 0)
			}
			rows, levels = append(rows, row), append(levels, slices.Concat(s...))
		}
		data := written(t, group(fields, r.IntN(2) == 0), levels, pq.PageBufferSize(200), pq.MaxRowsPerRowGroup(300),
			pq.DataPageVersion(1+r.IntN(2)), pq.Compression(&pq.Zstd))
		got, err := rowsOf(data)
		if err != nil || len(got) != len(rows) {
			t.Fatalf("seed %d: %d rows of %d, %v", seed, len(got), len(rows), err)
		}
		for i, row := range rows {
			for c, f := range fields {
				if !sameValue(got[i][c], row[f.name]) {
					t.Fatalf("seed %d, row %d, %s: %s, want %v", seed, i, f.name, got[i][c], row[f.name])
				}
			}
		}
	}
}

// sameValue compares the text of a value with JSON's; NULL and empty text are the same.
func sameValue(got string, want any) bool {
	switch want := want.(type) {
	case nil:
		return got == ""
	case string:
		return got == want
	}
	text, err := json.Marshal(want)
	var a, b any
	return err == nil && json.Unmarshal([]byte(got), &a) == nil && json.Unmarshal(text, &b) == nil && reflect.DeepEqual(a, b)
}

// half is a two-byte floating-point number, of which parquet-go knows only the size.
type half struct{ pq.Type }

func (half) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: &format.Float16Type{}}
}

// Types other than numbers, texts and booleans have one form as text, and times are microseconds.
func TestTypes(t *testing.T) {
	decimal := func(n int64, size int) pq.Value {
		return pq.FixedLenByteArrayValue(binary.BigEndian.AppendUint64(bytes.Repeat([]byte{byte(n >> 63)}, size), uint64(n))[8:])
	}
	for _, c := range []struct {
		node  pq.Node
		value pq.Value
		want  string
	}{
		{pq.Timestamp(pq.Millisecond), pq.Int64Value(1767225600250), "1767225600250000"},
		{pq.Timestamp(pq.Microsecond), pq.Int64Value(1767225600000251), "1767225600000251"},
		{pq.Timestamp(pq.Nanosecond), pq.Int64Value(1767225600000251999), "1767225600000251"},
		{pq.Date(), pq.Int32Value(20454), "2026-01-01"},
		{pq.Time(pq.Microsecond), pq.Int64Value(3723000004), "01:02:03.000004"},
		{pq.Int(8), pq.Int32Value(-7), "-7"},
		{pq.Uint(64), pq.Int64Value(-1), "18446744073709551615"},
		{pq.Leaf(half{pq.FixedLenByteArrayType(2)}), pq.FixedLenByteArrayValue([]byte{0, 0x3E}), "1.5"}, // sign, exponent 15 − 15, 1 + 1/2
		{pq.Leaf(pq.ByteArrayType), pq.ByteArrayValue([]byte("abc")), "abc"},
		{pq.Leaf(pq.FixedLenByteArrayType(2)), pq.FixedLenByteArrayValue([]byte{0xFF, 0xFF}), "//8="},
		{pq.Decimal(3, 20, pq.FixedLenByteArrayType(9)), decimal(-12345, 9), "-12.345"},
		{pq.Decimal(3, 9, pq.FixedLenByteArrayType(8)), decimal(0, 8), "0.000"},
		{pq.Decimal(3, 9, pq.FixedLenByteArrayType(8)), decimal(5, 8), "0.005"},
		{pq.Decimal(3, 9, pq.Int32Type), pq.Int32Value(-1234), "-1.234"},
		{pq.Decimal(3, 12, pq.Int64Type), pq.Int64Value(99999), "99.999"},
	} {
		got, err := rowsOf(written(t, pq.Group{"c": pq.Encoded(c.node, &pq.Plain)}, []pq.Row{{c.value.Level(0, 0, 0)}}))
		if err != nil || len(got) != 1 || got[0][0] != c.want {
			t.Errorf("%v: %q, %v, want %q", c.node, got, err, c.want)
		}
	}
}

// A few bytes of a page may refer to the dictionary's longest text in each row: batches have as many rows as fit into memory.
func TestLongTexts(t *testing.T) {
	const rows, size = 200, 1 << 20
	text := pq.ByteArrayValue(bytes.Repeat([]byte("x"), size)).Level(0, 0, 0)
	data := written(t, pq.Group{"s": pq.Encoded(pq.String(), &pq.RLEDictionary)}, slices.Repeat([]pq.Row{{text}}, rows))
	if len(data) > 8*size { // the text, and again as the least and the greatest one
		t.Fatalf("a file of %d bytes", len(data))
	}
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	in, got := ingesttest.Input("x.parquet", data), 0
	err := parquet.EachBatch(context.Background(), in.Parts[0], func(b *parquet.Batch) error {
		if runtime.ReadMemStats(&now); got == 0 && now.TotalAlloc-before.TotalAlloc > 64*size {
			t.Errorf("the first %d rows take %d bytes", b.Rows, now.TotalAlloc-before.TotalAlloc)
		}
		got += b.Rows
		return nil
	})
	if err != nil || got != rows {
		t.Errorf("%d rows, %v", got, err)
	}
}

// Any bytes give rows or an error of this kind, within bounds.
func FuzzEachBatch(f *testing.F) {
	type row struct {
		ID      int64   `parquet:"id"`
		Name    *string `parquet:"name,optional"`
		Parents []int64 `parquet:"parents,optional,list"`
		Use     *struct {
			CPUs *float64 `parquet:"cpus,optional"`
		} `parquet:"use,optional"`
	}
	rows := make([]row, 3)
	if err := json.Unmarshal([]byte(`[{"id": 1, "name": "a", "parents": [1, 2], "use": {"cpus": 0.5}}, {"id": 2, "parents": []}, {"id": 3, "use": null}]`), &rows); err != nil {
		f.Fatal(err)
	}
	for _, o := range [][]pq.WriterOption{nil, {pq.Compression(&pq.Snappy), pq.DataPageVersion(1)}} {
		var buf bytes.Buffer
		if err := pq.Write(&buf, rows, o...); err != nil {
			f.Fatal(err)
		}
		f.Add(buf.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := rowsOf(data); err != nil && !errors.Is(err, parquet.ErrUnreadable) {
			t.Errorf("%v", err)
		}
	})
}

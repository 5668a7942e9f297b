package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"straggler/schema"
)

// keyColumn is the column after those of the table.
const keyColumn = "input_key"

func columnsOf[R any]() []schema.Column {
	return append(slices.Clone(schema.TableOf[R]().Columns), schema.Column{Name: keyColumn, Type: schema.BigInt})
}

// bufferOf holds rows, with a key of 7.
func bufferOf[R any](rows []R, plain bool) *Buffer {
	b := NewBuffer(columnsOf[R]())
	for i := range b.columns {
		b.columns[i].strings.plain = plain
	}
	for from := 0; from < len(rows); { // in batches of 1, 2, 3, …
		n := min(len(rows)-from, from+1)
		from += b.Append(unsafe.Pointer(&rows[from]), unsafe.Sizeof(rows[0]), n, 7)
	}
	return b
}

// fileOf returns a file of rows in one row group, in the given order.
func fileOf[R any](t *testing.T, rows []R, order []int32, plain bool) []byte {
	t.Helper()
	var to bytes.Buffer
	w, err := NewWriter(&to, columnsOf[R](), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.writeRowGroup(bufferOf(rows, plain), order); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Rows() != int64(len(rows)) || w.Groups() != 1 || w.Bytes() != int64(to.Len()) {
		t.Fatalf("%d rows in %d groups and %d bytes were written; want %d, 1, %d", w.Rows(), w.Groups(), w.Bytes(), len(rows), to.Len())
	}
	return to.Bytes()
}

// A panic while columns are encoded, in goroutines of the writer, becomes a panic of its caller, which may recover from it.
func TestPanicOfColumn(t *testing.T) {
	w, err := NewWriter(io.Discard, columnsOf[schema.Attempt](), "")
	if err != nil {
		t.Fatal(err)
	}
	b := NewBuffer(w.columns)
	b.rows = pageRows + 1
	for i := range b.columns {
		b.columns[i].values = b.rows // and has none
	}
	defer func() {
		if p := recover(); p == nil {
			t.Error("nothing panicked")
		}
	}()
	w.WriteRowGroup(b)
}

// opened reads a file with parquet-go.
func opened(t *testing.T, data []byte) *pq.File {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readColumn reads a column; a NULL is nil.
func readColumn(t *testing.T, f *pq.File, name string) (out []any) {
	t.Helper()
	c := f.Root().Column(name)
	pages := f.RowGroups()[0].ColumnChunks()[c.Index()].Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		values := make([]pq.Value, page.NumValues())
		if n, err := page.Values().ReadValues(values); n < len(values) {
			t.Fatalf("%s: %d values of %d: %v", name, n, len(values), err)
		}
		for _, v := range values {
			out = append(out, goValue(v))
		}
	}
}

func goValue(v pq.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Kind() == pq.Int64:
		return v.Int64()
	case v.Kind() == pq.Int32:
		return v.Int32()
	case v.Kind() == pq.Double:
		return v.Double()
	case v.Kind() == pq.Boolean:
		return v.Boolean()
	}
	return string(v.ByteArray())
}

// check compares what a column contains with what was written.
func check[T comparable](t *testing.T, r *pq.File, name string, n int, want func(i int) schema.Null[T]) {
	t.Helper()
	got := readColumn(t, r, name)
	if len(got) != n {
		t.Fatalf("%s: %d rows of %d came back", name, len(got), n)
	}
	for i := range n {
		var v any
		if w := want(i); w.OK {
			v = w.V
		}
		if got[i] != v {
			t.Fatalf("%s: row %d of %d came back as %v and was %v", name, i, n, got[i], v)
		}
	}
}

func some[T any](v T) schema.Null[T] { return schema.Some(v) }

// sameBack checks that attempts are read back, with one nullable and one other column of each kind.
func sameBack(t *testing.T, rows []schema.Attempt, order []int32, plain bool) {
	t.Helper()
	data := fileOf(t, rows, order, plain)
	r := opened(t, data)
	n := len(rows)
	row := func(i int) *schema.Attempt {
		if order != nil {
			i = int(order[i])
		}
		return &rows[i]
	}
	check(t, r, "attempt_id", n, func(i int) schema.Null[int64] { return some(row(i).AttemptID) })
	check(t, r, "number", n, func(i int) schema.Null[int32] { return some(row(i).Number) })
	check(t, r, "native_id", n, func(i int) schema.Null[string] { return some(row(i).NativeID) })
	check(t, r, "recompute", n, func(i int) schema.Null[bool] { return some(row(i).Recompute) })
	check(t, r, "input_bytes", n, func(i int) schema.Null[int64] { return row(i).InputBytes })
	check(t, r, "duration_s", n, func(i int) schema.Null[float64] { return row(i).DurationS })
	check(t, r, "speculative", n, func(i int) schema.Null[bool] { return row(i).Speculative })
	check(t, r, "machine", n, func(i int) schema.Null[string] { return row(i).Machine })
	check(t, r, keyColumn, n, func(i int) schema.Null[int64] { return some(int64(7)) })
	sameInSlices(t, data, n, row)
}

// patterns say which of n rows have a value.
var patterns = map[string]func(i, n int) bool{
	"no value":           func(i, n int) bool { return false },
	"all":                func(i, n int) bool { return true },
	"the first":          func(i, n int) bool { return i == 0 },
	"the last":           func(i, n int) bool { return i == n-1 },
	"all but the first":  func(i, n int) bool { return i > 0 },
	"all but the last":   func(i, n int) bool { return i < n-1 },
	"every other":        func(i, n int) bool { return i%2 == 1 },
	"runs of 100":        func(i, n int) bool { return i/100%2 == 1 },
	"runs of 31 and 32":  func(i, n int) bool { return i%63 < 31 },
	"now and then":       func(i, n int) bool { return i%977 == 500 },
	"the second half":    func(i, n int) bool { return i >= n/2 },
	"the first page":     func(i, n int) bool { return i < pageRows },
	"all but one page":   func(i, n int) bool { return i < pageRows || i >= 2*pageRows },
	"the second page on": func(i, n int) bool { return i >= pageRows },
}

// numbers are sequences that are difficult for encodings of differences.
var numbers = map[string]func(i int) int64{
	"constant":        func(i int) int64 { return -7 },
	"rising":          func(i int) int64 { return 1_700_000_000_000_000 + int64(i)*1000 },
	"from end to end": func(i int) int64 { return []int64{math.MinInt64, math.MaxInt64, 0, -1}[i%4] },
	"widths":          func(i int) int64 { return int64(1)<<(i/32%63) ^ int64(i) },
	"random":          func(i int) int64 { return int64(rand.New(rand.NewPCG(1, uint64(i))).Uint64()) },
}

func TestPagesComeBack(t *testing.T) {
	for pattern, there := range patterns {
		for sequence, number := range numbers {
			t.Run(pattern+"/"+sequence, func(t *testing.T) {
				for _, n := range []int{1, 33, 130, 500, 2*pageRows + 77} {
					if n > 500 && sequence != "rising" {
						continue
					}
					rows := make([]schema.Attempt, n)
					order := make([]int32, n)
					for i := range rows {
						order[n-1-i] = int32(i)
						v := number(i)
						rows[i] = schema.Attempt{AttemptID: v, Number: int32(v), NativeID: fmt.Sprint(v), Recompute: v&1 == 1}
						if there(i, n) {
							rows[i].InputBytes, rows[i].DurationS = some(v), some(float64(v)/3)
							rows[i].Speculative, rows[i].Machine = some(v&2 == 2), some(fmt.Sprint("m", v%1000))
						}
					}
					sameBack(t, rows, nil, false)
					sameBack(t, rows, order, true)
				}
			})
		}
	}
}

// TestNullsCostNothing: a column without a value takes a few bytes of a row group, however long.
func TestNullsCostNothing(t *testing.T) {
	nullable := 0
	for _, c := range columnsIn(t, fileOf(t, make([]schema.Attempt, 2*pageRows), nil, false)) {
		if column := schema.TableOf[schema.Attempt]().Column(c.Path[0]); column == nil || !column.Nullable {
			continue
		}
		if nullable++; c.Bytes > 100 {
			t.Errorf("%s takes %d bytes", c.Path[0], c.Bytes)
		}
	}
	if nullable < 20 {
		t.Errorf("%d columns may be NULL", nullable)
	}
}

// FuzzPages makes attempts of bytes: of eight each, a number whose lowest bits say what of the row is NULL.
// TestCompressedWhereSmaller: random bits are written as they are, and what repeats is compressed; both come back.
func TestCompressedWhereSmaller(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]schema.Attempt, 2*pageRows)
	for i := range rows {
		rows[i] = schema.Attempt{AttemptID: schema.Key(i), InputBytes: schema.Some(r.Int64()), CPUS: schema.Some(r.ExpFloat64()),
			GCS: schema.Some(float64(i % 7))}
	}
	sameBack(t, rows, nil, false)
	want := map[string]format.CompressionCodec{"input_bytes": format.Uncompressed, "cpu_s": format.Uncompressed, "gc_s": format.Zstd, "attempt_id": format.Zstd}
	for _, c := range opened(t, fileOf(t, rows, nil, false)).Metadata().RowGroups[0].Columns {
		name := c.MetaData.PathInSchema[0]
		if codec, ok := want[name]; ok && c.MetaData.Codec != codec {
			t.Errorf("%s is %v, want %v: %d bytes of %d", name, c.MetaData.Codec, codec, c.MetaData.TotalCompressedSize, c.MetaData.TotalUncompressedSize)
		}
	}
}

func FuzzPages(f *testing.F) {
	for _, seed := range []string{"", "12345678", "abcdefghabcdefghabcdefghijklmnop", string(bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 128}, 200))} {
		f.Add([]byte(seed), uint16(3), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, times uint16, plain bool) {
		var rows []schema.Attempt
		for chunk := range slices.Chunk(data, 8) {
			if len(chunk) < 8 || len(rows) > 1<<16 {
				break
			}
			v := int64(binary.LittleEndian.Uint64(chunk))
			row := schema.Attempt{AttemptID: v, Number: int32(v >> 16), NativeID: fmt.Sprint(v & 255), Recompute: v < 0,
				InputBytes: schema.Null[int64]{V: v >> (v & 63), OK: v&1 == 1}, DurationS: schema.Null[float64]{V: float64(v), OK: v&2 == 2},
				Speculative: schema.Null[bool]{V: v&64 == 64, OK: v&4 == 4}, Machine: schema.Null[string]{V: fmt.Sprint(v & 1023), OK: v&8 == 8}}
			for range 1 + times%100 {
				rows = append(rows, row)
			}
		}
		if len(rows) > 0 {
			sameBack(t, rows, nil, plain)
		}
	})
}

// TestManyStrings writes columns of few strings, of many, of more than a dictionary holds, and of strings that become equal
// when converted to UTF-8, all with repeats.
func TestManyStrings(t *testing.T) {
	rows := make([]schema.Attempt, 60_000)
	for i := range rows {
		rows[i].NativeID = fmt.Sprint(i * 7 % 50_000)
		rows[i].Machine = schema.Some(fmt.Sprintf("host-%d", i*7%9000))
		if i%5 > 0 {
			rows[i].Rack = schema.Some(fmt.Sprintf("rack %d", i%3))
		}
		rows[i].Executor = schema.Some("\xfe\xff"[i%2:][:1])
	}
	f := opened(t, fileOf(t, rows, nil, false))
	ids, machines, racks, executors := readColumn(t, f, "native_id"), readColumn(t, f, "machine"), readColumn(t, f, "rack"), readColumn(t, f, "executor")
	for i := range rows {
		var rack any
		if rows[i].Rack.OK {
			rack = rows[i].Rack.V
		}
		if ids[i] != rows[i].NativeID || machines[i] != rows[i].Machine.V || racks[i] != rack || executors[i] != "\uFFFD" {
			t.Fatalf("row %d is %q, %q, %q, %q", i, ids[i], machines[i], racks[i], executors[i])
		}
	}
}

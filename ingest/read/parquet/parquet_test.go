package parquet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"straggler/ingest/ingesttest"
	"straggler/ingest/read/parquet"
)

// typeOf makes a type up, of lists and structures up to a depth.
func typeOf(r *rand.Rand, depth int) arrow.DataType {
	n := r.IntN(8)
	if depth > 0 {
		n = r.IntN(12)
	}
	switch n {
	case 0:
		return arrow.PrimitiveTypes.Int32
	case 1, 2:
		return arrow.PrimitiveTypes.Int64
	case 3:
		return arrow.PrimitiveTypes.Uint32
	case 4:
		return arrow.PrimitiveTypes.Float64
	case 5:
		return arrow.PrimitiveTypes.Float32
	case 6:
		return arrow.FixedWidthTypes.Boolean
	case 7:
		return arrow.BinaryTypes.String
	case 8, 9:
		return arrow.ListOfField(arrow.Field{Name: "element", Type: typeOf(r, depth-1), Nullable: r.IntN(2) == 0})
	}
	var fields []arrow.Field
	for i := range 1 + r.IntN(3) {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("f%d", i), Type: typeOf(r, depth-1), Nullable: r.IntN(2) == 0})
	}
	return arrow.StructOf(fields...)
}

// valueOf makes a value of a type up, as JSON has it.
func valueOf(r *rand.Rand, f arrow.Field) any {
	if f.Nullable && r.IntN(3) == 0 {
		return nil
	}
	switch t := f.Type.(type) {
	case *arrow.ListType:
		items := []any{}
		for range r.IntN(4) * r.IntN(3) {
			items = append(items, valueOf(r, t.ElemField()))
		}
		return items
	case *arrow.StructType:
		fields := map[string]any{}
		for _, f := range t.Fields() {
			fields[f.Name] = valueOf(r, f)
		}
		return fields
	case *arrow.StringType:
		return strings.Repeat("xyé\"", r.IntN(4))
	case *arrow.BooleanType:
		return r.IntN(2) == 0
	case *arrow.Float64Type, *arrow.Float32Type:
		return float64(r.IntN(1000)) / 8
	}
	return r.IntN(1000)
}

// written writes rows as a Parquet file of small pages and row groups.
func written(t testing.TB, s *arrow.Schema, rows []byte, o ...pq.WriterProperty) []byte {
	t.Helper()
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, bytes.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(s, &buf, pq.NewWriterProperties(o...), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteBuffered(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// rowsOf reads a file, each value as the JSON that it is.
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

// What was written comes back, whatever the nesting, the pages and the row groups.
func TestNested(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		var fields []arrow.Field
		for i := range 1 + r.IntN(3) {
			fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d", i), Type: typeOf(r, 3), Nullable: r.IntN(2) == 0})
		}
		s := arrow.NewSchema(fields, nil)
		var rows []map[string]any
		for range 1 + r.IntN(700) {
			row := map[string]any{}
			for _, f := range fields {
				row[f.Name] = valueOf(r, f)
			}
			rows = append(rows, row)
		}
		text, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		version := []pq.DataPageVersion{pq.DataPageV1, pq.DataPageV2}[r.IntN(2)]
		data := written(t, s, text, pq.WithDataPageSize(200), pq.WithBatchSize(16), pq.WithMaxRowGroupLength(300), pq.WithDataPageVersion(version),
			pq.WithDictionaryDefault(r.IntN(2) == 0), pq.WithCompression(compress.Codecs.Zstd))
		got, err := rowsOf(data)
		if err != nil || len(got) != len(rows) {
			t.Fatalf("seed %d, %v: %d rows of %d, %v", seed, s, len(got), len(rows), err)
		}
		for i, row := range rows {
			for c, f := range fields {
				if !sameValue(got[i][c], row[f.Name]) {
					t.Fatalf("seed %d, row %d, %v: %s, want %v", seed, i, f, got[i][c], row[f.Name])
				}
			}
		}
	}
}

// sameValue compares the text of a value with what JSON has; NULL and no text are both nothing.
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

// Types that are no numbers, texts or truths have one form as text, and times are microseconds.
func TestTypes(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: arrow.FixedWidthTypes.Timestamp_s}, {Name: "ms", Type: arrow.FixedWidthTypes.Timestamp_ms}, {Name: "us", Type: arrow.FixedWidthTypes.Timestamp_us},
		{Name: "ns", Type: arrow.FixedWidthTypes.Timestamp_ns}, {Name: "date", Type: arrow.FixedWidthTypes.Date32}, {Name: "clock", Type: arrow.FixedWidthTypes.Time64us},
		{Name: "money", Type: &arrow.Decimal128Type{Precision: 20, Scale: 3}}, {Name: "i8", Type: arrow.PrimitiveTypes.Int8}, {Name: "u64", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "half", Type: arrow.FixedWidthTypes.Float16}, {Name: "bytes", Type: arrow.BinaryTypes.Binary}, {Name: "fixed", Type: &arrow.FixedSizeBinaryType{ByteWidth: 2}},
	}, nil)
	rows := `[{"s": 1767225600, "ms": 1767225600250, "us": 1767225600000251, "ns": 1767225600000251999, "date": "2026-01-01",
		"clock": "01:02:03.000004", "money": "-12.345", "i8": -7, "u64": 18446744073709551615, "half": 1.5, "bytes": "YWJj", "fixed": "//8="}]`
	got, err := rowsOf(written(t, s, []byte(rows)))
	want := []string{"1767225600000000", "1767225600250000", "1767225600000251", "1767225600000251", "2026-01-01", "01:02:03.000004", "-12.345", "-7",
		"18446744073709551615", "1.5", "abc", "//8="}
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, c := range []struct {
		n    int64
		want string
	}{{0, "0.000"}, {5, "0.005"}, {-1234, "-1.234"}, {99999, "99.999"}} {
		one := arrow.NewSchema([]arrow.Field{{Name: "d", Type: &arrow.Decimal128Type{Precision: 9, Scale: 3}}}, nil)
		text, err := json.Marshal([]map[string]string{{"d": c.want}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := rowsOf(written(t, one, text)); err != nil || got[0][0] != c.want {
			t.Errorf("%d / 1000: %q, %v", c.n, got, err)
		}
	}
}

// A few bytes of a page may ask for the dictionary's longest text in each row: rows come as many at a time as fit into memory.
func TestLongTexts(t *testing.T) {
	const rows, size = 200, 1 << 20
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for range rows {
		b.Append(strings.Repeat("x", size))
	}
	s := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(s, &buf, pq.NewWriterProperties(pq.WithDictionaryPageSizeLimit(4*size)), pqarrow.DefaultWriterProps())
	if err == nil {
		err = errors.Join(w.Write(array.NewRecordBatch(s, []arrow.Array{b.NewArray()}, rows)), w.Close())
	}
	if err != nil || buf.Len() > 4*size {
		t.Fatalf("a file of %d bytes: %v", buf.Len(), err)
	}
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	in, got := ingesttest.Input("x.parquet", buf.Bytes()), 0
	err = parquet.EachBatch(context.Background(), in.Parts[0], func(b *parquet.Batch) error {
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

// Any bytes are rows or an error of its kind, within bounds.
func FuzzEachBatch(f *testing.F) {
	s := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "parents", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
		{Name: "use", Type: arrow.StructOf(arrow.Field{Name: "cpus", Type: arrow.PrimitiveTypes.Float64, Nullable: true}), Nullable: true}}, nil)
	f.Add(written(f, s, []byte(`[{"id": 1, "name": "a", "parents": [1, 2], "use": {"cpus": 0.5}}, {"id": 2, "parents": []}, {"id": 3, "use": null}]`)))
	f.Add(written(f, s, []byte(`[{"id": 1, "name": "a"}]`), pq.WithCompression(compress.Codecs.Snappy), pq.WithDataPageVersion(pq.DataPageV2)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := rowsOf(data); err != nil && !errors.Is(err, parquet.ErrUnreadable) {
			t.Errorf("%v", err)
		}
	})
}

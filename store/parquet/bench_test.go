package parquet

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	arrowparquet "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/google/go-cmp/cmp"

	"straggler/cputime"
	"straggler/schema"
	"straggler/store/parquet/benchrows"
)

// BenchmarkRowGroup writes row groups in turns with this package and with arrow-go's column writer, from the same buffers
// and to the same encodings, and reports the processor time of both.
func BenchmarkRowGroup(b *testing.B) {
	b.Run("spark", func(b *testing.B) { benchmarkRowGroup(b, benchrows.Spark(RowGroupRows)) })
	b.Run("csv", func(b *testing.B) { benchmarkRowGroup(b, benchrows.CSV(RowGroupRows)) })
}

func benchmarkRowGroup(b *testing.B, rows []schema.Attempt) {
	buffer := bufferOf(rows, false)
	columns := columnsOf[schema.Attempt]()
	w, err := NewWriter(io.Discard, columns, "phase_id")
	if err != nil {
		b.Fatal(err)
	}
	a := newArrowWriter(io.Discard, columns)
	order := cluster(buffer.columns[w.cluster].i64, &w.order)
	var ours, arrows time.Duration
	for b.Loop() {
		start := cputime.Used()
		if err := w.writeRowGroup(buffer, order); err != nil {
			b.Fatal(err)
		}
		middle := cputime.Used()
		if err := a.writeRowGroup(buffer, order); err != nil {
			b.Fatal(err)
		}
		ours, arrows = ours+middle-start, arrows+cputime.Used()-middle
	}
	n := float64(b.N * len(rows))
	b.ReportMetric(float64(ours)/n, "cpu-ns/row")
	b.ReportMetric(float64(arrows)/n, "arrow-cpu-ns/row")
	b.ReportMetric(100*(1-float64(ours)/float64(arrows)), "%less")
}

// arrowWriter writes what Writer does, with arrow-go's column writer.
type arrowWriter struct {
	*file.Writer
	levels  []int16
	scratch scratch
	strings []arrowparquet.ByteArray
	ends    []int32
	bitmap  []byte
}

func newArrowWriter(to io.Writer, columns []schema.Column) *arrowWriter {
	props := []arrowparquet.WriterProperty{
		arrowparquet.WithVersion(arrowparquet.V2_6), arrowparquet.WithDataPageVersion(arrowparquet.DataPageV1),
		arrowparquet.WithCompression(compress.Codecs.Zstd), arrowparquet.WithCompressionLevel(1),
		arrowparquet.WithBatchSize(8 << 10), arrowparquet.WithDataPageSize(pageBytes), arrowparquet.WithDictionaryPageSizeLimit(64 << 20),
		arrowparquet.WithMaxRowGroupLength(RowGroupRows), arrowparquet.WithDictionaryDefault(false), arrowparquet.WithStats(true),
	}
	for _, c := range columns {
		switch c.Type {
		case schema.BigInt, schema.Int, schema.Timestamp:
			props = append(props, arrowparquet.WithEncodingFor(c.Name, arrowparquet.Encodings.DeltaBinaryPacked))
		case schema.String:
			props = append(props, arrowparquet.WithDictionaryFor(c.Name, true), arrowparquet.WithDictionaryCostFallbackFor(c.Name, false))
		}
	}
	root := arrowSchema(columns)
	return &arrowWriter{Writer: file.NewParquetWriter(to, root, file.WithWriterProps(arrowparquet.NewWriterProperties(props...)))}
}

// arrowSchema is the schema of the files as arrow-go has it.
func arrowSchema(columns []schema.Column) *pqschema.GroupNode {
	var fields pqschema.FieldList
	for _, c := range columns {
		repetition := arrowparquet.Repetitions.Required
		if c.Nullable {
			repetition = arrowparquet.Repetitions.Optional
		}
		var logical pqschema.LogicalType = pqschema.NoLogicalType{}
		switch c.Type {
		case schema.String:
			logical = pqschema.StringLogicalType{}
		case schema.Timestamp:
			logical = pqschema.NewTimestampLogicalType(true, pqschema.TimeUnitMicros)
		}
		fields = append(fields, pqschema.MustPrimitive(pqschema.NewPrimitiveNodeLogical(c.Name, repetition, logical, arrowparquet.Type(physicalTypes[c.Type]), 0, -1)))
	}
	return pqschema.MustGroup(pqschema.NewGroupNode("schema", arrowparquet.Repetitions.Required, fields, -1))
}

func (a *arrowWriter) writeRowGroup(b *Buffer, order []int32) error {
	group, err := a.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	for i := range b.columns {
		w, err := group.NextColumn()
		if err != nil {
			return err
		}
		c := columnChunk{scratch: &a.scratch, column: &b.columns[i], rows: b.rows, order: order}
		if err := a.writeColumn(w, &c); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	return group.Close()
}

func (a *arrowWriter) writeColumn(w file.ColumnChunkWriter, c *columnChunk) (err error) {
	levels := a.levelsOf(c)
	switch w := w.(type) {
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(presentOrRoom(c, &c.i64, c.column.i64), levels, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(presentOrRoom(c, &c.i32, c.column.i32), levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(presentOrRoom(c, &c.f64, c.column.f64), levels, nil)
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(presentOrRoom(c, &c.bools, c.column.bools), levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		err = a.writeStrings(w, c, levels)
	}
	return err
}

// presentOrRoom gives a column of NULLs an empty slice with room for values, which arrow-go takes batches of.
func presentOrRoom[T any](c *columnChunk, out *[]T, values []T) []T {
	if c.column.values == 0 {
		*out = resized(*out, c.rows)
		return (*out)[:0]
	}
	return present(c, out, values, 0, c.rows)
}

func (a *arrowWriter) levelsOf(c *columnChunk) []int16 {
	if !c.column.nullable {
		return nil
	}
	a.levels = resized(a.levels, c.rows)
	for i := range a.levels {
		a.levels[i] = 0
		if c.column.values == c.rows || c.column.values > 0 && c.column.valid[c.row(i)] {
			a.levels[i] = 1
		}
	}
	return a.levels
}

// writeStrings hands the dictionary over as it is; without that arrow-go hashes each string again.
func (a *arrowWriter) writeStrings(w *file.ByteArrayColumnChunkWriter, c *columnChunk, levels []int16) error {
	d := &c.column.strings
	encoder, ok := w.CurrentEncoder().(interface{ PutDictionary(arrow.Array) error })
	if c.column.values == 0 || d.plain || !ok {
		a.strings = resized(a.strings, c.rows)[:0]
		for _, id := range present(c, &c.i32, d.rows, 0, c.rows) {
			a.strings = append(a.strings, arrowparquet.ByteArray(d.entry(id)))
		}
		_, err := w.WriteBatch(a.strings, levels, nil)
		return err
	}
	a.ends = append(append(a.ends[:0], 0), d.ends...)
	entries := array.NewStringData(array.NewData(arrow.BinaryTypes.String, len(d.ends), []*memory.Buffer{nil,
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(a.ends)), memory.NewBufferBytes(d.bytes)}, nil, 0, 0))
	defer entries.Release()
	if err := encoder.PutDictionary(entries); err != nil {
		return err
	}
	rows := make([]int32, c.rows)
	for i := range rows {
		rows[i] = d.rows[c.row(i)]
	}
	var valid *memory.Buffer
	nulls := 0
	if levels != nil {
		a.bitmap = resized(a.bitmap, (c.rows+7)/8)
		clear(a.bitmap)
		for i, l := range levels {
			a.bitmap[i>>3] |= byte(l) << (i & 7)
		}
		valid, nulls = memory.NewBufferBytes(a.bitmap), c.rows-c.column.values
	}
	indexes := array.NewInt32Data(array.NewData(arrow.PrimitiveTypes.Int32, c.rows, []*memory.Buffer{valid,
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(rows))}, nil, nulls, 0))
	defer indexes.Release()
	return w.WriteDictIndices(indexes, levels, nil)
}

// TestArrowWriter: what the benchmark compares with writes the same rows, and the same statistics where it writes any.
func TestArrowWriter(t *testing.T) {
	rows := benchrows.Spark(3000)
	for i := range rows {
		if i%3 == 0 {
			rows[i].Machine, rows[i].InputBytes = schema.Null[string]{}, schema.Null[int64]{}
		}
	}
	var to bytes.Buffer
	a := newArrowWriter(&to, columnsOf[schema.Attempt]())
	if err := a.writeRowGroup(bufferOf(rows, false), nil); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	data := fileOf(t, rows, nil, false)
	ours, theirs := opened(t, data), opened(t, to.Bytes())
	compared := 0
	for i := range ours.MetaData().Schema.NumColumns() {
		name := ours.MetaData().Schema.Column(i).Name()
		want := readColumn(t, theirs, name)
		for k, v := range readColumn(t, ours, name) {
			if v != want[k] {
				t.Fatalf("%s: row %d is %v with arrow-go's writer and %v with ours", name, k, want[k], v)
			}
		}
		if theirs.MetaData().RowGroups[0].Columns[i].MetaData.Statistics.MinValue == nil || name == keyColumn {
			continue // it has none of indexes of a dictionary
		}
		compared++
		if d := cmp.Diff(statisticsOf(t, to.Bytes(), name), statisticsOf(t, data, name)); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	if compared < 20 {
		t.Errorf("%d columns have statistics of arrow-go's", compared)
	}
}

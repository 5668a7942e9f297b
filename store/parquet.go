package store

import (
	"bufio"
	"fmt"
	"hash"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/cespare/xxhash/v2"

	"straggler/schema"
)

// inputColumn is the last column of every file of a store: the input that each row was read from. Views hide it.
const inputColumn = "input_key"

// fileColumns are the columns of a table's files.
func fileColumns(t *schema.Table) []schema.Column {
	return append(slices.Clone(t.Columns), schema.Column{Name: inputColumn, Type: schema.BigInt})
}

// partGroups is how many row groups go into a file before the next one is begun; it bounds what a footer can hold.
const partGroups = 64

// pageBytes is about how large a page is before it is compressed: what the writer copies a page through is this large
// for each column, so that smaller pages take less memory, and larger ones compress no better.
const pageBytes = 128 << 10

// part is one Parquet file being written.
type part struct {
	name   string
	sink   *sink
	writer *pqfile.Writer
	groups int
	rows   int64
}

// sink counts and checks what goes into a file, and keeps the first error: the Parquet writer hides some.
type sink struct {
	to    file
	buf   *bufio.Writer
	sum   hash.Hash64
	bytes int64
	err   error
}

func newSink(to file) *sink {
	s := &sink{to: to, sum: xxhash.New()}
	s.buf = bufio.NewWriterSize(to, 64<<10)
	return s
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.buf.Write(p)
	if err != nil {
		s.err = err
		return n, err
	}
	s.sum.Write(p)
	s.bytes += int64(n)
	return n, nil
}

// finish flushes, syncs and closes.
func (s *sink) finish() error {
	err := s.err
	for _, step := range []func() error{s.buf.Flush, s.to.Sync} {
		if err == nil {
			err = step()
		}
	}
	if cerr := s.to.Close(); err == nil {
		err = cerr
	}
	return err
}

// parquetSchema is that of the columns.
func parquetSchema(columns []schema.Column) (*pqschema.GroupNode, error) {
	fields := make(pqschema.FieldList, 0, len(columns))
	for _, c := range columns {
		repetition := parquet.Repetitions.Required
		if c.Nullable {
			repetition = parquet.Repetitions.Optional
		}
		f, err := pqschema.NewPrimitiveNodeLogical(c.Name, repetition, logicalTypes[c.Type], physicalTypes[c.Type], 0, -1)
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return pqschema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
}

var physicalTypes = map[schema.Type]parquet.Type{
	schema.Bool: parquet.Types.Boolean, schema.BigInt: parquet.Types.Int64, schema.Int: parquet.Types.Int32,
	schema.Double: parquet.Types.Double, schema.String: parquet.Types.ByteArray, schema.Timestamp: parquet.Types.Int64,
}

var logicalTypes = map[schema.Type]pqschema.LogicalType{
	schema.Bool: pqschema.NoLogicalType{}, schema.BigInt: pqschema.NoLogicalType{}, schema.Int: pqschema.NoLogicalType{},
	schema.Double: pqschema.NoLogicalType{}, schema.String: pqschema.StringLogicalType{},
	schema.Timestamp: pqschema.NewTimestampLogicalType(true, pqschema.TimeUnitMicros),
}

// properties choose an encoding for each column by its type. Statistics are kept of integers and instants, which
// queries select ranges of. Strings bring their own dictionary while they have few values.
func properties(columns []schema.Column, plain func(column int) bool, memory *recycler) *parquet.WriterProperties {
	props := []parquet.WriterProperty{
		parquet.WithAllocator(memory),
		parquet.WithCreatedBy("straggler"), parquet.WithVersion(parquet.V2_6), parquet.WithDataPageVersion(parquet.DataPageV1),
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCompressionLevel(1),
		parquet.WithBatchSize(8 << 10), parquet.WithDataPageSize(pageBytes), parquet.WithDictionaryPageSizeLimit(64 << 20),
		parquet.WithMaxRowGroupLength(groupRows), parquet.WithDictionaryDefault(false), parquet.WithStats(false),
	}
	for i, c := range columns {
		switch c.Type {
		case schema.BigInt, schema.Int, schema.Timestamp:
			props = append(props, parquet.WithEncodingFor(c.Name, parquet.Encodings.DeltaBinaryPacked), parquet.WithStatsFor(c.Name, true))
		case schema.String:
			if !plain(i) {
				props = append(props, parquet.WithDictionaryFor(c.Name, true), parquet.WithDictionaryCostFallbackFor(c.Name, false))
			}
		}
	}
	return parquet.NewWriterProperties(props...)
}

func newPart(name string, to file, columns []schema.Column, plain func(column int) bool, memory *recycler) (*part, error) {
	props := properties(columns, plain, memory)
	root, err := parquetSchema(columns)
	if err != nil {
		return nil, err
	}
	s := newSink(to)
	w, err := pqfile.NewParquetWriterWithError(s, root, pqfile.WithWriterProps(props))
	if err != nil {
		return nil, err
	}
	return &part{name: name, sink: s, writer: w}, nil
}

// scratch holds a column while its rows are put in order and its NULLs taken out.
type scratch struct {
	levels []int16
	i64    []int64
	i32    []int32
	f64    []float64
	bools  []bool
	ends   []int32
	bits   []byte
	arrays []parquet.ByteArray
}

// writeGroup appends a buffer as one row group, its rows in the given order (nil: as they are).
func (p *part) writeGroup(b *buffer, order []int32, s *scratch) (err error) {
	defer func() {
		if r := recover(); r != nil { // the Parquet writer panics where it can not return an error
			err = fmt.Errorf("writing Parquet: %v", r)
		}
		if p.sink.err != nil {
			err = p.sink.err
		}
	}()
	rg, err := p.writer.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	for i := range b.cols {
		w, err := rg.NextColumn()
		if err != nil {
			return err
		}
		if err := writeColumn(w, &b.cols[i], order, s); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	p.groups++
	p.rows += int64(b.n)
	return rg.Close()
}

func writeColumn(w pqfile.ColumnChunkWriter, c *column, order []int32, s *scratch) (err error) {
	switch c.typ {
	case schema.BigInt, schema.Timestamp:
		v, levels := pick(&s.i64, &s.levels, c.i64, c.valid, order)
		_, err = w.(*pqfile.Int64ColumnChunkWriter).WriteBatch(v, levels, nil)
	case schema.Int:
		v, levels := pick(&s.i32, &s.levels, c.i32, c.valid, order)
		_, err = w.(*pqfile.Int32ColumnChunkWriter).WriteBatch(v, levels, nil)
	case schema.Double:
		v, levels := pick(&s.f64, &s.levels, c.f64, c.valid, order)
		_, err = w.(*pqfile.Float64ColumnChunkWriter).WriteBatch(v, levels, nil)
	case schema.Bool:
		v, levels := pick(&s.bools, &s.levels, c.bools, c.valid, order)
		_, err = w.(*pqfile.BooleanColumnChunkWriter).WriteBatch(v, levels, nil)
	case schema.String:
		err = writeTexts(w.(*pqfile.ByteArrayColumnChunkWriter), c, order, s)
	}
	return err
}

// pick puts values in order, leaves NULLs out and says by levels (1 = a value) where they were; without flags there are
// neither.
func pick[T any](out *[]T, levels *[]int16, values []T, flags []bool, order []int32) ([]T, []int16) {
	if flags == nil {
		return ordered(out, values, order), nil
	}
	*levels = grown(*levels, len(values))
	l := *levels
	switch valid(flags) {
	case 0:
		clear(l)
		return values[:0], l
	case len(values):
		for i := range l {
			l[i] = 1
		}
		return ordered(out, values, order), l
	}
	*out = grown(*out, len(values))
	o, k := *out, 0
	for i := range values {
		r := i
		if order != nil {
			r = int(order[i])
		}
		l[i] = 0
		if flags[r] {
			l[i] = 1
			o[k] = values[r]
			k++
		}
	}
	return o[:k], l
}

func ordered[T any](out *[]T, values []T, order []int32) []T {
	if order == nil {
		return values
	}
	*out = grown(*out, len(values))
	for i, r := range order {
		(*out)[i] = values[r]
	}
	return *out
}

func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// dictionaryWriter is the part of the Parquet library's dictionary encoder that is needed here.
type dictionaryWriter interface{ PutDictionary(arrow.Array) error }

// writeTexts writes the entries as they are, or as a dictionary and the number of each row's entry in it.
func writeTexts(w *pqfile.ByteArrayColumnChunkWriter, c *column, order []int32, s *scratch) error {
	t := &c.text
	encoder, ok := w.CurrentEncoder().(dictionaryWriter)
	if !ok || t.plain {
		ids, levels := pick(&s.i32, &s.levels, t.rows, c.valid, order)
		s.arrays = grown(s.arrays, len(ids))
		for i, id := range ids {
			start := int32(0)
			if id > 0 {
				start = t.ends[id-1]
			}
			s.arrays[i] = t.bytes[start:t.ends[id]]
		}
		_, err := w.WriteBatch(s.arrays, levels, nil)
		return err
	}
	s.ends = append(append(s.ends[:0], 0), t.ends...)
	words := stringArray(s.ends, t.bytes)
	defer words.Release()
	if err := encoder.PutDictionary(words); err != nil {
		return err
	}
	rows, _ := pick(&s.i32, nil, t.rows, nil, order)
	if c.valid == nil {
		return w.WriteDictIndices(int32Array(rows, nil), nil, nil)
	}
	_, levels := pick(&s.bools, &s.levels, c.valid, c.valid, order)
	s.bits = grown(s.bits, (len(rows)+7)/8)
	clear(s.bits)
	for i, l := range levels {
		s.bits[i>>3] |= byte(l) << (i & 7)
	}
	return w.WriteDictIndices(int32Array(rows, s.bits), levels, nil)
}

// stringArray and int32Array wrap slices as Arrow arrays without copying them.
func stringArray(ends []int32, bytes []byte) *array.String {
	return array.NewStringData(array.NewData(arrow.BinaryTypes.String, len(ends)-1, []*memory.Buffer{nil,
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(ends)), memory.NewBufferBytes(bytes)}, nil, 0, 0))
}

func int32Array(values []int32, valid []byte) *array.Int32 {
	var bits *memory.Buffer
	nulls := 0
	if valid != nil {
		bits, nulls = memory.NewBufferBytes(valid), array.UnknownNullCount
	}
	return array.NewInt32Data(array.NewData(arrow.PrimitiveTypes.Int32, len(values), []*memory.Buffer{bits,
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(values))}, nil, nulls, 0))
}

// finish writes the footer, syncs and closes.
func (p *part) finish() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("writing Parquet: %v", r)
		}
		if serr := p.sink.finish(); serr != nil {
			err = serr
		}
	}()
	return p.writer.Close()
}

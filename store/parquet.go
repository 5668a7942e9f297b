package store

import (
	"bufio"
	"encoding/binary"
	"hash"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/cespare/xxhash/v2"

	"straggler/schema"
)

// InputColumn is the last column of every file of a store: the input that each row was read from. Views hide it.
const InputColumn = "input_key"

// fileColumns are the columns of a table's files.
func fileColumns(t *schema.Table) []schema.Column {
	return append(slices.Clone(t.Columns), schema.Column{Name: InputColumn, Type: schema.BigInt})
}

// partGroups is how many row groups go into a file before the next one is begun; it bounds what a footer can hold.
const partGroups = 64

// part is one Parquet file being written.
type part struct {
	name   string
	sink   *sink
	footer *metadata.FileMetaDataBuilder
	groups int
	rows   int64
}

// sink counts and checks what goes into a file, and keeps the first error.
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

// Tell is where the next byte goes to.
func (s *sink) Tell() int64 { return s.bytes }

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

// properties choose the encoding of each column by its type; strings bring their own dictionary while they have few
// values.
func properties(columns []schema.Column) *parquet.WriterProperties {
	props := []parquet.WriterProperty{
		parquet.WithCreatedBy("straggler"), parquet.WithVersion(parquet.V2_6), parquet.WithDictionaryDefault(false),
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCompressionLevel(1),
	}
	for _, c := range columns {
		switch c.Type {
		case schema.BigInt, schema.Int, schema.Timestamp:
			props = append(props, parquet.WithEncodingFor(c.Name, parquet.Encodings.DeltaBinaryPacked))
		}
	}
	return parquet.NewWriterProperties(props...)
}

// magic is at both ends of a file.
var magic = []byte("PAR1")

func newPart(name string, to file, columns []schema.Column) (*part, error) {
	root, err := parquetSchema(columns)
	if err != nil {
		return nil, err
	}
	p := &part{name: name, sink: newSink(to), footer: metadata.NewFileMetadataBuilder(pqschema.NewSchema(root), properties(columns), nil)}
	_, err = p.sink.Write(magic)
	return p, err
}

// writeGroup appends a buffer as one row group, its rows in the given order (nil: as they are).
func (p *part) writeGroup(b *buffer, order []int32, s *scratch) error {
	group := p.footer.AppendRowGroup()
	for i := range b.cols {
		about := group.NextColumnChunk()
		pages, err := pqfile.NewPageWriter(p.sink, compress.Codecs.Zstd, 1, about, int16(p.groups), int16(i), memory.DefaultAllocator, false, nil, nil)
		if err != nil {
			return err
		}
		c := chunk{scratch: s, column: &b.cols[i], rows: b.n, order: order, pages: pages}
		if err := c.write(); err != nil {
			return err
		}
		if c.stats.IsSet() {
			about.SetStats(c.stats)
		}
		if err := pages.Close(c.dictionary, false); err != nil {
			return err
		}
	}
	group.SetNumRows(b.n)
	if err := group.Finish(0, int16(p.groups)); err != nil {
		return err
	}
	p.groups++
	p.rows += int64(b.n)
	return p.sink.err
}

// finish writes the footer, syncs and closes.
func (p *part) finish() error {
	err := p.writeFooter()
	if serr := p.sink.finish(); serr != nil {
		err = serr
	}
	return err
}

func (p *part) writeFooter() error {
	footer, err := p.footer.Finish()
	if err != nil {
		return err
	}
	n, err := footer.WriteTo(p.sink, nil)
	if err != nil {
		return err
	}
	_, err = p.sink.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(n)), magic...))
	return err
}

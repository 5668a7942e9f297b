package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/memory"
	arrowparquet "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"

	"straggler/schema"
)

// Writer writes one file.
type Writer struct {
	out     *counter
	footer  *metadata.FileMetaDataBuilder
	cluster int // column, or -1
	groups  int
	rows    int64
	inexact []inexact // statistics
	order   []int32
	scratch scratch
}

// NewWriter begins a file with the given columns. Within a row group rows lie together by the column cluster, a BigInt
// that is never NULL; "": they keep their order.
func NewWriter(to io.Writer, columns []schema.Column, cluster string) (*Writer, error) {
	root, err := fileSchema(columns)
	if err != nil {
		return nil, err
	}
	props := arrowparquet.NewWriterProperties(arrowparquet.WithCreatedBy("straggler"), arrowparquet.WithVersion(arrowparquet.V2_6),
		arrowparquet.WithCompression(compression), arrowparquet.WithCompressionLevel(compressionLevel))
	w := &Writer{out: &counter{to: to}, footer: metadata.NewFileMetadataBuilder(pqschema.NewSchema(root), props, nil),
		cluster: slices.IndexFunc(columns, func(c schema.Column) bool { return c.Name == cluster })}
	_, err = w.out.Write(magic)
	return w, err
}

// Logs compress well at any level, and the time that higher ones take is most of an ingest's.
const compressionLevel = 1

var compression = compress.Codecs.Zstd

// magic is at both ends of a file.
var magic = []byte("PAR1")

// Groups, Rows and Bytes are what was written so far.
func (w *Writer) Groups() int  { return w.groups }
func (w *Writer) Rows() int64  { return w.rows }
func (w *Writer) Bytes() int64 { return w.out.bytes }

// WriteRowGroup writes the rows of a buffer as one row group.
func (w *Writer) WriteRowGroup(b *Buffer) error {
	if w.cluster < 0 {
		return w.writeRowGroup(b, nil)
	}
	return w.writeRowGroup(b, cluster(b.columns[w.cluster].i64, &w.order))
}

// writeRowGroup writes the rows in the given order; nil: as they are.
func (w *Writer) writeRowGroup(b *Buffer, order []int32) error {
	group := w.footer.AppendRowGroup()
	for i := range b.columns {
		meta := group.NextColumnChunk()
		pages, err := file.NewPageWriter(w.out, compression, compressionLevel, meta, int16(w.groups), int16(i), memory.DefaultAllocator, false, nil, nil)
		if err != nil {
			return err
		}
		c := columnChunk{scratch: &w.scratch, column: &b.columns[i], rows: b.rows, order: order, pages: pages}
		if err := c.write(); err != nil {
			return err
		}
		meta.SetStats(c.stats.encoded())
		if c.stats.minInexact || c.stats.maxInexact {
			w.inexact = append(w.inexact, inexact{w.groups, i, c.stats.minInexact, c.stats.maxInexact})
		}
		if err := pages.Close(c.dictionary, false); err != nil {
			return err
		}
	}
	group.SetNumRows(b.rows)
	if err := group.Finish(0, int16(w.groups)); err != nil {
		return err
	}
	w.groups++
	w.rows += int64(b.rows)
	return w.out.err
}

// Close writes the footer. It does not close what the file is written to.
func (w *Writer) Close() error {
	footer, err := w.footer.Finish()
	if err != nil {
		return err
	}
	for _, i := range w.inexact {
		i.mark(footer)
	}
	n, err := footer.WriteTo(w.out, nil)
	if err != nil {
		return err
	}
	_, err = w.out.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(n)), magic...))
	return err
}

// counter counts what is written, and keeps the first error: the page writer loses some.
type counter struct {
	to    io.Writer
	bytes int64
	err   error
}

func (c *counter) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.to.Write(p)
	c.bytes += int64(n)
	c.err = err
	return n, err
}

// Tell is the offset of the next byte in the file.
func (c *counter) Tell() int64 { return c.bytes }

func fileSchema(columns []schema.Column) (*pqschema.GroupNode, error) {
	fields := make(pqschema.FieldList, 0, len(columns))
	for _, c := range columns {
		repetition := arrowparquet.Repetitions.Required
		if c.Nullable {
			repetition = arrowparquet.Repetitions.Optional
		}
		f, err := pqschema.NewPrimitiveNodeLogical(c.Name, repetition, logicalTypes[c.Type], physicalTypes[c.Type], 0, -1)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		fields = append(fields, f)
	}
	return pqschema.NewGroupNode("schema", arrowparquet.Repetitions.Required, fields, -1)
}

var physicalTypes = map[schema.Type]arrowparquet.Type{
	schema.Bool: arrowparquet.Types.Boolean, schema.BigInt: arrowparquet.Types.Int64, schema.Int: arrowparquet.Types.Int32,
	schema.Double: arrowparquet.Types.Double, schema.String: arrowparquet.Types.ByteArray, schema.Timestamp: arrowparquet.Types.Int64,
}

var logicalTypes = map[schema.Type]pqschema.LogicalType{
	schema.Bool: pqschema.NoLogicalType{}, schema.BigInt: pqschema.NoLogicalType{}, schema.Int: pqschema.NoLogicalType{},
	schema.Double: pqschema.NoLogicalType{}, schema.String: pqschema.StringLogicalType{},
	schema.Timestamp: pqschema.NewTimestampLogicalType(true, pqschema.TimeUnitMicros),
}

package parquet

import (
	"io"
	"slices"

	"straggler/parquetfile"
	"straggler/schema"
)

// Writer writes one file.
type Writer struct {
	out     *counter
	columns []schema.Column
	footer  *parquetfile.Metadata
	pages   parquetfile.ChunkWriter
	cluster int // column, or -1
	order   []int32
	scratch scratch
}

// NewWriter begins a file with the given columns. Within a row group rows lie together by the column cluster, a BigInt
// that is never NULL; "": they keep their order.
func NewWriter(to io.Writer, columns []schema.Column, cluster string) (*Writer, error) {
	fields := make([]*parquetfile.SchemaElement, len(columns))
	for i, c := range columns {
		fields[i] = field(c)
	}
	w := &Writer{out: &counter{to: to}, columns: columns, footer: parquetfile.New("straggler", fields),
		cluster: slices.IndexFunc(columns, func(c schema.Column) bool { return c.Name == cluster })}
	_, err := io.WriteString(w.out, parquetfile.Magic)
	return w, err
}

// Groups, Rows and Bytes are what was written so far.
func (w *Writer) Groups() int  { return len(w.footer.RowGroups) }
func (w *Writer) Rows() int64  { return w.footer.Rows }
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
	chunks := make([]*parquetfile.ColumnMetadata, len(b.columns))
	for i := range b.columns {
		column := &w.columns[i]
		w.pages.Begin(w.out, w.out.bytes, physicalTypes[column.Type], column.Name)
		c := columnChunk{scratch: &w.scratch, column: &b.columns[i], rows: b.rows, order: order, pages: &w.pages}
		if err := c.write(); err != nil {
			return err
		}
		chunks[i] = w.pages.Metadata
		chunks[i].Statistics = c.stats.encoded()
	}
	w.footer.Add(b.rows, chunks)
	return nil
}

// Close writes the footer. It does not close what the file is written to.
func (w *Writer) Close() error {
	footer, err := w.footer.Footer()
	if err != nil {
		return err
	}
	_, err = w.out.Write(footer)
	return err
}

// counter counts what is written.
type counter struct {
	to    io.Writer
	bytes int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.bytes += int64(n)
	return n, err
}

// field is how a file's schema has a column.
func field(c schema.Column) *parquetfile.SchemaElement {
	switch c.Type {
	case schema.String:
		return parquetfile.UTF8(c.Name).SetNullable(c.Nullable)
	case schema.Timestamp:
		return parquetfile.Microseconds(c.Name).SetNullable(c.Nullable)
	}
	return parquetfile.Primitive(c.Name, physicalTypes[c.Type]).SetNullable(c.Nullable)
}

var physicalTypes = map[schema.Type]parquetfile.Type{
	schema.Bool: parquetfile.Boolean, schema.BigInt: parquetfile.Int64, schema.Int: parquetfile.Int32,
	schema.Double: parquetfile.Double, schema.String: parquetfile.ByteArray, schema.Timestamp: parquetfile.Int64,
}

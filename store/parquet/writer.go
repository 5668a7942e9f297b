package parquet

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"straggler/parquetfile"
	"straggler/schema"
)

// Writer writes one file.
type Writer struct {
	out      *counter
	columns  []schema.Column
	footer   *parquetfile.Metadata
	encoders []encoder
	chunks   []bytes.Buffer // of the columns of a row group
	cluster  int            // column, or -1
	order    []int32
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

// maxEncoders is how many columns of a row group are encoded at the same time at most. Each takes some 3 MB.
const maxEncoders = 4

// encoder encodes columns, one after the other.
type encoder struct {
	pages   parquetfile.ChunkWriter
	scratch scratch
	broken  string // what panicked, and where
}

// writeRowGroup writes the rows in the given order; nil: as they are. Columns are encoded at the same time where there are many
// rows: nothing else has work for the other processors when the last ones of an ingest are written.
func (w *Writer) writeRowGroup(b *Buffer, order []int32) error {
	w.chunks = slices.Grow(w.chunks[:0], len(b.columns))[:len(b.columns)]
	metadata := make([]*parquetfile.ColumnMetadata, len(b.columns))
	n := 1
	if b.rows > pageRows {
		n = min(runtime.GOMAXPROCS(0), maxEncoders)
	}
	w.encoders = append(w.encoders, make([]encoder, max(n-len(w.encoders), 0))...)
	var next atomic.Int32
	var group errgroup.Group
	for i := range n {
		group.Go(func() error {
			e := &w.encoders[i]
			defer e.keepPanic()
			for at := int(next.Add(1)) - 1; at < len(b.columns); at = int(next.Add(1)) - 1 {
				w.chunks[at].Reset()
				e.pages.Begin(&w.chunks[at], physicalTypes[w.columns[at].Type], w.columns[at].Name)
				c := columnChunk{scratch: &e.scratch, column: &b.columns[at], rows: b.rows, order: order, pages: &e.pages}
				if err := c.write(); err != nil {
					return err
				}
				metadata[at] = e.pages.Metadata
				metadata[at].Statistics = c.stats.encoded()
			}
			return nil
		})
	}
	err := group.Wait()
	for i := range w.encoders[:n] {
		if broken := w.encoders[i].broken; broken != "" {
			panic(broken)
		}
	}
	if err != nil {
		return err
	}
	for i := range w.chunks {
		metadata[i].Move(w.out.bytes)
		if _, err := w.out.Write(w.chunks[i].Bytes()); err != nil {
			return err
		}
	}
	w.footer.Add(b.rows, metadata)
	return nil
}

// keepPanic keeps a panic for the caller of WriteRowGroup, who may survive it; in another goroutine it would end the process.
func (e *encoder) keepPanic() {
	if p := recover(); p != nil {
		e.broken = fmt.Sprintf("%v\n%s", p, debug.Stack())
	}
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

// field returns the element of a file's schema for a column.
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

// Package parquet reads Parquet files: from a file it takes the names of the columns, from a part of an input the rows, some
// thousands at a time, with lists and structures put together again. The library trusts the pages that it reads; what it does
// with damaged ones becomes an error here.
//
//  1. parquet.go opens a file and gives its rows in batches.
//  2. node.go puts the values of a row together from the columns' pages.
//  3. leaf.go reads one column, value by value.
//  4. value.go is what a cell holds.
package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet/file"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"

	"straggler/ingest"
)

// ErrUnreadable is returned when a Parquet file cannot be read.
var ErrUnreadable = errors.New("unreadable Parquet file")

// Magic is what a Parquet file starts and ends with.
const Magic = "PAR1"

const (
	maxFooter = 64 << 20 // bytes; a file of a thousand columns and row groups has a few
	batchRows = 4096
	// batchValues ends a batch of long lists early, which bounds its memory.
	batchValues = 1 << 18
)

// Batch is some rows of a file.
type Batch struct {
	Columns []string
	Rows    int
	values  []Value // row by row
}

// Value is that of a column in a row.
func (b *Batch) Value(row, column int) Value { return b.values[row*len(b.Columns)+column] }

// Columns are the names of a file's columns, from its footer.
func Columns(f ingest.File) (names []string, err error) {
	defer recovered(&err)
	r, err := open(f)
	if err != nil {
		return nil, err
	}
	return columnsOf(r.MetaData().Schema.Root()), nil
}

func columnsOf(root *pqschema.GroupNode) (names []string) {
	for i := range root.NumFields() {
		names = append(names, root.Field(i).Name())
	}
	return names
}

// EachBatch gives the rows of a Parquet file to take, some thousands at a time. A batch is valid until take returns.
func EachBatch(ctx context.Context, p ingest.Part, take func(*Batch) error) (err error) {
	defer recovered(&err)
	f, err := p.OpenAt(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := open(f)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	b := &Batch{Columns: columnsOf(r.MetaData().Schema.Root())}
	for g := range r.NumRowGroups() {
		group := r.RowGroup(g)
		nodes, err := nodesOf(group)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", p.Name, ErrUnreadable, err)
		}
		for left := group.NumRows(); left > 0; {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := b.read(nodes, left); err != nil {
				return fmt.Errorf("%s: %w: %w", p.Name, ErrUnreadable, err)
			}
			if err := take(b); err != nil {
				return err
			}
			left -= int64(b.Rows)
		}
	}
	return nil
}

// read fills a batch with the next rows, of those that are left.
func (b *Batch) read(nodes []*node, left int64) error {
	b.Rows, b.values = 0, b.values[:0]
	for all := 0; b.Rows < batchRows && int64(b.Rows) < left && all < batchValues; b.Rows++ {
		for i, n := range nodes {
			values := 0
			v, err := n.read(&values)
			all += values
			if err != nil {
				return fmt.Errorf("column %s: %w", b.Columns[i], err)
			}
			b.values = append(b.values, v)
		}
	}
	return nil
}

func open(f ingest.File) (*file.Reader, error) {
	var tail [8]byte
	if _, err := f.ReadAt(tail[:], max(f.Size()-8, 0)); err != nil && err != io.EOF {
		return nil, err
	}
	if n := binary.LittleEndian.Uint32(tail[:]); string(tail[4:]) != Magic || n > maxFooter {
		return nil, fmt.Errorf("%w: it does not end in a footer of at most %d bytes; it may be cut", ErrUnreadable, maxFooter)
	}
	r, err := file.NewParquetReader(io.NewSectionReader(f, 0, f.Size()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return r, nil
}

// recovered turns a panic of the Parquet library, which trusts the pages that it reads, into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", ErrUnreadable, p)
	}
}

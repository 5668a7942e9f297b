// Package parquet reads Parquet files: from a file the names of the columns, from a part of an input the rows, a few thousand
// at a time, with lists and structures reassembled.
//
//  1. parquet.go opens a file and returns its rows in batches.
//  2. node.go assembles the values of a row from the columns' pages.
//  3. leaf.go reads one column, value by value.
//  4. value.go is the content of a cell.
package parquet

import (
	"context"
	"errors"
	"fmt"

	"straggler/ingest"
	"straggler/parquetfile"
)

// ErrUnreadable is returned when a Parquet file cannot be read.
var ErrUnreadable = errors.New("unreadable Parquet file")

// Magic is at the start and the end of a Parquet file.
const Magic = parquetfile.Magic

const (
	batchRows = 4096
	// batchValues ends a batch with long lists early, which bounds its memory.
	batchValues = 1 << 18
)

// Batch is some rows of a file.
type Batch struct {
	Columns []string
	Rows    int
	values  []Value // row by row
}

// Value returns that of a column in a row.
func (b *Batch) Value(row, column int) Value { return b.values[row*len(b.Columns)+column] }

// source is a file being read.
type source struct {
	ingest.File
	meta *parquetfile.Metadata
	root *parquetfile.Field
}

func open(f ingest.File) (*source, error) {
	m, err := parquetfile.ReadMetadata(f, f.Size())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	root, err := m.Root()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return &source{f, m, root}, nil
}

// Columns returns the names of a file's columns, from its footer.
func Columns(f ingest.File) ([]string, error) {
	s, err := open(f)
	if err != nil {
		return nil, err
	}
	return s.columns(), nil
}

func (s *source) columns() (names []string) {
	for _, f := range s.root.Children {
		names = append(names, f.Name)
	}
	return names
}

// EachBatch passes the rows of a Parquet file to take, a few thousand at a time. A batch is valid until take returns.
func EachBatch(ctx context.Context, p ingest.Part, take func(*Batch) error) error {
	f, err := p.OpenAt(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := open(f)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	b := &Batch{Columns: s.columns()}
	for _, group := range s.meta.RowGroups {
		nodes, err := s.nodes(group)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", p.Name, ErrUnreadable, err)
		}
		for left := group.Rows; left > 0; {
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

// read fills a batch with the next of the remaining rows.
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

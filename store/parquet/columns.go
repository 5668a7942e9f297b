package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"straggler/parquetfile"
)

// File is a file whose columns are read one by one into slices, for callers that need few columns of many rows.
type File struct{ *source }

// Open reads the footer of a file.
func Open(from *io.SectionReader) (*File, error) {
	f, err := open(from)
	if err != nil {
		return nil, err
	}
	return &File{f}, nil
}

// RowGroup is rows of a file.
type RowGroup struct {
	file  *source
	group *parquetfile.RowGroup
}

// RowGroups returns the row groups of the file, in order.
func (f *File) RowGroups() []RowGroup {
	out := make([]RowGroup, len(f.meta.RowGroups))
	for i, g := range f.meta.RowGroups {
		out[i] = RowGroup{f.source, g}
	}
	return out
}

// Rows returns the number of rows.
func (g *RowGroup) Rows() int { return int(g.group.Rows) }

// Column reads a column of one row group after another, through the same memory.
type Column[T any] struct {
	name string
	open func(*parquetfile.Chunk) error
	last *parquetfile.Chunk
	next func() (bool, error)
	fill func(out []T, unknown T, known []bool) (int, error)
}

// Numbers returns a reader of a column of numbers, truth values or times.
func Numbers[T bool | int32 | int64 | float64](name string) *Column[T] {
	c := &Column[T]{name: name}
	c.open = func(chunk *parquetfile.Chunk) error {
		of, err := parquetfile.ColumnOf[T](chunk)
		if err == nil {
			c.next, c.fill = of.Next, of.Fill
		}
		return err
	}
	return c
}

// Texts returns a reader of a column of texts, as results of a function of these.
func Texts[T any](name string, as func(text []byte) T) *Column[T] {
	c := &Column[T]{name: name}
	c.open = func(chunk *parquetfile.Chunk) error {
		of, err := parquetfile.ColumnOf[[]byte](chunk)
		if err == nil {
			c.next, c.fill = of.Next, parquetfile.MappedOf(of, as).Fill
		}
		return err
	}
	return c
}

// Open begins to read the column in a row group.
func (c *Column[T]) Open(g *RowGroup) error {
	chunk, err := g.file.column(g.group, c.name, parquetfile.NewMemory(parquetfile.MaxMemory))
	if err != nil {
		return malformed(err)
	}
	if c.last != nil {
		chunk.Reuse(c.last)
	}
	c.last = chunk
	if err := c.open(chunk); err != nil {
		return malformed(err)
	}
	return nil
}

// Read reads the values of the next rows into out, with unknown in the places of NULLs. known, unless it is nil, receives which
// are not NULL.
func (c *Column[T]) Read(out []T, unknown T, known []bool) error {
	for len(out) > 0 {
		more, err := c.next()
		if err == nil && !more {
			err = fmt.Errorf("column %s ends %d rows early", c.name, len(out))
		}
		if err != nil {
			return malformed(err)
		}
		n, err := c.fill(out, unknown, known)
		if err != nil {
			return malformed(fmt.Errorf("column %s: %w", c.name, err))
		}
		out, known = out[n:], known[min(n, len(known)):]
	}
	return nil
}

// Range returns bounds of a column of integers or times, if the file has them.
func (g *RowGroup) Range(name string) (low, high int64, ok bool) {
	i := slices.IndexFunc(g.file.root.Children, func(c *parquetfile.Field) bool { return c.Name == name })
	if i < 0 || g.file.root.Children[i].Column >= len(g.group.Columns) {
		return 0, 0, false
	}
	m := g.group.Columns[g.file.root.Children[i].Column].Metadata
	if m == nil || m.Type != parquetfile.Int64 || m.Statistics == nil || len(m.Statistics.Min) != 8 || len(m.Statistics.Max) != 8 {
		return 0, 0, false
	}
	return int64(binary.LittleEndian.Uint64(m.Statistics.Min)), int64(binary.LittleEndian.Uint64(m.Statistics.Max)), true
}

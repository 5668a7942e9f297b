package engine

import (
	"context"
	"fmt"
	"slices"

	"straggler/schema"
)

// Column is a column of a result.
type Column struct {
	Name   string
	Type   schema.Type // type of its values
	Native string      // the engine's own type
}

// Rows are the rows of a result, read batch by batch. They must not be used concurrently.
type Rows struct {
	columns []Column
	source  Source
	ctx     context.Context
	batch   *Batch
	row     int
	err     error
	ended   bool
	closed  bool
}

// Source produces the rows of an engine's result.
type Source interface {
	// Next returns the next rows, nil at the end. They are valid until the next call.
	Next(ctx context.Context) (*Batch, error)
	Close() error
}

// Batch is some rows of a result, column by column.
type Batch struct {
	Len     int
	Columns []Vector
}

// Vector is a column of a batch. Which slice is used depends on the column's type: Int64s for BIGINT and TIMESTAMP. Strings are
// never the engine's own memory; the other slices may be, and their values for NULLs are undefined.
type Vector struct {
	Valid    []uint64 // a bit per row, 0 for NULL; nil if there are no NULLs
	Bools    []bool
	Int64s   []int64
	Int32s   []int32
	Float64s []float64
	Strings  []string
}

// Null reports whether a row has no value.
func (v *Vector) Null(i int) bool { return v.Valid != nil && v.Valid[i>>6]>>(i&63)&1 == 0 }

// Resized returns a slice of n values, reusing the memory if it suffices. Previous values are lost.
func Resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// NewRows returns the rows of a source; the context is that of the query.
func NewRows(ctx context.Context, columns []Column, source Source) *Rows {
	return &Rows{columns: columns, source: source, ctx: ctx}
}

// Columns returns the result's columns.
func (r *Rows) Columns() []Column { return r.columns }

// Next advances to the next row and reports whether there is one. After false, Err tells why.
func (r *Rows) Next() bool {
	if r.batch != nil && r.row+1 < r.batch.Len {
		r.row++
		return true
	}
	b := r.nextBatch()
	r.row = 0
	return b != nil
}

// nextBatch goes to the next batch that has rows, nil at the end.
func (r *Rows) nextBatch() *Batch {
	r.batch = nil
	for r.err == nil && !r.ended && !r.closed {
		b, err := r.source.Next(r.ctx)
		if err != nil {
			r.err = err
			return nil
		}
		if b == nil {
			r.ended = true // do not call Next of the source again
			return nil
		}
		if b.Len > 0 {
			r.batch = b
			return b
		}
	}
	return nil
}

// Value returns a value of the current row: nil for NULL, else bool, int64, int32, float64, string or schema.Time.
func (r *Rows) Value(column int) any {
	v := &r.batch.Columns[column]
	if v.Null(r.row) {
		return nil
	}
	switch r.columns[column].Type {
	case schema.Bool:
		return v.Bools[r.row]
	case schema.BigInt:
		return v.Int64s[r.row]
	case schema.Int:
		return v.Int32s[r.row]
	case schema.Double:
		return v.Float64s[r.row]
	case schema.String:
		return v.Strings[r.row]
	case schema.Timestamp:
		return schema.Time(v.Int64s[r.row])
	}
	panic(fmt.Sprintf("engine: column type %q", r.columns[column].Type))
}

// Err is the error that ended Next, nil at the end of the rows.
func (r *Rows) Err() error { return r.err }

// Close releases the result. It may be called at any time, repeatedly.
func (r *Rows) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	r.batch = nil
	return r.source.Close()
}

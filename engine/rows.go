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
	Type   schema.Type // what its values come as
	Native string      // the engine's own type
}

// Rows are the rows of a result, read batch by batch. They belong to one goroutine.
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

// Source is where an engine's rows come from.
type Source interface {
	// Next gives the rows after those it gave before, nil at the end. They are valid until the next call.
	Next(ctx context.Context) (*Batch, error)
	Close() error
}

// Batch is some rows of a result, column by column.
type Batch struct {
	Len     int
	Columns []Vector
}

// Vector is a column of a batch. Which slice is used follows from the column's type: Int64s for BIGINT and TIMESTAMP.
// Strings are never the engine's own memory; the rest may be, and what it holds for a NULL means nothing.
type Vector struct {
	Valid    []uint64 // a bit a row, 0 for NULL; nil where nothing is NULL
	Bools    []bool
	Int64s   []int64
	Int32s   []int32
	Float64s []float64
	Strings  []string
}

// Null says that a row has no value.
func (v *Vector) Null(i int) bool { return v.Valid != nil && v.Valid[i>>6]>>(i&63)&1 == 0 }

// Resized is a slice of n values, in the same memory where that suffices, for a source that fills a vector again and
// again. What was in it is lost.
func Resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// NewRows gives the rows of a source; the context is that of the query.
func NewRows(ctx context.Context, columns []Column, source Source) *Rows {
	return &Rows{columns: columns, source: source, ctx: ctx}
}

// Columns are the result's columns.
func (r *Rows) Columns() []Column { return r.columns }

// Next goes to the next row and says whether there is one. After false, Err says why.
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
			r.ended = true // a source is not asked again
			return nil
		}
		if b.Len > 0 {
			r.batch = b
			return b
		}
	}
	return nil
}

// Value is a value of the current row: nil for NULL, else bool, int64, int32, float64, string or schema.Time.
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

// Err is why Next ended, nil at the end of the rows.
func (r *Rows) Err() error { return r.err }

// Close gives back what the result holds. It may be called at any time, and again.
func (r *Rows) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	r.batch = nil
	return r.source.Close()
}

package store

import (
	"context"
	"fmt"

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
	source  source
	ctx     context.Context
	batch   *batch
	row     int
	err     error
	ended   bool
	closed  bool
}

// source is where an engine's rows come from. The batch is valid until the next call; nil is the end.
type source interface {
	next(ctx context.Context) (*batch, error)
	close() error
}

// batch is some rows of a result, column by column.
type batch struct {
	n    int
	cols []vector
}

// vector is a column of a batch. Which slice is used follows from the column's type: ints for BIGINT and TIMESTAMP.
// Strings are never
// the engine's own memory; the rest may be, and what it holds for a NULL means nothing.
type vector struct {
	valid   []uint64 // a bit a row, 0 for NULL; nil where nothing is NULL
	bools   []bool
	ints    []int64
	int32s  []int32
	floats  []float64
	strings []string
}

func (v *vector) null(i int) bool { return v.valid != nil && v.valid[i>>6]>>(i&63)&1 == 0 }

// Columns are the result's columns.
func (r *Rows) Columns() []Column { return r.columns }

// Next goes to the next row and says whether there is one. After false, Err says why.
func (r *Rows) Next() bool {
	if r.batch != nil && r.row+1 < r.batch.n {
		r.row++
		return true
	}
	b := r.nextBatch()
	r.row = 0
	return b != nil
}

// nextBatch goes to the next batch that has rows, nil at the end.
func (r *Rows) nextBatch() *batch {
	r.batch = nil
	for r.err == nil && !r.ended && !r.closed {
		b, err := r.source.next(r.ctx)
		if err != nil {
			r.err = err
			return nil
		}
		if b == nil {
			r.ended = true // a source is not asked again
			return nil
		}
		if b.n > 0 {
			r.batch = b
			return b
		}
	}
	return nil
}

// Value is a value of the current row: nil for NULL, else bool, int64, int32, float64, string or schema.Time.
func (r *Rows) Value(column int) any {
	v := &r.batch.cols[column]
	if v.null(r.row) {
		return nil
	}
	switch r.columns[column].Type {
	case schema.Bool:
		return v.bools[r.row]
	case schema.BigInt:
		return v.ints[r.row]
	case schema.Int:
		return v.int32s[r.row]
	case schema.Double:
		return v.floats[r.row]
	case schema.String:
		return v.strings[r.row]
	case schema.Timestamp:
		return schema.Time(v.ints[r.row])
	}
	panic(fmt.Sprintf("store: column type %q", r.columns[column].Type))
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
	return r.source.close()
}

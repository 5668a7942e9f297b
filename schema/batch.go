package schema

import (
	"reflect"
	"slices"
	"unsafe"
)

// Batch is rows of one table, for code that treats all tables alike. Reflection is needed once per batch, not per row.
type Batch struct {
	table *Table
	rows  reflect.Value // a slice of table.Row
}

// BatchOf returns rows as a batch that shares them. It panics if R is not a row type, as TableOf does.
func BatchOf[R any](rows []R) Batch { return Batch{TableOf[R](), reflect.ValueOf(rows)} }

// Batch returns a slice of the table's rows as a batch.
func (t *Table) Batch(rows reflect.Value) Batch { return Batch{t, rows} }

// RowsOf returns the rows of a batch, or false if they are not of type R.
func RowsOf[R any](b Batch) ([]R, bool) {
	rows, ok := b.rows.Interface().([]R)
	return rows, ok
}

// Table returns the table of the rows.
func (b Batch) Table() *Table { return b.table }

// Len returns the number of rows.
func (b Batch) Len() int { return b.rows.Len() }

// Row returns the i-th row, a struct that can be set.
func (b Batch) Row(i int) reflect.Value { return b.rows.Index(i) }

// Pointer points to the first row; the others follow at intervals of Table().Row.Size().
func (b Batch) Pointer() unsafe.Pointer { return b.rows.UnsafePointer() }

// Slice returns the rows from index from up to, but not including, to. They are shared.
func (b Batch) Slice(from, to int) Batch { return Batch{b.table, b.rows.Slice(from, to)} }

// Clone copies the rows, but not the bytes of their strings.
func (b Batch) Clone() Batch {
	rows := reflect.MakeSlice(b.rows.Type(), b.Len(), b.Len())
	reflect.Copy(rows, b.rows)
	return Batch{b.table, rows}
}

// AddTo appends the rows to their table of a trace. It returns false if a Trace has no such table.
func (b Batch) AddTo(t *Trace) bool {
	i := slices.Index(traceTables, b.table)
	if i < 0 {
		return false
	}
	to := t.rows(i)
	to.Set(reflect.AppendSlice(to, b.rows))
	return true
}

// textBytes is what Size counts for a string: interned names are rarely longer.
const textBytes = 16

// Size estimates how many bytes of memory the rows take.
func (b Batch) Size() int64 {
	row := int64(b.table.Row.Size())
	for _, c := range b.table.Columns {
		if c.Type == String {
			row += textBytes
		}
	}
	return row * int64(b.Len())
}

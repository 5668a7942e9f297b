package schema

import (
	"reflect"
	"slices"
	"unsafe"
)

// Batch is rows of one table, for code that treats all tables alike. It costs some reflection a batch and none a row.
type Batch struct {
	table *Table
	rows  reflect.Value // a slice of table.Row
}

// BatchOf is a batch of rows, which it shares with the caller. It panics when R is not a row type, as TableOf does.
func BatchOf[R any](rows []R) Batch { return Batch{TableOf[R](), reflect.ValueOf(rows)} }

// Batch is a batch of a slice of the table's rows.
func (t *Table) Batch(rows reflect.Value) Batch { return Batch{t, rows} }

// RowsOf gives the rows of a batch, or false where they are not R.
func RowsOf[R any](b Batch) ([]R, bool) {
	rows, ok := b.rows.Interface().([]R)
	return rows, ok
}

// Table is the table of the rows.
func (b Batch) Table() *Table { return b.table }

// Len is the number of rows.
func (b Batch) Len() int { return b.rows.Len() }

// Row is the i-th row, a struct that can be set.
func (b Batch) Row(i int) reflect.Value { return b.rows.Index(i) }

// Pointer points to the first row; the others follow at the distance of Table().Row.Size().
func (b Batch) Pointer() unsafe.Pointer { return b.rows.UnsafePointer() }

// Slice is the rows from one to before another; they are shared.
func (b Batch) Slice(from, to int) Batch { return Batch{b.table, b.rows.Slice(from, to)} }

// Clone copies the rows, but not the text in them.
func (b Batch) Clone() Batch {
	rows := reflect.MakeSlice(b.rows.Type(), b.Len(), b.Len())
	reflect.Copy(rows, b.rows)
	return Batch{b.table, rows}
}

// AddTo appends the rows to their table of a trace. It reports false when they are of none that a Trace holds.
func (b Batch) AddTo(t *Trace) bool {
	i := slices.Index(traceTables, b.table)
	if i < 0 {
		return false
	}
	to := t.rows(i)
	to.Set(reflect.AppendSlice(to, b.rows))
	return true
}

// textBytes is what Size counts for a text: interned names are rarely longer.
const textBytes = 16

// Size is about how many bytes of memory the rows hold.
func (b Batch) Size() int64 {
	row := int64(b.table.Row.Size())
	for _, c := range b.table.Columns {
		if c.Type == String {
			row += textBytes
		}
	}
	return row * int64(b.Len())
}

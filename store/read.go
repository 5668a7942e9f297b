package store

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"unsafe"

	"straggler/schema"
)

// Read runs a query and scans its rows into structs by the names in their `col` tags; columns without a field are
// ignored. A field that is not a schema.Null must not meet a NULL. The row is overwritten by the next but one step at
// the earliest: copy what is to be kept.
func Read[R any](ctx context.Context, eng Engine, sql string) iter.Seq2[*R, error] {
	return func(yield func(*R, error) bool) {
		rows, err := eng.Query(ctx, sql)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		fields, err := match(rows.columns, reflect.TypeFor[R]())
		if err != nil {
			yield(nil, err)
			return
		}
		var buf []R
		for b := rows.nextBatch(); b != nil; b = rows.nextBatch() {
			if cap(buf) < b.n {
				buf = make([]R, b.n)
			}
			buf = buf[:b.n]
			for i := range fields {
				if err := fields[i].fill(unsafe.Pointer(unsafe.SliceData(buf)), unsafe.Sizeof(*new(R)), b); err != nil {
					yield(nil, err)
					return
				}
			}
			for i := range buf {
				if !yield(&buf[i], nil) {
					return
				}
			}
		}
		if rows.err != nil {
			yield(nil, rows.err)
		}
	}
}

// field is a struct field that a column goes into.
type field struct {
	schema.Column
	column  int
	validAt uintptr
}

// match finds the column for each field of a struct.
func match(columns []Column, typ reflect.Type) ([]field, error) {
	at := make(map[string]int)
	for i, c := range columns {
		if _, twice := at[c.Name]; twice {
			at[c.Name] = -1
		} else {
			at[c.Name] = i
		}
	}
	var fields []field
	for _, c := range schema.Columns(typ) {
		i, ok := at[c.Name]
		switch {
		case !ok:
			return nil, fmt.Errorf("store: reading %v: the query has no column %s", typ, c.Name)
		case i < 0:
			return nil, fmt.Errorf("store: reading %v: the query has several columns %s", typ, c.Name)
		case !fits(columns[i].Type, c.Type):
			return nil, fmt.Errorf("store: reading %v: column %s is %s (%s) and the field takes %s; cast it in the query",
				typ, c.Name, columns[i].Type, columns[i].Native, c.Type)
		}
		fields = append(fields, field{Column: c, column: i, validAt: c.Offset() + sizes[c.Type]})
	}
	return fields, nil
}

// fits says whether values of a column can be put into a field as they are: the same type, or a wider one.
func fits(column, field schema.Type) bool {
	return column == field || column == schema.Int && field == schema.BigInt
}

// fill puts a batch of one column into the rows that start at p.
func (f *field) fill(p unsafe.Pointer, stride uintptr, b *batch) error {
	v := &b.cols[f.column]
	at := unsafe.Add(p, f.Offset())
	switch f.Type {
	case schema.Bool:
		spread(at, stride, v.bools)
	case schema.Int:
		spread(at, stride, v.int32s)
	case schema.BigInt:
		if v.ints == nil && v.int32s != nil {
			for i, x := range v.int32s {
				*(*int64)(unsafe.Add(at, uintptr(i)*stride)) = int64(x)
			}
			break
		}
		spread(at, stride, v.ints)
	case schema.Timestamp:
		spread(at, stride, v.ints)
	case schema.Double:
		spread(at, stride, v.floats)
	case schema.String:
		spread(at, stride, v.strings)
	}
	return f.fillValid(p, stride, b.n, v)
}

// fillValid says which values there are, and clears the others.
func (f *field) fillValid(p unsafe.Pointer, stride uintptr, n int, v *vector) error {
	if v.valid == nil && !f.Nullable {
		return nil
	}
	for i := range n {
		row := unsafe.Add(p, uintptr(i)*stride)
		null := v.null(i)
		if f.Nullable {
			*(*bool)(unsafe.Add(row, f.validAt)) = !null
		} else if null {
			return fmt.Errorf("store: column %s is NULL, and the field can not be; make it a schema.Null", f.Name)
		}
		if null {
			at := unsafe.Add(row, f.Offset())
			if f.Type == schema.String {
				*(*string)(at) = ""
			} else {
				clear(unsafe.Slice((*byte)(at), sizes[f.Type]))
			}
		}
	}
	return nil
}

func spread[T any](at unsafe.Pointer, stride uintptr, values []T) {
	for i, x := range values {
		*(*T)(unsafe.Add(at, uintptr(i)*stride)) = x
	}
}

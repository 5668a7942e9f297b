package engine

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"unsafe"

	"straggler/schema"
)

// Read runs a query and scans its rows into structs by the names in their `col` tags; columns without a field are ignored. A
// field that is not a schema.Null must not meet a NULL. A row may be overwritten from the next but one step on: copy what must
// be kept.
func Read[R any](ctx context.Context, eng Engine, sql string) iter.Seq2[*R, error] {
	return func(yield func(*R, error) bool) {
		for batch, err := range scan(ctx, eng, reflect.TypeFor[R](), sql) {
			if err != nil {
				yield(nil, err)
				return
			}
			rows := batch.Interface().([]R)
			for i := range rows {
				if !yield(&rows[i], nil) {
					return
				}
			}
		}
	}
}

// ReadBatches is Read for a table whose row type the caller does not know statically. A batch is overwritten by the next.
func ReadBatches(ctx context.Context, eng Engine, t *schema.Table, sql string) iter.Seq2[schema.Batch, error] {
	return func(yield func(schema.Batch, error) bool) {
		for rows, err := range scan(ctx, eng, t.Row, sql) {
			if err != nil {
				yield(schema.Batch{}, err)
				return
			}
			if !yield(t.Batch(rows), nil) {
				return
			}
		}
	}
}

// scan runs a query and yields its rows as slices of structs.
func scan(ctx context.Context, eng Engine, row reflect.Type, sql string) iter.Seq2[reflect.Value, error] {
	return func(yield func(reflect.Value, error) bool) {
		rows, err := query(ctx, eng, sql)
		if err != nil {
			yield(reflect.Value{}, err)
			return
		}
		defer rows.Close()
		fields, err := match(rows.columns, row)
		if err != nil {
			yield(reflect.Value{}, err)
			return
		}
		buf := reflect.MakeSlice(reflect.SliceOf(row), 0, 0)
		for b := rows.nextBatch(); b != nil; b = rows.nextBatch() {
			if buf.Cap() < b.Len {
				buf = reflect.MakeSlice(buf.Type(), b.Len, b.Len)
			}
			buf = buf.Slice(0, b.Len)
			for i := range fields {
				if err := fields[i].fill(buf.UnsafePointer(), row.Size(), b); err != nil {
					yield(reflect.Value{}, err)
					return
				}
			}
			if !yield(buf, nil) {
				return
			}
		}
		if rows.err != nil {
			yield(reflect.Value{}, rows.err)
		}
	}
}

// query runs one of the program's own queries, whose results are not much larger than the tables.
func query(ctx context.Context, eng Engine, sql string) (*Rows, error) {
	if g, ok := eng.(Gatherer); ok && g.Few() {
		return g.Gather(ctx, sql)
	}
	return eng.Query(ctx, sql)
}

// sizes are the sizes of values in a row, and so where OK follows V in a Null.
var sizes = map[schema.Type]uintptr{
	schema.Bool: 1, schema.Int: 4, schema.BigInt: 8, schema.Double: 8, schema.Timestamp: 8,
	schema.String: unsafe.Sizeof(""),
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
			return nil, fmt.Errorf("reading %v: the query has no column %s", typ, c.Name)
		case i < 0:
			return nil, fmt.Errorf("reading %v: the query has several columns %s", typ, c.Name)
		case !fits(columns[i].Type, c.Type):
			return nil, fmt.Errorf("reading %v: column %s is %s (%s) and the field takes %s; cast it in the query",
				typ, c.Name, columns[i].Type, columns[i].Native, c.Type)
		}
		fields = append(fields, field{Column: c, column: i, validAt: c.Offset() + sizes[c.Type]})
	}
	return fields, nil
}

// fits reports whether values of a column can be stored in a field: the same type, or a wider one.
func fits(column, field schema.Type) bool {
	return column == field || column == schema.Int && field == schema.BigInt
}

// fill puts a batch of one column into the rows that start at p.
func (f *field) fill(p unsafe.Pointer, stride uintptr, b *Batch) error {
	v := &b.Columns[f.column]
	at := unsafe.Add(p, f.Offset())
	switch f.Type {
	case schema.Bool:
		scatter(at, stride, v.Bools)
	case schema.Int:
		scatter(at, stride, v.Int32s)
	case schema.BigInt:
		if v.Int64s == nil && v.Int32s != nil {
			for i, x := range v.Int32s {
				*(*int64)(unsafe.Add(at, uintptr(i)*stride)) = int64(x)
			}
			break
		}
		scatter(at, stride, v.Int64s)
	case schema.Timestamp:
		scatter(at, stride, v.Int64s)
	case schema.Double:
		scatter(at, stride, v.Float64s)
	case schema.String:
		scatter(at, stride, v.Strings)
	}
	return f.fillValid(p, stride, b.Len, v)
}

// fillValid sets the validity of the values, and clears missing ones.
func (f *field) fillValid(p unsafe.Pointer, stride uintptr, n int, v *Vector) error {
	if v.Valid == nil && !f.Nullable {
		return nil
	}
	for i := range n {
		row := unsafe.Add(p, uintptr(i)*stride)
		null := v.Null(i)
		if f.Nullable {
			*(*bool)(unsafe.Add(row, f.validAt)) = !null
		} else if null {
			return fmt.Errorf("column %s is NULL, and the field cannot be; make it a schema.Null", f.Name)
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

func scatter[T any](at unsafe.Pointer, stride uintptr, values []T) {
	for i, x := range values {
		*(*T)(unsafe.Add(at, uintptr(i)*stride)) = x
	}
}

// ReadVectors runs a query and yields its rows column by column, some thousand at a time, streamed on one thread if the engine
// is a Streamer. A batch is overwritten by the next.
func ReadVectors(ctx context.Context, eng Engine, sql string) iter.Seq2[*Batch, error] {
	return vectors(ctx, func(ctx context.Context, sql string) (*Rows, error) {
		if s, ok := eng.(Streamer); ok {
			return s.Stream(ctx, sql)
		}
		return query(ctx, eng, sql)
	}, sql)
}

// GatherVectors is ReadVectors for a query whose rows fit into memory and take longer to compute than to read; a Gatherer
// gathers them.
func GatherVectors(ctx context.Context, eng Engine, sql string) iter.Seq2[*Batch, error] {
	if g, ok := eng.(Gatherer); ok {
		return vectors(ctx, g.Gather, sql)
	}
	return ReadVectors(ctx, eng, sql)
}

func vectors(ctx context.Context, query func(context.Context, string) (*Rows, error), sql string) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		rows, err := query(ctx, sql)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for b := rows.nextBatch(); b != nil; b = rows.nextBatch() {
			if !yield(b, nil) {
				return
			}
		}
		if rows.err != nil {
			yield(nil, rows.err)
		}
	}
}

package parquet

import (
	"unsafe"

	"straggler/schema"
)

// RowGroupRows is the number of rows in a row group: what DuckDB's own files use, and its unit of parallelism.
const RowGroupRows = 122880

// rowGroupText is the size in bytes of strings that ends a row group with fewer rows, so that logs with long strings do not
// take more memory than others.
const rowGroupText = 16 << 20

// Buffer collects the rows of one row group in columns.
type Buffer struct {
	columns []column
	rows    int
	unset   []uintptr // scratch of Append: the flags of columns that have no value yet
}

// NewBuffer returns an empty buffer.
func NewBuffer(columns []schema.Column) *Buffer {
	b := &Buffer{columns: make([]column, len(columns))}
	for i := range columns {
		c := &columns[i]
		b.columns[i] = column{typ: c.Type, nullable: c.Nullable, offset: c.Offset(), flagOffset: c.Offset() + sizes[c.Type]}
	}
	return b
}

// Rows returns the number of rows.
func (b *Buffer) Rows() int { return b.rows }

// Full reports whether the rows fill a row group.
func (b *Buffer) Full() bool {
	text := 0
	for i := range b.columns {
		text += len(b.columns[i].strings.bytes)
	}
	return b.rows >= RowGroupRows || text >= rowGroupText
}

// Reset discards the rows, but keeps the memory.
func (b *Buffer) Reset() {
	for i := range b.columns {
		c := &b.columns[i]
		c.values, c.valid, c.i64, c.i32, c.f64, c.bools = 0, c.valid[:0], c.i64[:0], c.i32[:0], c.f64[:0], c.bools[:0]
		c.strings.reset()
	}
	b.rows = 0
}

// Follow prepares an empty buffer of the same table as another one that was filled before: columns that had too many strings
// for a dictionary there do not use one here.
func (b *Buffer) Follow(former *Buffer) {
	for i := range b.columns {
		b.columns[i].strings.plain = former.columns[i].strings.plain
	}
}

// appendBytes is the number of bytes of rows copied at a time: few enough to still be in the processor's nearest cache when the
// next column is copied.
const appendBytes = 24 << 10

// Append copies the first of n rows of a table, which start at p and are stride bytes apart, and returns how many it took. The
// columns are those of the table and one more, of type BigInt, which is key in each of the rows.
func (b *Buffer) Append(p unsafe.Pointer, stride uintptr, n int, key int64) int {
	n = min(n, max(appendBytes/int(stride), 1), RowGroupRows-b.rows)
	last := len(b.columns) - 1
	b.unset = b.unset[:0]
	for i := range b.columns[:last] {
		if c := &b.columns[i]; c.nullable && c.values == 0 {
			b.unset = append(b.unset, c.flagOffset)
		}
	}
	stillUnset := !anySet(p, stride, n, b.unset)
	for i := range b.columns[:last] {
		c := &b.columns[i]
		if !c.nullable || c.values > 0 || !stillUnset {
			c.append(p, stride, n, b.rows)
		}
	}
	keys := &b.columns[last]
	keys.i64 = extended(keys.i64, n)
	for i := range n {
		keys.i64[b.rows+i] = key
	}
	keys.values += n
	b.rows += n
	return n
}

// anySet reports whether a row has one of the flags set. Most columns of most logs have no value at all, and if a check by rows
// finds no flag of theirs, they need not be checked column by column.
func anySet(p unsafe.Pointer, stride uintptr, n int, flags []uintptr) bool {
	var any uint8
	for i := range n {
		row := unsafe.Add(p, uintptr(i)*stride)
		for _, offset := range flags {
			any |= *(*uint8)(unsafe.Add(row, offset)) // a bool is 0 or 1
		}
	}
	return any != 0
}

// AppendValues adds a row by its values: bool, int32, int64, float64, string or schema.Time, according to the types of the
// columns, or nil for NULL. It panics on others.
func (b *Buffer) AppendValues(value func(column int) any) {
	for i := range b.columns {
		c, v := &b.columns[i], value(i)
		if v == nil {
			var null schema.Null[string] // the largest
			c.append(unsafe.Pointer(&null), unsafe.Sizeof(null), 1, b.rows)
			continue
		}
		switch c.typ {
		case schema.Bool:
			appendOne(c, v.(bool), b.rows)
		case schema.Int:
			appendOne(c, v.(int32), b.rows)
		case schema.BigInt:
			appendOne(c, v.(int64), b.rows)
		case schema.Timestamp:
			appendOne(c, v.(schema.Time), b.rows)
		case schema.Double:
			appendOne(c, v.(float64), b.rows)
		case schema.String:
			appendOne(c, v.(string), b.rows)
		}
	}
	b.rows++
}

// appendOne adds a value to a column that is not a field of a row, and has the offset 0.
func appendOne[T any](c *column, v T, there int) {
	some := schema.Some(v)
	c.append(unsafe.Pointer(&some), unsafe.Sizeof(some), 1, there)
}

// column is one column of a buffer. Most columns of most logs are NULL in every row: nothing is stored for them up to the first
// value. From then on exactly one of the slices is used, in which NULL rows have arbitrary values.
type column struct {
	typ        schema.Type
	nullable   bool
	offset     uintptr // of the value in the row
	flagOffset uintptr // of Null.OK in the row

	values  int    // rows that are not NULL
	valid   []bool // which rows these are; empty if all, or none
	i64     []int64
	i32     []int32
	f64     []float64
	bools   []bool
	strings dictionary
}

// sizes are the sizes of values in a row, and so the offset of OK after V in a Null.
var sizes = map[schema.Type]uintptr{
	schema.Bool: 1, schema.Int: 4, schema.BigInt: 8, schema.Double: 8, schema.Timestamp: 8,
	schema.String: unsafe.Sizeof(""),
}

// append copies n rows after the existing ones.
func (c *column) append(p unsafe.Pointer, stride uintptr, n, there int) {
	values := n
	if c.nullable {
		values = countSet(unsafe.Add(p, c.flagOffset), stride, n)
		if c.values == 0 && values == 0 {
			return
		}
		if c.values == 0 {
			c.appendNulls(there)
		}
		if c.values+values < there+n {
			for len(c.valid) < there {
				c.valid = append(c.valid, c.values > 0)
			}
			c.valid = gather(c.valid, unsafe.Add(p, c.flagOffset), stride, n)
		}
	}
	c.values += values
	if values == 0 {
		c.appendNulls(n)
		return
	}
	at := unsafe.Add(p, c.offset)
	switch c.typ {
	case schema.BigInt, schema.Timestamp:
		c.i64 = gather(c.i64, at, stride, n)
	case schema.Int:
		c.i32 = gather(c.i32, at, stride, n)
	case schema.Double:
		c.f64 = gather(c.f64, at, stride, n)
	case schema.Bool:
		c.bools = gather(c.bools, at, stride, n)
	case schema.String:
		c.appendStrings(p, stride, n)
	}
}

// countSet counts the rows whose flag is set.
func countSet(flags unsafe.Pointer, stride uintptr, n int) (set int) {
	for i := range n {
		set += int(*(*uint8)(unsafe.Add(flags, uintptr(i)*stride))) // a bool is 0 or 1
	}
	return set
}

func (c *column) appendNulls(n int) {
	switch c.typ {
	case schema.BigInt, schema.Timestamp:
		c.i64 = extended(c.i64, n)
	case schema.Int:
		c.i32 = extended(c.i32, n)
	case schema.Double:
		c.f64 = extended(c.f64, n)
	case schema.Bool:
		c.bools = extended(c.bools, n)
	case schema.String:
		k := len(c.strings.rows)
		c.strings.rows = extended(c.strings.rows, n)
		clear(c.strings.rows[k:])
	}
}

func (c *column) appendStrings(p unsafe.Pointer, stride uintptr, n int) {
	d := &c.strings
	k := len(d.rows)
	d.rows = extended(d.rows, n)
	var last string
	id := int32(-1)
	for i := range n {
		row := unsafe.Add(p, uintptr(i)*stride)
		d.rows[k+i] = 0
		if c.nullable && !*(*bool)(unsafe.Add(row, c.flagOffset)) {
			continue
		}
		s := *(*string)(unsafe.Add(row, c.offset))
		if id < 0 || d.plain || unsafe.StringData(s) != unsafe.StringData(last) || len(s) != len(last) {
			id, last = d.entryOf(s), s
		}
		d.rows[k+i] = id
	}
}

func gather[T any](dst []T, at unsafe.Pointer, stride uintptr, n int) []T {
	k := len(dst)
	dst = extended(dst, n)
	out := dst[k:]
	for i := range out {
		out[i] = *(*T)(unsafe.Add(at, uintptr(i)*stride))
	}
	return dst
}

// extended adds n uninitialised rows.
func extended[T any](s []T, n int) []T {
	n += len(s)
	if n > cap(s) {
		more := make([]T, len(s), max(n, min(8*cap(s), RowGroupRows), 256))
		copy(more, s)
		s = more
	}
	return s[:n]
}

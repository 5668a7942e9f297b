package canonical

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"straggler/ingest/read"
	"straggler/ingest/read/pull"
	"straggler/schema"
)

// filer puts the values of one file into rows of its table. It is used by one goroutine.
type filer struct {
	table     *schema.Table
	columns   []*slot          // by position in the file; nil if the table has no such column
	names     map[string]*slot // by name, for JSON
	at        map[string]*slot // all columns of the table by name
	keys      []*slot          // key columns, in the order of the table
	refers    []string         // the table that each of them refers to
	task      *slot            // columns whose absence has consequences
	quality   *slot
	number    *slot
	complete  *slot
	unknown   []string // columns of the file that the table does not have
	delimiter byte     // 0 of JSON lines
	text      read.Interner
	instants  instants
	pull      pull.Puller
	fields    [][]byte
	buf       []byte
}

// slot is a column and the location of its value in the Go row.
type slot struct {
	*schema.Column
	index int     // in the table
	known uintptr // offset of the flag of a Null
	key   int     // index among the table's key columns; -1 for others
}

// nullFlag has the offset of the flag of a Null after its value.
var nullFlag = map[schema.Type]uintptr{
	schema.Bool:      unsafe.Offsetof(schema.Null[bool]{}.OK),
	schema.Int:       unsafe.Offsetof(schema.Null[int32]{}.OK),
	schema.BigInt:    unsafe.Offsetof(schema.Null[int64]{}.OK),
	schema.Double:    unsafe.Offsetof(schema.Null[float64]{}.OK),
	schema.String:    unsafe.Offsetof(schema.Null[string]{}.OK),
	schema.Timestamp: unsafe.Offsetof(schema.Null[schema.Time]{}.OK),
}

// newFiler returns one for a file with these columns; JSON lines name theirs line by line.
func newFiler(t *schema.Table, columns []string, delimiter byte) *filer {
	f := &filer{table: t, at: map[string]*slot{}, delimiter: delimiter}
	for i := range t.Columns {
		c := &t.Columns[i]
		s := &slot{Column: c, index: i, key: -1}
		if c.Nullable {
			s.known = c.Offset() + nullFlag[c.Type]
		}
		if c.Key != "" && c.Type == schema.BigInt {
			s.key = keyColumns(t, i)
			f.keys, f.refers = append(f.keys, s), append(f.refers, referred(t, c))
		}
		f.at[c.Name] = s
	}
	f.names = f.at
	f.task, f.quality, f.number, f.complete = f.at["task"], f.at["quality"], f.at["number"], f.at["complete"]
	for _, name := range columns {
		s := f.at[strings.TrimSpace(name)]
		f.columns = append(f.columns, s)
		if s == nil {
			f.unknown = append(f.unknown, name)
		}
	}
	return f
}

// batch is the rows of a block, with the text of their keys.
type batch struct {
	rows    reflect.Value // a slice; only the first n rows are valid
	n       int
	begun   int        // rows that are or were filled in; the last may have been rejected
	perRow  int        // keys
	keys    []string   // of all rows
	set     []uint64   // by row, a bit for each column that has a value
	where   []position // by row
	unknown []string   // members of JSON that the table does not have
	decoded int64
	rejects []schema.Reject
}

// position is the location of a row in its file.
type position struct{ line, offset int64 }

func (b *batch) reset(t *schema.Table) {
	if !b.rows.IsValid() || b.rows.Type().Elem() != t.Row {
		b.rows = reflect.MakeSlice(reflect.SliceOf(t.Row), 64, 64)
		b.perRow = keyColumns(t, len(t.Columns))
	}
	clear(b.keys)
	b.rows.Slice(0, min(b.n+1, b.rows.Len())).Clear() // including the row begun last
	b.n, b.keys, b.set, b.where, b.unknown = 0, b.keys[:0], b.set[:0], b.where[:0], b.unknown[:0]
	b.begun, b.decoded, b.rejects = 0, 0, b.rejects[:0]
}

// keyColumns returns the number of the table's first columns that are keys.
func keyColumns(t *schema.Table, columns int) (n int) {
	for _, c := range t.Columns[:columns] {
		if c.Key != "" && c.Type == schema.BigInt {
			n++
		}
	}
	return n
}

// begin returns the row after the last one, empty except for what a rejected row left in it.
func (b *batch) begin() unsafe.Pointer {
	if b.n == b.rows.Len() {
		more := reflect.MakeSlice(b.rows.Type(), 2*b.n, 2*b.n)
		reflect.Copy(more, b.rows)
		b.rows = more
	}
	b.keys, b.set = b.keys[:b.n*b.perRow], b.set[:b.n]
	for range b.perRow {
		b.keys = append(b.keys, "")
	}
	b.set = append(b.set, 0)
	if b.begun == b.n+1 {
		b.rows.Index(b.n).SetZero()
	}
	b.begun = b.n + 1
	return unsafe.Add(b.rows.UnsafePointer(), uintptr(b.n)*b.rows.Type().Elem().Size())
}

func (f *filer) csv(record []byte, out *batch) (err error) {
	f.buf = f.buf[:0]
	if f.fields, err = splitRecord(record, f.delimiter, f.fields[:0], &f.buf); err != nil {
		return err
	}
	if len(f.fields) != len(f.columns) {
		return fmt.Errorf("%d fields, the header has %d", len(f.fields), len(f.columns))
	}
	row := out.begin()
	for i, text := range f.fields {
		if c := f.columns[i]; c != nil {
			if err := f.put(row, out, c, text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *filer) json(record []byte, out *batch) error {
	row := out.begin()
	p := &f.pull
	p.Reset(record)
	if p.Peek() != '{' {
		return errors.New("not a JSON object")
	}
	for ok := p.Object(); ok && p.Key(); {
		c := f.names[string(p.Name)]
		if c == nil {
			out.unknown = append(out.unknown, f.text.Text(p.Name))
			p.Skip()
			continue
		}
		var text []byte
		switch p.Peek() {
		case '"':
			text, _ = p.Str()
		case '{', '[':
			return fmt.Errorf("column %s: a list or an object cannot stand in a column", c.Name)
		default:
			if text = p.Literal(); string(text) == "null" {
				continue
			}
		}
		if err := f.value(row, out, c, text); err != nil {
			return err
		}
	}
	if !p.End() {
		return errors.New("not a JSON object: " + p.Why)
	}
	return nil
}

func jsonKeys(line []byte) (names []string) {
	var p pull.Puller
	p.Reset(line)
	for ok := p.Object(); ok && p.Key(); p.Skip() {
		names = append(names, string(p.Name))
	}
	if !p.End() {
		return nil
	}
	slices.Sort(names)
	return names
}

// put sets a value from a CSV field, where an empty field means NULL.
func (f *filer) put(row unsafe.Pointer, out *batch, c *slot, text []byte) error {
	if text = trimmed(text); len(text) == 0 || string(text) == "NULL" {
		return nil
	}
	return f.value(row, out, c, text)
}

// value sets a value that is present, such as one of JSON or Parquet, which have NULL. An empty text means the same as NULL.
func (f *filer) value(row unsafe.Pointer, out *batch, c *slot, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	out.set[out.n] |= 1 << c.index
	if c.key >= 0 {
		at := &out.keys[out.n*out.perRow+c.key]
		if c.Key == "primary" { // all are different
			*at = string(text)
		} else {
			*at = f.text.Text(text)
		}
		return nil
	}
	if err := f.setText(unsafe.Add(row, c.Offset()), c.Column, text); err != nil {
		return fmt.Errorf("column %s: %w", c.Name, err)
	}
	if c.Nullable {
		*(*bool)(unsafe.Add(row, c.known)) = true
	}
	return nil
}

// setText stores a value of the column's type at dst.
func (f *filer) setText(dst unsafe.Pointer, c *schema.Column, b []byte) error {
	if c.Type == schema.String && c.Values == nil {
		*(*string)(dst) = f.text.Text(b)
		return nil
	}
	b = trimmed(b)
	text := unsafe.String(unsafe.SliceData(b), len(b)) // parsed, but not kept
	switch c.Type {
	case schema.String:
		at := slices.Index(c.Values, text)
		if at < 0 {
			return fmt.Errorf("%.40q is not one of %s", text, strings.Join(c.Values, ", "))
		}
		*(*string)(dst) = c.Values[at]
	case schema.Bool:
		v, err := strconv.ParseBool(strings.ToLower(text))
		if err != nil {
			return fmt.Errorf("%.40q is neither true nor false", text)
		}
		*(*bool)(dst) = v
	case schema.Double:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%.40q is not a finite number from 0 on", text)
		}
		*(*float64)(dst) = v
	case schema.BigInt:
		n, err := whole(text)
		if err != nil {
			return err
		}
		*(*int64)(dst) = n
	case schema.Int:
		n, err := whole(text)
		if err != nil || int64(int32(n)) != n {
			return fmt.Errorf("%.40q is not a whole number of 32 bits from 0 on", text)
		}
		*(*int32)(dst) = int32(n)
	case schema.Timestamp:
		t, ok := f.instants.parse(text)
		if !ok {
			return fmt.Errorf("%.40q is not a time such as 2026-01-02 03:04:05.678+00, nor microseconds since 1970", text)
		}
		*(*schema.Time)(dst) = t
	}
	return nil
}

// trimmed is bytes.TrimSpace, faster for the fields with nothing to trim, which most are.
func trimmed(b []byte) []byte {
	plain := func(c byte) bool { return c > ' ' && c < 0x80 }
	if n := len(b); n > 0 && plain(b[0]) && plain(b[n-1]) {
		return b
	}
	return bytes.TrimSpace(b)
}

// whole parses a whole number; data frames write those of a column with NULLs as 12.0.
func whole(text string) (int64, error) {
	n, err := strconv.Atoi(text) // ParseInt with a fast path for most numbers
	if err == nil && n >= 0 {
		return int64(n), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v != math.Trunc(v) || !(v >= 0 && v < 1<<53) {
		return 0, fmt.Errorf("%.40q is not a whole number of 64 bits from 0 on", text)
	}
	return int64(v), nil
}

package store

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"straggler/schema"
)

// groupRows is how many rows are buffered into one row group: what DuckDB's own files use, and its unit of parallelism.
const groupRows = 122880

// buffer holds the columns of at most groupRows rows of one table, the last of them the key of each row's input.
type buffer struct {
	cols []column
	n    int
}

// column is one column of a buffer. Exactly one of the slices is used; a NULL row holds its zero.
type column struct {
	typ      schema.Type
	nullable bool
	offset   uintptr // of the value in the row
	validAt  uintptr // of Null.OK in the row

	valid []bool // nullable columns only
	i64   []int64
	i32   []int32
	f64   []float64
	bools []bool
	text  texts
}

func newBuffer(columns []schema.Column) *buffer {
	b := &buffer{cols: make([]column, len(columns))}
	for i := range columns {
		c := &columns[i]
		b.cols[i] = column{typ: c.Type, nullable: c.Nullable, offset: c.Offset(), validAt: c.Offset() + sizes[c.Type]}
	}
	return b
}

// sizes are the sizes of values in a row, and so where OK follows V in a Null.
var sizes = map[schema.Type]uintptr{
	schema.Bool: 1, schema.Int: 4, schema.BigInt: 8, schema.Double: 8, schema.Timestamp: 8,
	schema.String: unsafe.Sizeof(""),
}

// add copies n rows that start at p and lie stride bytes apart.
func (b *buffer) add(key schema.Key, p unsafe.Pointer, stride uintptr, n int) {
	last := len(b.cols) - 1
	for i := range b.cols[:last] {
		b.cols[i].add(p, stride, n)
	}
	for range n {
		b.cols[last].i64 = append(b.cols[last].i64, key)
	}
	b.n += n
}

func (c *column) add(p unsafe.Pointer, stride uintptr, n int) {
	if c.nullable {
		k := len(c.valid)
		c.valid = gather(c.valid, unsafe.Add(p, c.validAt), stride, n)
		if valid(c.valid[k:]) == 0 { // most columns of most logs: there is nothing to fetch
			c.addNulls(n)
			return
		}
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
		c.addTexts(p, stride, n)
	}
}

// valid counts the rows that have a value.
func valid(flags []bool) int {
	return bytes.Count(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(flags))), len(flags)), []byte{1})
}

func (c *column) addNulls(n int) {
	switch c.typ {
	case schema.BigInt, schema.Timestamp:
		c.i64 = zeros(c.i64, n)
	case schema.Int:
		c.i32 = zeros(c.i32, n)
	case schema.Double:
		c.f64 = zeros(c.f64, n)
	case schema.Bool:
		c.bools = zeros(c.bools, n)
	case schema.String:
		c.text.rows = zeros(c.text.rows, n)
	}
}

func zeros[T any](dst []T, n int) []T {
	k := len(dst)
	dst = slices.Grow(dst, n)[:k+n]
	clear(dst[k:])
	return dst
}

func gather[T any](dst []T, at unsafe.Pointer, stride uintptr, n int) []T {
	k := len(dst)
	dst = slices.Grow(dst, n)[:k+n]
	out := dst[k:]
	for i := range out {
		out[i] = *(*T)(unsafe.Add(at, uintptr(i)*stride))
	}
	return dst
}

func (c *column) addTexts(p unsafe.Pointer, stride uintptr, n int) {
	t := &c.text
	k := len(t.rows)
	t.rows = slices.Grow(t.rows, n)[:k+n]
	for i := range n {
		row := unsafe.Add(p, uintptr(i)*stride)
		t.rows[k+i] = 0
		if !c.nullable || *(*bool)(unsafe.Add(row, c.validAt)) {
			t.rows[k+i] = t.entryOf(*(*string)(unsafe.Add(row, c.offset)))
		}
	}
}

func (b *buffer) textBytes() int {
	n := 0
	for i := range b.cols {
		n += len(b.cols[i].text.bytes)
	}
	return n
}

func (b *buffer) reset() {
	for i := range b.cols {
		c := &b.cols[i]
		c.valid, c.i64, c.i32, c.f64, c.bools = c.valid[:0], c.i64[:0], c.i32[:0], c.f64[:0], c.bools[:0]
		c.text.reset()
	}
	b.n = 0
}

// maxDistinct is how many different strings a dictionary may hold; beyond it strings are written as they are.
const maxDistinct = 16 << 10

// texts are the strings of a column: each row names an entry, and entries lie one after the other in one piece of
// memory. While it interns, equal strings share an entry and the entries are the dictionary that is written.
type texts struct {
	rows  []int32 // entry of each row; anything for NULL
	ends  []int32 // where each entry ends in bytes
	bytes []byte
	known map[string]int32 // nil while nothing is interned
	plain bool             // too many different strings: stop interning, for this buffer and those after it

	recent *[recentTexts]int32 // entries by where their strings lay
}

// recentTexts is a power of two.
const recentTexts = 4096

// entryOf is the number of the entry of s. Formats give one string for equal values mostly, so what lies at the same place
// as before is tried before anything is hashed.
func (t *texts) entryOf(s string) int32 {
	if t.plain {
		return t.addEntry(s)
	}
	if t.recent == nil {
		t.recent = new([recentTexts]int32)
	}
	at := &t.recent[(uintptr(unsafe.Pointer(unsafe.StringData(s)))>>3)%recentTexts]
	if id := *at; int(id) < len(t.ends) && t.entry(id) == s {
		return id
	}
	id, ok := t.known[s]
	if !ok {
		id = t.addEntry(s)
	}
	*at = id
	return id
}

func (t *texts) addEntry(s string) int32 {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD") // Parquet strings are UTF-8, and readers refuse others
		if id, ok := t.known[s]; ok && !t.plain {
			return id
		}
	}
	id := int32(len(t.ends))
	t.bytes = append(t.bytes, s...)
	t.ends = append(t.ends, int32(len(t.bytes)))
	if t.plain {
		return id
	}
	if id == maxDistinct {
		t.plain, t.known = true, nil
		return id
	}
	if t.known == nil {
		t.known = make(map[string]int32)
	}
	t.known[strings.Clone(s)] = id
	return id
}

// entry is valid until the next add.
func (t *texts) entry(id int32) string {
	start := int32(0)
	if id > 0 {
		start = t.ends[id-1]
	}
	return unsafe.String(unsafe.SliceData(t.bytes[start:]), int(t.ends[id]-start))
}

func (t *texts) reset() {
	clear(t.known)
	t.rows, t.ends, t.bytes = t.rows[:0], t.ends[:0], t.bytes[:0]
}

// clustered gives the order that puts rows of equal value together, groups in the order of their first row and rows of
// a group in theirs. It is nil when they lie so already. It uses the memory of *order.
func clustered(values []int64, order *[]int32) []int32 {
	first := make(map[int64]int32)
	var counts []int32
	groups := make([]int32, len(values))
	together := true
	last := int32(-1)
	for i, v := range values {
		if i > 0 && v == values[i-1] {
			counts[last]++
			groups[i] = last
			continue
		}
		g, ok := first[v]
		if !ok {
			g = int32(len(counts))
			first[v] = g
			counts = append(counts, 0)
		}
		together = together && !ok
		counts[g]++
		groups[i] = g
		last = g
	}
	if together {
		return nil
	}
	at := int32(0)
	for g, n := range counts {
		counts[g] = at
		at += n
	}
	*order = grown(*order, len(values))
	for i, g := range groups {
		(*order)[counts[g]] = int32(i)
		counts[g]++
	}
	return *order
}

package store

import (
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
	seen []uint64 // what the rows that are being added have set
}

// column is one column of a buffer. Most columns of most logs are NULL in every row: up to the first value nothing is
// kept of them. From then on exactly one of the slices is used, in which a NULL row holds anything.
type column struct {
	typ      schema.Type
	nullable bool
	offset   uintptr // of the value in the row
	validAt  uintptr // of Null.OK in the row

	values int    // rows that are not NULL
	valid  []bool // which they are; empty where all are, or none
	i64    []int64
	i32    []int32
	f64    []float64
	bools  []bool
	text   texts
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
	b.look(p, stride, n)
	for i := range b.cols[:last] {
		c := &b.cols[i]
		if !c.nullable || c.values > 0 || *(*bool)(unsafe.Add(unsafe.Pointer(&b.seen[0]), c.validAt)) {
			c.add(p, stride, n, b.n)
		}
	}
	keys := &b.cols[last]
	keys.i64 = extended(keys.i64, n)
	for i := range n {
		keys.i64[b.n+i] = key
	}
	keys.values += n
	b.n += n
}

// look lays rows one upon the other, word by word: flags that none of them sets, which are most, need not be looked at
// column by column. All rows have a field of 8 bytes, and so consist of whole words.
func (b *buffer) look(p unsafe.Pointer, stride uintptr, n int) {
	words := int(stride / 8)
	b.seen = grown(b.seen, words)
	clear(b.seen)
	for row := range slices.Chunk(unsafe.Slice((*uint64)(p), n*words), words) {
		for i, w := range row[:len(b.seen)] {
			b.seen[i] |= w
		}
	}
}

// add copies n rows behind the ones that are there.
func (c *column) add(p unsafe.Pointer, stride uintptr, n, there int) {
	values := n
	if c.nullable {
		values = flagged(unsafe.Add(p, c.validAt), stride, n)
		if c.values == 0 && values == 0 {
			return
		}
		if c.values == 0 {
			c.addNulls(there)
		}
		if c.values+values < there+n {
			for len(c.valid) < there {
				c.valid = append(c.valid, c.values > 0)
			}
			c.valid = gather(c.valid, unsafe.Add(p, c.validAt), stride, n)
		}
	}
	c.values += values
	if values == 0 {
		c.addNulls(n)
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
		c.addTexts(p, stride, n)
	}
}

func (c *column) addNulls(n int) {
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
		k := len(c.text.rows)
		c.text.rows = extended(c.text.rows, n)
		clear(c.text.rows[k:])
	}
}

// flagged counts the rows whose flag is set.
func flagged(at unsafe.Pointer, stride uintptr, n int) (values int) {
	for i := range n {
		values += int(*(*uint8)(unsafe.Add(at, uintptr(i)*stride))) // a bool is 0 or 1
	}
	return values
}

// extended makes room for n rows, which hold anything.
func extended[T any](s []T, n int) []T {
	n += len(s)
	if n > cap(s) {
		more := make([]T, len(s), max(n, min(4*cap(s), groupRows), 256))
		copy(more, s)
		s = more
	}
	return s[:n]
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

func (c *column) addTexts(p unsafe.Pointer, stride uintptr, n int) {
	t := &c.text
	k := len(t.rows)
	t.rows = extended(t.rows, n)
	var last string
	id := int32(-1)
	for i := range n {
		row := unsafe.Add(p, uintptr(i)*stride)
		t.rows[k+i] = 0
		if c.nullable && !*(*bool)(unsafe.Add(row, c.validAt)) {
			continue
		}
		s := *(*string)(unsafe.Add(row, c.offset))
		if id < 0 || t.plain || unsafe.StringData(s) != unsafe.StringData(last) || len(s) != len(last) {
			id, last = t.entryOf(s), s
		}
		t.rows[k+i] = id
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
		c.values, c.valid, c.i64, c.i32, c.f64, c.bools = 0, c.valid[:0], c.i64[:0], c.i32[:0], c.f64[:0], c.bools[:0]
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

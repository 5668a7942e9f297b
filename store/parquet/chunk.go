package parquet

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"straggler/parquetfile"
	"straggler/schema"
)

// A page ends after this many rows, or, if strings have no dictionary, this many bytes. Readers decompress a page as a whole,
// and these are the sizes that parquet-java writes: 20 000 rows, 1 MiB.
const (
	pageRows  = 20 << 10
	pageBytes = 1 << 20
)

// columnChunk is a column of a row group on its way into a file.
type columnChunk struct {
	*scratch
	column *column
	rows   int
	order  []int32 // of the rows; nil: unchanged
	pages  *parquetfile.ChunkWriter

	stats statistics
}

// scratch is memory that the chunks of a file use one after another.
type scratch struct {
	page    []byte
	levels  []int32
	i64     []int64
	i32     []int32
	f64     []float64
	doubles doubles
	runs    runs
	bools   []bool
}

// write writes the pages and computes the statistics.
func (c *columnChunk) write() error {
	col := c.column
	c.stats.nulls = int64(c.rows - col.values)
	switch col.typ {
	case schema.BigInt, schema.Timestamp:
		return c.writeInt64()
	case schema.Int:
		return writeIntegers(c, &c.i32, col.i32)
	case schema.Double:
		return c.writeDoubles()
	case schema.Bool:
		return c.writeBools()
	}
	switch {
	case col.values == 0:
		return c.writePages(parquetfile.Plain, func(int, int) {})
	case col.strings.plain:
		return c.writeStrings()
	}
	return c.writeDictionary()
}

func writeIntegers[T int32 | int64](c *columnChunk, out *[]T, values []T) error {
	var b bounds[T]
	err := c.writePages(parquetfile.DeltaBinaryPacked, func(from, to int) {
		page := present(c, out, values, from, to)
		b.extend(page...)
		c.page = appendDelta(c.page, page)
	})
	setIntegers(&c.stats, b)
	return err
}

func (c *columnChunk) writeBools() error {
	var hasFalse, hasTrue bool
	err := c.writePages(parquetfile.Plain, func(from, to int) {
		page := present(c, &c.bools, c.column.bools, from, to)
		hasFalse, hasTrue = hasFalse || slices.Contains(page, false), hasTrue || slices.Contains(page, true)
		c.page = appendBools(c.page, page)
	})
	c.stats.setBools(hasFalse, hasTrue)
	return err
}

// writeStrings writes strings without a dictionary.
func (c *columnChunk) writeStrings() error {
	d := &c.column.strings
	var b bounds[string]
	for from := 0; from < c.rows; {
		to := from
		for size := 0; to < c.rows && to-from < pageRows && size < pageBytes; to++ {
			size += len(d.entry(d.rows[c.row(to)]))
		}
		c.begin(from, to)
		for _, id := range present(c, &c.i32, d.rows, from, to) {
			s := d.entry(id)
			b.extend(s)
			c.page = appendString(c.page, s)
		}
		if err := c.end(to-from, parquetfile.Plain); err != nil {
			return err
		}
		from = to
	}
	c.stats.setStrings(b)
	return nil
}

// writeDictionary writes the entries of the dictionary, and the number of each row's entry.
func (c *columnChunk) writeDictionary() error {
	d := &c.column.strings
	var b bounds[string]
	c.page = c.page[:0]
	for id := range d.ends {
		s := d.entry(int32(id))
		b.extend(s)
		c.page = appendString(c.page, s)
	}
	c.stats.setStrings(b)
	return c.writeNumbers(len(d.ends), minRLERun, func(from, to int) []int32 { return present(c, &c.i32, d.rows, from, to) })
}

// writeNumbers writes the dictionary that is in page, and the numbers of the entries of the rows from to to that have a value.
// Runs of minRun of them are run-length encoded.
func (c *columnChunk) writeNumbers(entries, minRun int, numbers func(from, to int) []int32) error {
	if err := c.pages.Dictionary(c.page, entries); err != nil {
		return err
	}
	width := max(1, bits.Len(uint(entries-1)))
	return c.writePages(parquetfile.RLEDictionary, func(from, to int) {
		c.page = append(c.page, byte(width))
		c.page = appendHybrid(c.page, numbers(from, to), width, minRun)
	})
}

// writePages writes the pages of the column; add appends the values of the rows from to to.
func (c *columnChunk) writePages(encoding parquetfile.Encoding, add func(from, to int)) error {
	for from := 0; from < c.rows; {
		to := min(from+pageRows, c.rows)
		if c.column.values == 0 { // a single page is enough for all
			to = c.rows
		}
		c.begin(from, to)
		add(from, to)
		if err := c.end(to-from, encoding); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// begin starts a data page with the definition levels of its rows: 1 = a value, 0 = NULL.
func (c *columnChunk) begin(from, to int) {
	c.page = c.page[:0]
	if !c.column.nullable {
		return
	}
	c.page = append(c.page, 0, 0, 0, 0)
	switch c.column.values {
	case 0:
		c.page = appendRLE(c.page, 0, to-from, 1)
	case c.rows:
		c.page = appendRLE(c.page, 1, to-from, 1)
	default:
		c.levels = resized(c.levels, to-from)
		for i := range c.levels {
			c.levels[i] = 0
			if c.column.valid[c.row(from+i)] {
				c.levels[i] = 1
			}
		}
		c.page = appendHybrid(c.page, c.levels, 1, minRLERun)
	}
	binary.LittleEndian.PutUint32(c.page, uint32(len(c.page)-4))
}

// end writes the data page.
func (c *columnChunk) end(rows int, encoding parquetfile.Encoding) error {
	return c.pages.Data(c.page, rows, encoding)
}

// present returns the values of the rows from to to, in the order in which they are written, without NULLs.
func present[T any](c *columnChunk, out *[]T, values []T, from, to int) []T {
	switch {
	case c.column.values == 0:
		return nil
	case c.column.values == c.rows && c.order == nil:
		return values[from:to]
	}
	*out = resized(*out, to-from)
	o, n := *out, 0
	for i := from; i < to; i++ {
		if r := c.row(i); c.column.values == c.rows || c.column.valid[r] {
			o[n] = values[r]
			n++
		}
	}
	return o[:n]
}

// row returns the row of the buffer that is written as the i-th.
func (c *columnChunk) row(i int) int {
	if c.order == nil {
		return i
	}
	return int(c.order[i])
}

// resized returns a slice of n arbitrary values.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

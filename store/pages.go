package store

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"straggler/schema"
)

// A page ends after so many rows, or, where strings are written as they are, so many bytes.
const (
	pageRows  = 20 << 10
	pageBytes = 1 << 20
)

// chunk is a column of a row group on its way into a file.
type chunk struct {
	*scratch
	column *column
	rows   int
	order  []int32 // of the rows; nil: as they are
	pages  pqfile.PageWriter

	dictionary bool
	stats      metadata.EncodedStatistics
}

// scratch is what chunks of a table are written through, one after the other.
type scratch struct {
	page   []byte       // before it is compressed
	packed bytes.Buffer // and after
	levels []int32
	i64    []int64
	i32    []int32
	f64    []float64
	bools  []bool
}

func (c *chunk) write() error {
	switch col := c.column; col.typ {
	case schema.BigInt, schema.Timestamp:
		lo, hi, err := writeNumbers(c, &c.i64, col.i64)
		c.minMax(binary.LittleEndian.AppendUint64(nil, uint64(lo)), binary.LittleEndian.AppendUint64(nil, uint64(hi)))
		return err
	case schema.Int:
		lo, hi, err := writeNumbers(c, &c.i32, col.i32)
		c.minMax(binary.LittleEndian.AppendUint32(nil, uint32(lo)), binary.LittleEndian.AppendUint32(nil, uint32(hi)))
		return err
	case schema.Double:
		return c.eachPage(parquet.Encodings.Plain, func(from, to int) {
			c.page = appendDoubles(c.page, pick(c, &c.f64, col.f64, from, to))
		})
	case schema.Bool:
		return c.eachPage(parquet.Encodings.Plain, func(from, to int) {
			c.page = appendBools(c.page, pick(c, &c.bools, col.bools, from, to))
		})
	default:
		switch {
		case col.values == 0:
			return c.eachPage(parquet.Encodings.Plain, func(int, int) {})
		case col.text.plain:
			return c.writeTexts()
		}
		return c.writeDictionary()
	}
}

// eachPage writes the pages of the column; add appends the values of the rows from to to.
func (c *chunk) eachPage(encoding parquet.Encoding, add func(from, to int)) error {
	for from := 0; from < c.rows; {
		to := min(from+pageRows, c.rows)
		if c.column.values == 0 { // one page says so of all
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

// begin starts a page with the definition levels of its rows: 1 = a value, 0 = NULL.
func (c *chunk) begin(from, to int) {
	c.page = c.page[:0]
	if !c.column.nullable {
		return
	}
	c.page = append(c.page, 0, 0, 0, 0)
	switch c.column.values {
	case 0:
		c.page = appendRun(c.page, 0, to-from, 1)
	case c.rows:
		c.page = appendRun(c.page, 1, to-from, 1)
	default:
		c.levels = grown(c.levels, to-from)
		for i := range c.levels {
			c.levels[i] = 0
			if c.column.valid[c.row(from+i)] {
				c.levels[i] = 1
			}
		}
		c.page = appendRuns(c.page, c.levels, 1)
	}
	binary.LittleEndian.PutUint32(c.page, uint32(len(c.page)-4))
}

// end writes the page out.
func (c *chunk) end(rows int, encoding parquet.Encoding) error {
	c.packed.Reset()
	packed := c.pages.Compress(&c.packed, c.page)
	rle := parquet.Encodings.RLE // of the levels
	page := pqfile.NewDataPageV1(memory.NewBufferBytes(packed), int32(rows), encoding, rle, rle, int32(len(c.page)))
	defer page.Release()
	_, err := c.pages.WriteDataPage(page)
	return err
}

// row is the row that is written as the i-th.
func (c *chunk) row(i int) int {
	if c.order == nil {
		return i
	}
	return int(c.order[i])
}

// pick gives the values that are written as the rows from to to, without NULLs.
func pick[T any](c *chunk, out *[]T, values []T, from, to int) []T {
	switch {
	case c.column.values == 0:
		return nil
	case c.column.values == c.rows && c.order == nil:
		return values[from:to]
	}
	*out = grown(*out, to-from)
	o, n := *out, 0
	for i := from; i < to; i++ {
		if r := c.row(i); c.column.values == c.rows || c.column.valid[r] {
			o[n] = values[r]
			n++
		}
	}
	return o[:n]
}

func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// writeNumbers gives the least and the greatest of them too, for queries that select ranges.
func writeNumbers[T int32 | int64](c *chunk, out *[]T, values []T) (lo, hi T, err error) {
	first := true
	err = c.eachPage(parquet.Encodings.DeltaBinaryPacked, func(from, to int) {
		page := pick(c, out, values, from, to)
		if first && len(page) > 0 {
			lo, hi, first = page[0], page[0], false
		}
		for _, v := range page {
			lo, hi = min(lo, v), max(hi, v)
		}
		c.page = appendDelta(c.page, page)
	})
	return lo, hi, err
}

func (c *chunk) minMax(lo, hi []byte) {
	c.stats.Signed = true
	c.stats.SetNullCount(int64(c.rows - c.column.values))
	if c.column.values > 0 {
		c.stats.SetMin(lo)
		c.stats.SetMax(hi)
	}
}

// writeTexts writes strings as they are.
func (c *chunk) writeTexts() error {
	t := &c.column.text
	for from := 0; from < c.rows; {
		to := from
		for size := 0; to < c.rows && to-from < pageRows && size < pageBytes; to++ {
			size += len(t.entry(t.rows[c.row(to)]))
		}
		c.begin(from, to)
		for _, id := range pick(c, &c.i32, t.rows, from, to) {
			c.page = appendText(c.page, t.entry(id))
		}
		if err := c.end(to-from, parquet.Encodings.Plain); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// writeDictionary writes the entries, and the number of each row's entry.
func (c *chunk) writeDictionary() error {
	t := &c.column.text
	c.page = c.page[:0]
	for id := range t.ends {
		c.page = appendText(c.page, t.entry(int32(id)))
	}
	page := pqfile.NewDictionaryPage(memory.NewBufferBytes(c.page), int32(len(t.ends)), parquet.Encodings.Plain)
	defer page.Release()
	if _, err := c.pages.WriteDictionaryPage(page); err != nil { // which compresses it
		return err
	}
	c.dictionary = true
	width := max(1, bits.Len(uint(len(t.ends)-1)))
	return c.eachPage(parquet.Encodings.RLEDict, func(from, to int) {
		c.page = append(c.page, byte(width))
		c.page = appendRuns(c.page, pick(c, &c.i32, t.rows, from, to), width)
	})
}

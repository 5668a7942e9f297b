package parquet

import (
	"math"

	"straggler/parquetfile"
)

// doubles numbers the different values of a column of doubles, in the order of their first occurrence. Seconds that a log
// writes to the millisecond have few different values: as numbers of 10 to 16 bits they take a tenth less space than the output
// of zstd for 8 bytes each, and a third of the time to write (BenchmarkRowGroup).
type doubles struct {
	rows   []int32 // entry of each row; arbitrary for NULL
	values []float64
	slots  []int32 // number of an entry + 1, by the hash of its bits; 0: none
}

const (
	// An entry must have three values or more: then numbers of two bytes, and the compressed size of an entry, about 3.5 bytes,
	// take as much as a compressed value.
	fewestPerEntry = 3
	// If all but a sixteenth of this many first values differ, a dictionary is no longer tried.
	firstDoubles = 8 << 10
	// slotBits gives at least six slots per entry: a row group has at most RowGroupRows.
	slotBits = 18
)

// number numbers the values of a column, unless they are too few or differ too much.
func (d *doubles) number(c *column, rows int) bool {
	if c.values < pageRows {
		return false
	}
	d.rows, d.values, d.slots = resized(d.rows, rows), d.values[:0], resized(d.slots, 1<<slotBits)
	clear(d.slots)
	seen, most := 0, c.values/fewestPerEntry
	for i, v := range c.f64[:rows] {
		if c.values < rows && !c.valid[i] {
			continue
		}
		if d.rows[i] = d.entryOf(v); len(d.values) > most {
			return false
		}
		if seen++; seen == firstDoubles && len(d.values) > firstDoubles-firstDoubles/16 {
			return false
		}
	}
	return true
}

// entryOf returns the number of a value; values are equal if their bits are.
func (d *doubles) entryOf(v float64) int32 {
	const fibonacci = 0x9e3779b97f4a7c15 // 2^64 / golden ratio: Knuth, The Art of Computer Programming, vol. 3, §6.4
	bits := math.Float64bits(v)
	for at := bits * fibonacci >> (64 - slotBits); ; at = (at + 1) % (1 << slotBits) {
		switch id := d.slots[at] - 1; {
		case id < 0:
			d.values = append(d.values, v)
			d.slots[at] = int32(len(d.values))
			return int32(len(d.values) - 1)
		case math.Float64bits(d.values[id]) == bits:
			return id
		}
	}
}

// writeDoubles writes a dictionary and the number of each row's entry, or, for a column without one, the values.
func (c *columnChunk) writeDoubles() error {
	var b bounds[float64]
	d := &c.doubles
	if !d.number(c.column, c.rows) {
		err := c.writePages(parquetfile.Plain, func(from, to int) {
			page := present(c, &c.f64, c.column.f64, from, to)
			b.extend(page...)
			c.page = appendDoubles(c.page, page)
		})
		c.stats.setDoubles(b)
		return err
	}
	b.extend(d.values...)
	c.stats.setDoubles(b)
	c.page = appendDoubles(c.page[:0], d.values)
	return c.writeNumbers(len(d.values), minRLERun, func(from, to int) []int32 { return present(c, &c.i32, d.rows, from, to) })
}

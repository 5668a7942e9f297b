package parquetfile

import (
	"encoding/binary"
	"errors"
)

var errDelta = errors.New("a page of differences is damaged")

// delta reads whole numbers from the differences from each to the next (Encodings.md, DELTA_BINARY_PACKED): blocks of
// miniblocks, each of its own bit width, which hold what differences are above the least of their block. Sums wrap around at
// the width of the type.
type delta[T int32 | int64] struct {
	data       []byte // behind the present miniblock
	blocks     int    // miniblocks of a block
	perBlock   int    // values of a miniblock
	values     int    // still to be read
	first      bool
	last       T
	least      T
	widths     []byte // of the block's miniblocks that are still to come
	block      []byte // the present miniblock
	behind     []byte // it, and what follows
	width, bit int
	left       int // of the present miniblock
}

func newDelta[T int32 | int64](data []byte) (*delta[T], error) {
	var head [3]uint64
	for i := range head {
		v, n := binary.Uvarint(data)
		if n <= 0 || v > 1<<31 {
			return nil, errDelta
		}
		head[i], data = v, data[n:]
	}
	first, n := binary.Varint(data)
	size, blocks, values := head[0], head[1], head[2]
	if n <= 0 || blocks == 0 || size%blocks != 0 || size/blocks == 0 || size/blocks%8 != 0 {
		return nil, errDelta
	}
	return &delta[T]{data: data[n:], blocks: int(blocks), perBlock: int(size / blocks), values: int(values), first: true, last: T(first)}, nil
}

// read fills as much of out as there are values for.
func (d *delta[T]) read(out []T) error {
	if len(out) > d.values {
		return errValuesEnd
	}
	d.values -= len(out)
	if d.first && len(out) > 0 {
		d.first = false
		out[0], out = d.last, out[1:]
	}
	for len(out) > 0 {
		if d.left == 0 {
			if err := d.miniblock(); err != nil {
				return err
			}
		}
		n := min(d.left, len(out))
		last, bit := d.last, d.bit
		// a word holds each number, and lies within the page
		if ends := (bit + n*d.width) / 8; d.width <= 56 && ends+8 <= len(d.behind) {
			mask, data := uint64(1)<<d.width-1, d.behind[:ends+8]
			for i := range out[:n] {
				last += d.least + T(binary.LittleEndian.Uint64(data[bit/8:])>>(bit%8)&mask)
				bit += d.width
				out[i] = last
			}
		} else {
			for i := range out[:n] {
				last += d.least + T(unpack(d.block, bit, d.width))
				bit += d.width
				out[i] = last
			}
		}
		d.last, d.bit, d.left = last, bit, d.left-n
		out = out[n:]
	}
	return nil
}

// miniblock goes on to the next one.
func (d *delta[T]) miniblock() error {
	if len(d.widths) == 0 {
		least, n := binary.Varint(d.data)
		if n <= 0 || len(d.data)-n < d.blocks {
			return errDelta
		}
		d.least, d.widths, d.data = T(least), d.data[n:n+d.blocks], d.data[n+d.blocks:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	size := d.perBlock / 8 * d.width
	if d.width > 64 || size > len(d.data) {
		return errDelta
	}
	d.block, d.behind, d.data, d.bit, d.left = d.data[:size:size], d.data, d.data[size:], 0, d.perBlock
	return nil
}

// rest is what follows the numbers, which are read for it by a copy.
func (d *delta[T]) rest() ([]byte, error) {
	c := *d
	var values [256]T
	for c.values > 0 {
		if err := c.read(values[:min(c.values, len(values))]); err != nil {
			return nil, err
		}
	}
	return c.data, nil
}

package parquetfile

import (
	"encoding/binary"
	"errors"
)

var errDelta = errors.New("a page of differences is damaged")

// delta reads integers from the differences between consecutive ones (Encodings.md, DELTA_BINARY_PACKED): blocks of miniblocks,
// each with its own bit width, which store the differences relative to the least one of their block. Sums wrap around at the
// width of the type.
type delta[T int32 | int64] struct {
	data       []byte // after the current miniblock
	blocks     int    // miniblocks of a block
	perBlock   int    // values of a miniblock
	values     int    // still to be read
	first      bool
	last       T
	least      T
	widths     []byte // of the block's remaining miniblocks
	block      []byte // the current miniblock
	behind     []byte // it, and the bytes after it
	width, bit int
	left       int // in the current miniblock
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

// read fills out as far as there are values.
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
		// each number lies within one word, which lies within the page
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

// miniblock advances to the next one.
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

// rest returns the bytes after the numbers, which a copy reads to find their end.
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

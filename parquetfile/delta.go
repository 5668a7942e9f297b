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
	data       []byte
	next       int // of data: after the current miniblock
	blocks     int // miniblocks of a block
	perBlock   int // values of a miniblock
	values     int // still to be read
	first      bool
	last       T
	least      T
	widths     int // of data: the widths of the block's remaining miniblocks
	ends       int // of data: after them
	width, bit int // of the current miniblock, from the start of data
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
		last, bit, least := d.last, d.bit, d.least
		// each number lies within one word, which lies within the page
		switch ends := (bit + n*d.width) / 8; {
		case d.width == 0:
			for i := range out[:n] {
				last += least
				out[i] = last
			}
		case d.width <= 56 && ends+8 <= len(d.data):
			mask, data := uint64(1)<<d.width-1, d.data[:ends+8]
			for i := range out[:n] {
				last += least + T(binary.LittleEndian.Uint64(data[bit/8:])>>(bit%8)&mask)
				bit += d.width
				out[i] = last
			}
		default:
			for i := range out[:n] {
				last += least + T(unpack(d.data[:d.next], bit, d.width))
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
	if d.widths == d.ends {
		least, n := binary.Varint(d.data[d.next:])
		if n <= 0 || len(d.data)-d.next-n < d.blocks {
			return errDelta
		}
		d.least, d.widths = T(least), d.next+n
		d.ends = d.widths + d.blocks
		d.next = d.ends
	}
	d.width = int(d.data[d.widths])
	d.widths++
	size := d.perBlock / 8 * d.width
	if d.width > 64 || size > len(d.data)-d.next {
		return errDelta
	}
	d.bit, d.left = 8*d.next, d.perBlock
	d.next += size
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
	return c.data[c.next:], nil
}

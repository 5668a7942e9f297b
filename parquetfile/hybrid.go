package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errValuesEnd = errors.New("a page has fewer values than it says")

// hybrid reads numbers of a fixed bit width from runs of one value and of packed bits (Encodings.md, RLE).
type hybrid[T int16 | int32] struct {
	data  []byte // after the current run's header
	width int
	left  int // in the current run
	value T   // of a run of one value
	// of a run of packed bits:
	packed []byte
	behind []byte // it, and the bytes after it
	bit    int
}

func newHybrid[T int16 | int32](data []byte, width int) (hybrid[T], error) {
	if width > 32 {
		return hybrid[T]{}, fmt.Errorf("numbers of %d bits", width)
	}
	return hybrid[T]{data: data, width: width}, nil
}

// read fills out.
func (h *hybrid[T]) read(out []T) error {
	for len(out) > 0 {
		if h.left == 0 {
			if err := h.run(); err != nil {
				return err
			}
		}
		n := min(len(out), h.left)
		if h.packed == nil {
			for i := range out[:n] {
				out[i] = h.value
			}
		} else {
			unpackAll(out[:n], h.packed, h.behind, h.bit, h.width)
			h.bit += n * h.width
		}
		h.left -= n
		out = out[n:]
	}
	return nil
}

// same consumes up to n equal numbers of a run of one value; it returns 0 before packed bits.
func (h *hybrid[T]) same(n int) (run int, value T, err error) {
	if h.left == 0 {
		if err := h.run(); err != nil {
			return 0, 0, err
		}
	}
	if h.packed != nil {
		return 0, 0, nil
	}
	run = min(n, h.left)
	h.left -= run
	return run, h.value, nil
}

// unpackAll reads numbers of a fixed bit width from packed, which behind begins with.
func unpackAll[T int16 | int32](out []T, packed, behind []byte, bit, width int) {
	mask, at := uint64(1)<<width-1, 0
	for ; at < len(out) && bit/8+8 <= len(behind); at++ { // it lies within one word
		out[at] = T(binary.LittleEndian.Uint64(behind[bit/8:]) >> (bit % 8) & mask)
		bit += width
	}
	for i := range out[at:] {
		out[at+i] = T(unpack(packed, bit, width))
		bit += width
	}
}

// run reads the header of the next run.
func (h *hybrid[T]) run() error {
	head, n := binary.Uvarint(h.data)
	if n <= 0 || head>>1 == 0 || head > 1<<32 {
		return errValuesEnd
	}
	h.data = h.data[n:]
	if head&1 == 0 {
		size := (h.width + 7) / 8
		if len(h.data) < size {
			return errValuesEnd
		}
		value := uint32(0)
		for i, b := range h.data[:size] {
			value |= uint32(b) << (8 * i)
		}
		h.left, h.value, h.packed, h.data = int(head>>1), T(value), nil, h.data[size:]
		return nil
	}
	size := int(head>>1) * h.width // a group of eight numbers takes as many bytes as a number has bits
	h.left = int(head>>1) * 8
	if size > len(h.data) { // some writers truncate the last group
		size = len(h.data)
		h.left = size * 8 / h.width
		if h.left == 0 {
			return errValuesEnd
		}
	}
	h.packed, h.behind, h.bit, h.data = h.data[:size:size], h.data, 0, h.data[size:]
	return nil
}

// unpack returns the number of width bits, at most 64, that begins at a bit of data. It must lie within data.
func unpack(data []byte, bit, width int) uint64 {
	if width == 0 {
		return 0
	}
	at, shift := bit/8, bit%8
	var word uint64
	if at+8 <= len(data) {
		word = binary.LittleEndian.Uint64(data[at:]) >> shift
		if shift+width > 64 {
			word |= uint64(data[at+8]) << (64 - shift)
		}
	} else {
		for i, b := range data[at:] {
			word |= uint64(b) << (8 * i)
		}
		word >>= shift
	}
	return word & (1<<width - 1)
}

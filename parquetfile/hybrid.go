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
			for i := range out[:n] {
				out[i] = T(unpack(h.packed, h.bit, h.width))
				h.bit += h.width
			}
		}
		h.left -= n
		out = out[n:]
	}
	return nil
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
	h.packed, h.bit, h.data = h.data[:size:size], 0, h.data[size:]
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

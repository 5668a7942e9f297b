package store

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// These are the encodings of Parquet that the store writes, after parquet-format 2.10, Encodings.md. They are here because
// a row of a log table is some forty values and more than half of them NULL: what a column costs a value is most of what
// an ingest costs, and the Parquet library's encoders take a call a value.

// A block of deltas, and the parts of it that have a width each.
const (
	deltaBlock = 128
	deltaParts = 4
	deltaPart  = deltaBlock / deltaParts
)

// appendDelta appends whole numbers as DELTA_BINARY_PACKED: the first one, then the differences from each to the next, as
// the least of a block and what they have above it, in as few bits as the largest of a part needs. Differences wrap
// around at the width of the type.
func appendDelta[T int32 | int64](b []byte, values []T) []byte {
	b = binary.AppendUvarint(b, deltaBlock)
	b = binary.AppendUvarint(b, deltaParts)
	b = binary.AppendUvarint(b, uint64(len(values)))
	if len(values) == 0 {
		return binary.AppendVarint(b, 0)
	}
	last := values[0]
	b = binary.AppendVarint(b, int64(last))
	for rest := values[1:]; len(rest) > 0; {
		var deltas [deltaBlock]int64
		n := min(len(rest), deltaBlock)
		least := int64(math.MaxInt64)
		for i, v := range rest[:n] {
			deltas[i] = int64(v - last)
			least = min(least, deltas[i])
			last = v
		}
		rest = rest[n:]
		for i := n; i < deltaBlock; i++ {
			deltas[i] = least
		}
		b = appendDeltaBlock(b, &deltas, least, n)
	}
	return b
}

// appendDeltaBlock appends a block of n deltas; parts behind them have a width of 0 and no bytes.
func appendDeltaBlock(b []byte, deltas *[deltaBlock]int64, least int64, n int) []byte {
	b = binary.AppendVarint(b, least)
	widths := len(b)
	b = append(b, make([]byte, deltaParts)...)
	for p := 0; p*deltaPart < n; p++ {
		var above [deltaPart]uint64
		all := uint64(0)
		for i, d := range deltas[p*deltaPart : (p+1)*deltaPart] {
			above[i] = uint64(d - least)
			all |= above[i]
		}
		width := bits.Len64(all)
		b[widths+p] = byte(width)
		if width > 0 {
			b = appendPacked(b, above[:], width)
		}
	}
	return b
}

// appendPacked appends the lowest bits of values, the first in the lowest bits of the first byte; the last byte is filled
// up with zeros.
func appendPacked[T int32 | uint64](b []byte, values []T, width int) []byte {
	var word uint64
	used := 0
	for _, v := range values {
		word |= uint64(v) << used
		if used += width; used >= 64 {
			b = binary.LittleEndian.AppendUint64(b, word)
			used -= 64
			word = uint64(v) >> (width - used)
		}
	}
	for ; used > 0; used -= 8 {
		b = append(b, byte(word))
		word >>= 8
	}
	return b
}

// leastRun is the length from which on a run of one value is worth its own head.
const leastRun = 32

// appendRuns appends small numbers as RLE: runs of one value, and between them eights of values of the given width.
func appendRuns(b []byte, values []int32, width int) []byte {
	for len(values) > 0 {
		if n := runOf(values); n >= leastRun || n == len(values) {
			b = appendRun(b, values[0], n, width)
			values = values[n:]
			continue
		}
		n := 8
		for n < len(values) && runOf(values[n:min(n+leastRun, len(values))]) < leastRun {
			n += 8
		}
		n = min(n, len(values))
		eights := (n + 7) / 8
		b = binary.AppendUvarint(b, uint64(eights)<<1|1)
		end := len(b) + eights*width
		b = appendPacked(b, values[:n], width)
		for len(b) < end {
			b = append(b, 0)
		}
		values = values[n:]
	}
	return b
}

func appendRun(b []byte, value int32, n, width int) []byte {
	b = binary.AppendUvarint(b, uint64(n)<<1)
	for ; width > 0; width -= 8 {
		b = append(b, byte(value))
		value >>= 8
	}
	return b
}

// runOf is how many of the first values are the same.
func runOf(values []int32) int {
	for i, v := range values {
		if v != values[0] {
			return i
		}
	}
	return len(values)
}

// appendDoubles and appendBools append values as PLAIN.
func appendDoubles(b []byte, values []float64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func appendBools(b []byte, values []bool) []byte {
	for len(values) > 0 {
		n := min(8, len(values))
		one := byte(0)
		for i, v := range values[:n] {
			if v {
				one |= 1 << i
			}
		}
		b, values = append(b, one), values[n:]
	}
	return b
}

// appendText appends an entry as PLAIN, and as a dictionary has it.
func appendText(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
}

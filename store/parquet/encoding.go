package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The encodings of parquet-format 2.10, Encodings.md, that are used for the columns of tables.

// appendDelta appends integers as DELTA_BINARY_PACKED: the first value, then blocks of the differences from each value to
// the next. Differences wrap around at the width of the type.
func appendDelta[T int32 | int64](b []byte, values []T) []byte {
	b = binary.AppendUvarint(b, blockSize)
	b = binary.AppendUvarint(b, miniblocks)
	b = binary.AppendUvarint(b, uint64(len(values)))
	if len(values) == 0 {
		return binary.AppendVarint(b, 0)
	}
	last := values[0]
	b = binary.AppendVarint(b, int64(last))
	for rest := values[1:]; len(rest) > 0; {
		var deltas [blockSize]int64
		n := min(len(rest), blockSize)
		minDelta := int64(math.MaxInt64)
		for i, v := range rest[:n] {
			deltas[i] = int64(v - last)
			minDelta = min(minDelta, deltas[i])
			last = v
		}
		rest = rest[n:]
		for i := n; i < blockSize; i++ {
			deltas[i] = minDelta
		}
		b = appendDeltaBlock(b, &deltas, minDelta, n)
	}
	return b
}

// The sizes proposed by the specification: a block is a multiple of 128 values, a miniblock one of 32.
const (
	blockSize     = 128
	miniblocks    = 4
	miniblockSize = blockSize / miniblocks
)

// appendDeltaBlock appends a block of n deltas: the least of them, the bit width of each miniblock, and the miniblocks, which
// store their deltas relative to the least. Miniblocks after the last delta have a width of 0 and no bytes.
func appendDeltaBlock(b []byte, deltas *[blockSize]int64, minDelta int64, n int) []byte {
	b = binary.AppendVarint(b, minDelta)
	widths := len(b)
	b = append(b, make([]byte, miniblocks)...)
	for m := 0; m*miniblockSize < n; m++ {
		var packed [miniblockSize]uint64
		all := uint64(0)
		for i, d := range deltas[m*miniblockSize : (m+1)*miniblockSize] {
			packed[i] = uint64(d - minDelta)
			all |= packed[i]
		}
		width := bits.Len64(all)
		b[widths+m] = byte(width)
		if width > 0 {
			b = appendBitPacked(b, packed[:], width)
		}
	}
	return b
}

// appendHybrid appends small numbers of the given bit width as RLE, the hybrid of run-length encoded runs, of at least minRun
// values, and bit-packed ones.
func appendHybrid(b []byte, values []int32, width, minRun int) []byte {
	for len(values) > 0 {
		if n := runLength(values); n >= minRun || n == len(values) {
			b = appendRLE(b, values[0], n, width)
			values = values[n:]
			continue
		}
		n := 8
		for n < len(values) && runLength(values[n:min(n+minRun, len(values))]) < minRun {
			n += 8
		}
		n = min(n, len(values))
		groups := (n + 7) / 8
		b = binary.AppendUvarint(b, uint64(groups)<<1|1)
		end := len(b) + groups*width
		b = appendBitPacked(b, values[:n], width)
		for len(b) < end {
			b = append(b, 0)
		}
		values = values[n:]
	}
	return b
}

// minRLERun is the length from which on a run of one value is run-length encoded. That ends a bit-packed run and begins another
// one after it, which takes 3 to 6 bytes for two headers and the value; bit-packed, 32 values take 4 bytes or more.
const minRLERun = 32

// appendRLE appends one run of n equal values.
func appendRLE(b []byte, value int32, n, width int) []byte {
	b = binary.AppendUvarint(b, uint64(n)<<1)
	for ; width > 0; width -= 8 {
		b = append(b, byte(value))
		value >>= 8
	}
	return b
}

// runLength returns how many of the first values are equal.
func runLength(values []int32) int {
	for i, v := range values {
		if v != values[0] {
			return i
		}
	}
	return len(values)
}

// appendBitPacked appends the lowest bits of values, the first in the lowest bits of the first byte; the last byte is padded
// with zeros.
func appendBitPacked[T int32 | uint64](b []byte, values []T, width int) []byte {
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

// appendInt64s, appendDoubles, appendBools and appendString append values as PLAIN.
func appendInt64s(b []byte, values []int64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

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

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
}

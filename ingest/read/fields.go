package read

import (
	"encoding/binary"
	"math/bits"
)

// Fields appends the fields of a line, which are separated by delimiters. It processes eight bytes at a time.
func Fields(line []byte, delimiter byte, dst [][]byte) [][]byte {
	const (
		ones = 0x0101_0101_0101_0101
		low  = 0x7f * ones // all bits of each byte but the highest
	)
	start, at := 0, 0
	for ; at+8 <= len(line); at += 8 {
		differ := binary.LittleEndian.Uint64(line[at:]) ^ ones*uint64(delimiter)
		// found has the highest bit of each byte without a difference; in other bytes the sum carries into that bit.
		for found := ^(differ&low + low | differ) &^ low; found != 0; found &= found - 1 {
			end := at + bits.TrailingZeros64(found)/8
			dst = append(dst, line[start:end])
			start = end + 1
		}
	}
	for ; at < len(line); at++ {
		if line[at] == delimiter {
			dst = append(dst, line[start:at])
			start = at + 1
		}
	}
	return append(dst, line[start:])
}

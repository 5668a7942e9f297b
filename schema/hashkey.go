package schema

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// HashKey derives the key of a row from a name instead of its position: a sharded trace mentions a job in many files, and
// every mention must give the same key without reading the others. n names of a table collide with probability n²/2^64: 1e-5
// for 14 million.
func HashKey(input Key, table string, name ...[]byte) Key {
	var buf [hashedBytes]byte
	b := append(binary.LittleEndian.AppendUint64(buf[:0], uint64(input)), table...)
	for _, part := range name {
		b = append(append(b, 0), part...)
	}
	return Key(xxhash.Sum64(b) >> 1)
}

// hashedBytes is enough for most names and their prefix; longer ones are hashed from the heap.
const hashedBytes = 128

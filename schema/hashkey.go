package schema

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// HashKey is the key of a row that is known by a name and not by its position: traces in shards mention a job in many
// files, and each mention must give the same key without a look at the others. n names of a table collide with
// probability n²/2^64: 1e-5 for 14 million.
func HashKey(input Key, table string, name ...[]byte) Key {
	var buf [hashedBytes]byte
	b := append(binary.LittleEndian.AppendUint64(buf[:0], uint64(input)), table...)
	for _, part := range name {
		b = append(append(b, 0), part...)
	}
	return Key(xxhash.Sum64(b) >> 1)
}

// hashedBytes is what most names take with what stands before them; others are hashed from the heap.
const hashedBytes = 128

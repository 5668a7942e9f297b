package schema

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// HashKey is the key of a row that is known by a name and not by its position: traces in shards mention a job in many
// files, and each mention must give the same key without a look at the others. n names of a table collide with
// probability n²/2^64: 1e-5 for 14 million.
func HashKey(input Key, table string, name ...[]byte) Key {
	var d xxhash.Digest
	d.Reset()
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], uint64(input))
	d.Write(buf[:])
	d.WriteString(table)
	for _, part := range name {
		d.Write(zero)
		d.Write(part)
	}
	return Key(d.Sum64() >> 1)
}

var zero = []byte{0}

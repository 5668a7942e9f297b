package schema

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Key is an integer key: positive, unique in a store, the same for the same input whatever the run.
type Key = int64

// A block holds 2^blockBits consecutive keys; blocks are scattered over the 63-bit space by a hash, so two inputs
// collide with probability n²/2^44 for n blocks: 1e-4 for 100 000 logs. A commit checks that they did not.
const blockBits = 20

// BlockKeys is how many consecutive keys a block holds.
const BlockKeys = 1 << blockBits

// InputKey identifies an input by its base name and the first bytes of its content (at most 64 KiB of them), so that
// a log keeps its keys while it grows and two logs that start alike under different names stay apart.
func InputKey(base string, head []byte) Key {
	if len(head) > 64<<10 {
		head = head[:64<<10]
	}
	h := xxhash.New()
	h.WriteString(base)
	h.Write([]byte{0})
	h.Write(head)
	return Key(h.Sum64() >> 1)
}

// Keys allocates the keys of one table for one input: Nth(0), Nth(1), … are the same in every run.
type Keys struct {
	input Key
	table string
	block int64
	base  Key
	next  int64
}

// NewKeys allocates keys for the rows that an input puts into a table.
func NewKeys(input Key, table string) *Keys {
	return &Keys{input: input, table: table, block: -1}
}

// Next is the next unused key.
func (k *Keys) Next() Key {
	id := k.Nth(k.next)
	k.next++
	return id
}

// Nth is the n-th key, n ≥ 0. Keys of one block are consecutive, which delta coding likes.
func (k *Keys) Nth(n int64) Key {
	if b := n >> blockBits; b != k.block {
		k.block = b
		var buf [16]byte
		binary.LittleEndian.PutUint64(buf[:], uint64(k.input))
		binary.LittleEndian.PutUint64(buf[8:], uint64(b))
		h := xxhash.New()
		h.Write(buf[:])
		h.WriteString(k.table)
		k.base = Key(h.Sum64()>>1) &^ (1<<blockBits - 1)
	}
	return k.base | n&(1<<blockBits-1)
}

// KeyList is keys as SQL has them in a list: 1, 2, 3.
func KeyList(keys []Key) string {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = strconv.FormatInt(k, 10)
	}
	return strings.Join(texts, ", ")
}

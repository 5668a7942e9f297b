package schema

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Key is an integer key: positive, unique in a store, and the same for the same input in every run.
type Key = int64

// A block holds 2^blockBits consecutive keys; blocks are scattered over the 63-bit space by a hash, so two inputs
// collide with probability n²/2^44 for n blocks: 1e-4 for 100 000 logs. A commit checks that they did not.
const blockBits = 20

// BlockKeys is the number of consecutive keys in a block.
const BlockKeys = 1 << blockBits

// InputKey identifies an input by its base name and the first bytes of its content (at most 64 KiB), so that a log keeps its
// keys while it grows, and two logs that begin alike but have different names get different keys.
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

// NewKeys allocates keys for the rows of a table that come from an input.
func NewKeys(input Key, table string) *Keys {
	return &Keys{input: input, table: table, block: -1}
}

// Next returns the next unused key.
func (k *Keys) Next() Key {
	id := k.Nth(k.next)
	k.next++
	return id
}

// Nth returns the n-th key, n ≥ 0. Keys of one block are consecutive, which compresses well with delta encoding.
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

// KeyList formats keys as a SQL list: 1, 2, 3.
func KeyList(keys []Key) string {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = strconv.FormatInt(k, 10)
	}
	return strings.Join(texts, ", ")
}

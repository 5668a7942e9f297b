package parquet

import (
	"hash/maphash"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// dictionary is the strings of a column: each row names an entry, and the entries are contiguous in memory. Equal strings share
// an entry, and the entries are written as the dictionary page. A column of too many different strings is plain: each row has
// its own entry, and is written as PLAIN.
type dictionary struct {
	rows  []int32 // entry of each row; arbitrary for NULL
	ends  []int32 // where each entry ends in bytes
	bytes []byte
	plain bool

	slots  []int32               // number of an entry + 1, by the hash of its string; 0: none. A power of two
	recent *[recentEntries]int32 // entries by the address of their string
}

// seed makes hashes unpredictable to the authors of logs.
var seed = maphash.MakeSeed()

// fewestSlots is a power of two, sufficient for columns of a few strings.
const fewestSlots = 64

// maxEntries is the largest number of entries of a dictionary: indexes of 14 bits. The entries of the widest table's strings
// then take a few MB.
const maxEntries = 16 << 10

// recentEntries is a power of two, sufficient for the different strings in the rows added at once.
const recentEntries = 4096

// entryOf returns the number of the entry of s. Formats mostly use one string for equal values, so the entry last seen at the
// same address is tried before anything is hashed.
func (d *dictionary) entryOf(s string) int32 {
	if d.plain {
		return d.addEntry(valid(s))
	}
	if d.recent == nil {
		d.recent = new([recentEntries]int32)
	}
	slot := &d.recent[(uintptr(unsafe.Pointer(unsafe.StringData(s)))>>3)%recentEntries]
	if id := *slot; int(id) < len(d.ends) && d.entry(id) == s {
		return id
	}
	id, free := d.find(s)
	if id >= 0 {
		*slot = id
		return id
	}
	if v := valid(s); v != s {
		return d.entryOf(v)
	}
	*slot = d.addEntry(s)
	if !d.plain {
		d.keep(*slot, free)
	}
	return *slot
}

// find returns the number of the entry of s, or -1 and its slot.
func (d *dictionary) find(s string) (id int32, free int) {
	if d.slots == nil {
		d.slots = make([]int32, fewestSlots)
	}
	at := int(maphash.String(seed, s))
	for ; ; at++ {
		at &= len(d.slots) - 1
		id := d.slots[at] - 1
		if id < 0 || d.entry(id) == s {
			return id, at
		}
	}
}

// keep puts the last entry into its slot. Half of the slots stay free, so that lookups probe few of them.
func (d *dictionary) keep(id int32, free int) {
	d.slots[free] = id + 1
	if 2*len(d.ends) <= len(d.slots) {
		return
	}
	d.slots = make([]int32, 2*len(d.slots))
	for id := range d.ends {
		_, free := d.find(d.entry(int32(id)))
		d.slots[free] = int32(id) + 1
	}
}

// valid converts s to a valid Parquet string, which must be UTF-8, since readers reject others.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// addEntry adds an entry. If there are too many for a dictionary, the column becomes plain.
func (d *dictionary) addEntry(s string) int32 {
	id := int32(len(d.ends))
	d.bytes = append(d.bytes, s...)
	d.ends = append(d.ends, int32(len(d.bytes)))
	if id == maxEntries {
		d.plain, d.slots = true, nil
	}
	return id
}

// entry returns an entry, valid until the next entryOf.
func (d *dictionary) entry(id int32) string {
	start := int32(0)
	if id > 0 {
		start = d.ends[id-1]
	}
	return unsafe.String(unsafe.SliceData(d.bytes[start:]), int(d.ends[id]-start))
}

func (d *dictionary) reset() {
	clear(d.slots)
	d.rows, d.ends, d.bytes = d.rows[:0], d.ends[:0], d.bytes[:0]
}

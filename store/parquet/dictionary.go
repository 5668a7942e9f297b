package parquet

import (
	"strings"
	"unicode/utf8"
	"unsafe"
)

// dictionary is the strings of a column: each row names an entry, and the entries lie one after the other in one piece of
// memory. Equal strings share an entry, and the entries are written as the dictionary page. A column of too many different
// strings is plain: each row has an entry of its own, and is written as PLAIN.
type dictionary struct {
	rows  []int32 // entry of each row; anything for NULL
	ends  []int32 // where each entry ends in bytes
	bytes []byte
	known map[string]int32
	plain bool

	recent *[recentEntries]int32 // entries by the address of their string
}

// maxEntries is how many entries a dictionary may have: indexes of 14 bits. The entries of the widest table's strings
// then take some MB.
const maxEntries = 16 << 10

// recentEntries is a power of two, for as many different strings as the rows that are added at once hold.
const recentEntries = 4096

// entryOf is the number of the entry of s. Formats mostly give one string for equal values, so what lay at the same address
// before is tried before anything is hashed.
func (d *dictionary) entryOf(s string) int32 {
	if d.plain {
		return d.addEntry(s)
	}
	if d.recent == nil {
		d.recent = new([recentEntries]int32)
	}
	slot := &d.recent[(uintptr(unsafe.Pointer(unsafe.StringData(s)))>>3)%recentEntries]
	if id := *slot; int(id) < len(d.ends) && d.entry(id) == s {
		return id
	}
	id, ok := d.known[s]
	if !ok {
		id = d.addEntry(s)
	}
	*slot = id
	return id
}

func (d *dictionary) addEntry(s string) int32 {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD") // Parquet strings are UTF-8, and readers refuse others
		if id, ok := d.known[s]; ok && !d.plain {
			return id
		}
	}
	id := int32(len(d.ends))
	d.bytes = append(d.bytes, s...)
	d.ends = append(d.ends, int32(len(d.bytes)))
	if d.plain {
		return id
	}
	if id == maxEntries {
		d.plain, d.known = true, nil
		return id
	}
	if d.known == nil {
		d.known = make(map[string]int32)
	}
	d.known[strings.Clone(s)] = id
	return id
}

// entry is valid until the next entryOf.
func (d *dictionary) entry(id int32) string {
	start := int32(0)
	if id > 0 {
		start = d.ends[id-1]
	}
	return unsafe.String(unsafe.SliceData(d.bytes[start:]), int(d.ends[id]-start))
}

func (d *dictionary) reset() {
	clear(d.known)
	d.rows, d.ends, d.bytes = d.rows[:0], d.ends[:0], d.bytes[:0]
}

package extsort

import (
	"bytes"
	"math/bits"
	"slices"
)

// place is the position of a record in its chunk, with as much of its key as fits into a word.
type place struct {
	prefix uint64
	at     uint32
}

// sort sorts the places of the records: by the prefixes of their keys, digit by digit, and those with equal prefixes by the
// complete records.
func (c *chunk) sort() {
	width, ordered := c.prefixes()
	if !ordered {
		c.order, c.spare = radix(c.order, c.spare, width)
	}
	compare := func(a, b place) int {
		p, q := &c.index[a.at], &c.index[b.at]
		if p.key != q.key {
			return compareKeys(&p.key, &q.key)
		}
		return bytes.Compare(c.payload(p), c.payload(q))
	}
	for start, end := 0, 0; start < len(c.order); start = end {
		for end = start + 1; end < len(c.order) && c.order[end].prefix == c.order[start].prefix; end++ {
		}
		if end-start > 1 {
			slices.SortFunc(c.order[start:end], compare)
		}
	}
}

// prefixes returns for each record a number that orders it like its key, as far as 64 bits go: the parts of the key one after
// another, relative to the least in the chunk, in as many bits as the greatest needs. It returns the number of these bits, and
// whether the records are already ordered by them.
func (c *chunk) prefixes() (width int, ordered bool) {
	if c.order = c.order[:0]; len(c.index) == 0 {
		return 0, true
	}
	least, greatest := c.index[0].key, c.index[0].key
	for i := range c.index {
		for part, v := range c.index[i].key {
			least[part], greatest[part] = min(least[part], v), max(greatest[part], v)
		}
	}
	var taken, dropped [len(least)]int // bits of each part
	for part := range least {
		need := bits.Len64(uint64(greatest[part]) - uint64(least[part]))
		taken[part] = min(need, 64-width)
		dropped[part] = need - taken[part]
		width += taken[part]
	}
	c.order = slices.Grow(c.order, len(c.index))
	last := uint64(0)
	ordered = true
	for i := range c.index {
		prefix := uint64(0)
		for part, v := range c.index[i].key {
			prefix = prefix<<taken[part] | (uint64(v)-uint64(least[part]))>>dropped[part]
		}
		ordered = ordered && prefix >= last
		last = prefix
		c.order = append(c.order, place{prefix, uint32(i)})
	}
	return width, ordered
}

// radix sorts by prefixes with the given number of bits, the lowest digit first. It returns the sorted places and the unused
// memory.
func radix(a, spare []place, width int) (sorted, left []place) {
	spare = slices.Grow(spare[:0], len(a))[:len(a)]
	for shift := 0; shift < width; shift += 8 {
		var next [256]int
		for i := range a {
			next[byte(a[i].prefix>>shift)]++
		}
		at := 0
		for digit, n := range next {
			next[digit] = at
			at += n
		}
		for i := range a {
			to := &next[byte(a[i].prefix>>shift)]
			spare[*to] = a[i]
			*to++
		}
		a, spare = spare, a
	}
	return a, spare
}

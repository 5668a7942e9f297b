package policy

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// mantriCase is an attempt that might be restarted or duplicated.
type mantriCase struct {
	gain    float64
	task    int32
	at      int32 // among those that run
	restart bool
}

// inOrder sorts the cases by gain, largest first. There may be a thousand at a look, so they are first put into buckets by their
// gains, which takes few comparisons, and then sorted within each bucket.
func (m *mantri) inOrder() {
	if len(m.found) < 2 {
		return
	}
	m.keys, m.unsorted = m.keys[:0], append(m.unsorted[:0], m.found...)
	least, most := uint64(math.MaxUint64), uint64(0)
	for n := range m.found {
		key := falling(m.found[n].gain)
		m.keys = append(m.keys, key)
		least, most = min(least, key), max(most, key)
	}
	shift := max(bits.Len64(most-least)-bits.Len(uint(len(m.found)))-1, 0)
	places := int((most-least)>>shift) + 1
	m.from = slices.Grow(m.from[:0], places+1)[:places+1]
	clear(m.from)
	for _, key := range m.keys {
		m.from[(key-least)>>shift+1]++
	}
	for n := range places {
		m.from[n+1] += m.from[n]
	}
	for n, key := range m.keys {
		at := &m.from[(key-least)>>shift]
		m.found[*at] = m.unsorted[n]
		*at++
	}
	start := int32(0)
	for _, end := range m.from[:places] {
		if end > start+1 {
			slices.SortFunc(m.found[start:end], func(c, d mantriCase) int { return cmp.Or(cmp.Compare(d.gain, c.gain), cmp.Compare(c.task, d.task)) })
		}
		start = end
	}
}

// falling returns a number that decreases as x increases.
func falling(x float64) uint64 {
	b := math.Float64bits(x + 0) // 0 and -0 are equal
	if b>>63 == 0 {
		b ^= 1<<63 - 1
	}
	return b
}

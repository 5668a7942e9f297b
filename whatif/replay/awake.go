package replay

import (
	"iter"
	"math/bits"
)

// A policy puts attempts that it need not look at for some time to sleep, and visits only those that are awake. To read thousands
// of running attempts at every look would take most of its time.

// asleep is the set of the sleeping attempts among the running ones of a phase: a bitmap by their index. Attempts beyond its end
// are awake.
type asleep []uint64

func (b asleep) has(n int) bool { return n>>6 < len(b) && b[n>>6]>>(n&63)&1 == 1 }

// move records that the last attempt takes the index of one that is removed.
func (b asleep) move(last, to int) {
	sleeps := b.has(last)
	if sleeps {
		b[last>>6] &^= 1 << (last & 63)
	}
	switch {
	case to == last || to>>6 >= len(b):
	case sleeps:
		b[to>>6] |= 1 << (to & 63)
	default:
		b[to>>6] &^= 1 << (to & 63)
	}
}

// Sleep puts an attempt, by its index in Running, to sleep until Wake: Awake leaves it out. Attempts are awake when they start.
// Only an attempt whose end is fixed (Steady) may sleep: those of a live application change their index without its bit.
func (v *View) Sleep(n int) {
	ph := &v.s.phases[v.ph]
	for len(ph.asleep) <= n>>6 {
		ph.asleep = append(ph.asleep, 0)
	}
	ph.asleep[n>>6] |= 1 << (n & 63)
}

// Wake reverts Sleep.
func (v *View) Wake(n int) {
	if b := v.s.phases[v.ph].asleep; n>>6 < len(b) {
		b[n>>6] &^= 1 << (n & 63)
	}
}

// Asleep reports whether an attempt is asleep.
func (v *View) Asleep(n int) bool { return v.s.phases[v.ph].asleep.has(n) }

// Awake yields the indices in Running of the attempts that are awake, in order.
func (v *View) Awake() iter.Seq[int] {
	return func(yield func(int) bool) {
		ph := &v.s.phases[v.ph]
		for from := 0; from < len(ph.running); from += 64 {
			awake := ^uint64(0) >> max(64-(len(ph.running)-from), 0)
			if w := from >> 6; w < len(ph.asleep) {
				awake &^= ph.asleep[w]
			}
			for ; awake != 0; awake &= awake - 1 {
				if !yield(from + bits.TrailingZeros64(awake)) {
					return
				}
			}
		}
	}
}

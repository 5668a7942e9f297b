package replay

import (
	"math/bits"

	"straggler/whatif/workload"
)

// tree is a priority queue of the ends of running attempts, as a tournament tree with a leaf per slot, since a slot runs one
// attempt at a time. Killing an attempt removes its end by changing one leaf. Every node holds the least of its four children:
// node n has children 4n … 4n+3, the root is 1.
type tree struct {
	key  []int64
	base int // of the leaves
}

func (t *tree) reset(slots int) {
	t.base = 4
	for t.base < slots {
		t.base *= 4
	}
	if cap(t.key) < 2*t.base {
		t.key = make([]int64, 2*t.base)
	}
	t.key = t.key[:2*t.base]
	for n := range t.key {
		t.key[n] = workload.Forever
	}
}

// set changes the end of the attempt on a slot; forever if there is none.
func (t *tree) set(slot int32, at int64) {
	n := t.base + int(slot)
	t.key[n] = at
	for n > 1 {
		n >>= 2
		c := (*[4]int64)(t.key[4*n:])
		least := min(c[0], c[1], c[2], c[3])
		if t.key[n] == least {
			return
		}
		t.key[n] = least
	}
}

// end returns when the attempt of a slot ends.
func (t *tree) end(slot int32) int64 { return t.key[t.base+int(slot)] }

// next returns when the first attempt ends.
func (t *tree) next() int64 { return t.key[1] }

// first returns the slot of the attempt that ends first; on ties the lowest.
func (t *tree) first() int32 {
	n, at := 1, t.key[1]
	for n < t.base {
		n *= 4
		c := (*[4]int64)(t.key[n:])
		// -1 if the child ends later, otherwise 0; branch-free, since the outcome is unpredictable
		a := (at - c[0]) >> 63
		b := a & ((at - c[1]) >> 63)
		n -= int(a + b + b&((at-c[2])>>63))
	}
	return int32(n - t.base)
}

// kind is what an event is; events of one instant happen in this order, then by number.
type kind uint8

const (
	slotAdded kind = iota
	slotRemoved
	jobReleased
	phaseReleased
	attemptReady
	waitOver
	machineBack
	sample    // Options.Sample is called
	scheduler // the scheduler is called once everything else of the instant has happened
	look      // last: policies look once everything else of the instant has happened
)

// timer is an event that is not the end of an attempt.
type timer struct {
	at int64
	id uint64 // kind in the upper byte
}

func timerOf(at int64, k kind, n int32) timer { return timer{at, uint64(k)<<56 | uint64(uint32(n))} }
func (t timer) kind() kind                    { return kind(t.id >> 56) }
func (t timer) n() int32                      { return int32(uint32(t.id)) }
func (t timer) before(u timer) bool           { return t.at < u.at || t.at == u.at && t.id < u.id }

// timers is a heap with four children per node.
type timers []timer

func (h *timers) push(t timer) {
	q := append(*h, t)
	n := len(q) - 1
	for n > 0 {
		up := (n - 1) / 4
		if !t.before(q[up]) {
			break
		}
		q[n] = q[up]
		n = up
	}
	q[n] = t
	*h = q
}

func (h *timers) pop() timer {
	q := *h
	top := q[0]
	last := q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	if len(q) == 0 {
		return top
	}
	n := 0
	for {
		c := 4*n + 1
		if c >= len(q) {
			break
		}
		least := c
		for k := c + 1; k < min(c+4, len(q)); k++ {
			if q[k].before(q[least]) {
				least = k
			}
		}
		if !q[least].before(last) {
			break
		}
		q[n] = q[least]
		n = least
	}
	q[n] = last
	return top
}

// head is the first launch of a queue that waits for a slot.
type head struct {
	key   int64 // the smallest is served first
	queue int32 // a phase, or -1-a for a solo attempt a; of clones the task
}

// Before orders heads by their keys.
func (h head) Before(g head) bool { return h.key < g.key || h.key == g.key && h.queue < g.queue }

// queue holds copies that wait for a slot, in the order of arrival.
type queue struct {
	list []queued
	head int // those before it were removed
}

func (q *queue) reset()        { q.list, q.head = q.list[:0], 0 }
func (q *queue) n() int        { return len(q.list) - q.head }
func (q *queue) push(x queued) { q.list = append(q.list, x) }

// remove removes the copy at a position, usually the head.
func (q *queue) remove(n int) {
	copy(q.list[q.head+1:n+1], q.list[q.head:n])
	if q.head++; q.head == len(q.list) {
		q.reset()
	}
}

// freeSlots is a set of slots, as a two-level bitmap.
type freeSlots struct {
	words []uint64
	some  []uint64
	n     int
}

func (f *freeSlots) reset(slots int) {
	words := (slots + 63) / 64
	f.words, f.some = resize(f.words, words), resize(f.some, (words+63)/64)
	clear(f.words)
	clear(f.some)
	f.n = 0
}

// grow adds slots that are not free.
func (f *freeSlots) grow(slots int) {
	for len(f.words) < (slots+63)/64 {
		f.words = append(f.words, 0)
	}
	for len(f.some) < (len(f.words)+63)/64 {
		f.some = append(f.some, 0)
	}
}

func (f *freeSlots) has(s int32) bool { return f.words[s>>6]>>(uint(s)&63)&1 == 1 }

func (f *freeSlots) add(s int32) {
	f.words[s>>6] |= 1 << (uint(s) & 63)
	f.some[s>>12] |= 1 << (uint(s>>6) & 63)
	f.n++
}

func (f *freeSlots) remove(s int32) {
	if f.words[s>>6] &^= 1 << (uint(s) & 63); f.words[s>>6] == 0 {
		f.some[s>>12] &^= 1 << (uint(s>>6) & 63)
	}
	f.n--
}

// from returns the first free slot at or after a slot, wrapping around; -1 if none is free.
func (f *freeSlots) from(slot int32) int32 {
	if s := f.after(slot); s >= 0 || slot == 0 {
		return s
	}
	return f.after(0)
}

// after returns the first free slot at or after a slot; -1 if there is none.
func (f *freeSlots) after(slot int32) int32 {
	w := int(slot >> 6)
	if x := f.words[w] >> (uint(slot) & 63); x != 0 {
		return slot + int32(bits.TrailingZeros64(x))
	}
	if w++; w == len(f.words) {
		return -1
	}
	k := w >> 6
	for x := f.some[k] >> (uint(w) & 63) << (uint(w) & 63); ; x = f.some[k] {
		if x != 0 {
			w = k<<6 + bits.TrailingZeros64(x)
			return int32(w<<6 + bits.TrailingZeros64(f.words[w]))
		}
		if k++; k == len(f.some) {
			return -1
		}
	}
}

// all yields the free slots in order.
func (f *freeSlots) all() func(func(int32) bool) {
	return func(yield func(int32) bool) {
		for w, x := range f.words {
			for ; x != 0; x &= x - 1 {
				if !yield(int32(w<<6 + bits.TrailingZeros64(x))) {
					return
				}
			}
		}
	}
}

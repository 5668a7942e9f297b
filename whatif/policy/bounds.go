package policy

import (
	"math"
	"math/bits"
	"slices"
)

// bounds is a queue of attempts by the upper bounds of their time left, longest first, in buckets of nearly equal bounds: without
// the lower bits of its mantissa, the bits of a positive number increase with it. Unlike in a heap, adding an attempt needs no
// comparison; only the first bucket is searched.
type bounds struct {
	buckets [][]bounded
	some    []uint64 // bitmap of those that hold any
	n       int
	longest float64 // of the first bucket; NaN: not known
}

// bucketBits is how many bits of a bound its bucket disregards: there are 64 buckets from a number to twice that, so that the
// bounds of one differ by 1.6 %.
const bucketBits = 52 - 6

var (
	firstBucket = int(math.Float64bits(1e-3) >> bucketBits) // of all bounds up to a millisecond
	lastBucket  = int(math.Float64bits(1e10)>>bucketBits) - firstBucket
)

func bucketOf(left float64) int {
	return min(int(math.Float64bits(max(left, 1e-3))>>bucketBits)-firstBucket, lastBucket)
}

func (q *bounds) push(e bounded) {
	b := bucketOf(e.left)
	if b >= len(q.buckets) {
		q.buckets = append(q.buckets, make([][]bounded, b+1-len(q.buckets))...)
		q.some = append(q.some, make([]uint64, b>>6+1-len(q.some))...)
	}
	q.buckets[b] = append(q.buckets[b], e)
	q.some[b>>6] |= 1 << (b & 63)
	q.n++
	q.longest = math.NaN()
}

// first returns the bucket of the longest bounds; there must be one.
func (q *bounds) first() int {
	w := len(q.some) - 1
	for q.some[w] == 0 {
		w--
	}
	return w<<6 + bits.Len64(q.some[w]) - 1
}

// most returns the longest bound; there must be one.
func (q *bounds) most() float64 {
	if q.longest != q.longest {
		q.longest = math.Inf(-1)
		for _, e := range q.buckets[q.first()] {
			q.longest = max(q.longest, e.left)
		}
	}
	return q.longest
}

// take removes the attempts of the first bucket whose bounds are no shorter than a time, and appends them.
func (q *bounds) take(from float64, to []bounded) []bounded {
	q.keep(q.first(), func(e bounded) bool {
		if e.left >= from {
			to = append(to, e)
			return false
		}
		return true
	})
	return to
}

// any returns an attempt of the first bucket, which drop removes.
func (q *bounds) any() bounded {
	b := q.buckets[q.first()]
	return b[len(b)-1]
}

func (q *bounds) drop() {
	b := q.first()
	q.buckets[b] = q.buckets[b][:len(q.buckets[b])-1]
	q.removed(b, 1)
}

// only keeps the attempts for which keep returns true.
func (q *bounds) only(keep func(bounded) bool) {
	for b := range q.buckets {
		q.keep(b, keep)
	}
}

// keep keeps the attempts of a bucket for which keep returns true.
func (q *bounds) keep(b int, keep func(bounded) bool) {
	before := len(q.buckets[b])
	q.buckets[b] = slices.DeleteFunc(q.buckets[b], func(e bounded) bool { return !keep(e) })
	q.removed(b, before-len(q.buckets[b]))
}

// removed records that a bucket lost n attempts.
func (q *bounds) removed(b, n int) {
	q.n -= n
	q.longest = math.NaN()
	if len(q.buckets[b]) == 0 {
		q.some[b>>6] &^= 1 << (b & 63)
	}
}

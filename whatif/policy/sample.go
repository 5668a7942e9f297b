package policy

import (
	"math"
	"slices"

	"straggler/stats"
)

// sample is an ordered sample of numbers that grows. Adding is cheap; the order is brought up to date when it is needed.
//
// The numbers lie in ascending blocks, in no order within a block, and a Fenwick tree holds how many each block has. A block is
// divided only where a rank or a number in it is asked for, and put in order when it is small: an incremental quicksort.
// Policies ask for a few quantiles, so blocks are small there and large elsewhere, and few.
type sample struct {
	blocks []block
	last   []float64 // the largest of each block
	before []int32   // Fenwick tree of the blocks' lengths, from 1
	fresh  []float64 // added and not in the blocks yet
	size   int
	sum    float64
	wide   wideness
}

type block struct {
	list   []float64
	sorted int // as many are in order, and the rest came later
}

// blockSize is how many numbers a block may hold that is put in order: 4 KB.
const blockSize = 512

func (s *sample) add(x float64) {
	s.fresh = append(s.fresh, x)
	s.size++
	s.sum += x
	if x <= s.wide.low {
		s.wide.atMost++
	}
	if x >= s.wide.high {
		s.wide.atLeast++
	}
}

// reset empties the sample and keeps some of its memory.
func (s *sample) reset() {
	kept := sample{fresh: s.fresh[:0]}
	if len(s.blocks) > 0 {
		kept.blocks, kept.last = append(s.blocks[:0], block{list: s.blocks[0].list[:0]}), append(s.last[:0], math.Inf(-1))
		kept.before = append(s.before[:0], 0, 0)
	}
	*s = kept
}

func (s *sample) n() int { return s.size }

func (s *sample) mean() float64 {
	if s.size == 0 {
		return math.NaN()
	}
	return s.sum / float64(s.size)
}

// order moves the added numbers into the blocks.
func (s *sample) order() {
	n := len(s.fresh)
	if n == 0 {
		return
	}
	if len(s.blocks) == 0 {
		s.blocks, s.last, s.before = append(s.blocks, block{}), append(s.last, s.fresh[0]), append(s.before, 0, 0)
	}
	if len(s.blocks) == 1 {
		k := &s.blocks[0]
		k.list = append(k.list, s.fresh...)
		s.last[0], s.before[1] = max(s.last[0], slices.Max(s.fresh)), int32(len(k.list))
		s.fresh = s.fresh[:0]
		return
	}
	many := n > len(s.blocks)/16 // counting all blocks again is less work than updating the count for each number
	for _, x := range s.fresh {
		b := firstFrom(s.last, x)
		if b == len(s.last) {
			b--
			s.last[b] = x
		}
		k := &s.blocks[b]
		if n := len(k.list); n == cap(k.list) {
			k.list = slices.Grow(k.list, max(n, 64)) // twice as much: append copies a large list oftener
		}
		k.list = append(k.list, x)
		if !many {
			for n := b + 1; n < len(s.before); n += n & -n {
				s.before[n]++
			}
		}
	}
	if many {
		s.count()
	}
	s.fresh = s.fresh[:0]
}

// split divides a block into two.
func (s *sample) split(b int) {
	list := s.blocks[b].list
	half := len(list) / 2
	middle := stats.Select(list, half-1)
	upper := block{slices.Clone(list[half:]), 0}
	s.blocks[b] = block{list[:half], 0}
	s.blocks, s.last = slices.Insert(s.blocks, b+1, upper), slices.Insert(s.last, b, middle)
	s.count()
}

// ordered returns the numbers of a block in order: few that came later are inserted, and many sorted and merged.
func (k *block) ordered() []float64 {
	switch late := k.list[k.sorted:]; {
	case len(late) == 0:
		return k.list
	case len(late) > 8:
		k.merge()
	default:
		for n := k.sorted; n < len(k.list); n++ {
			x := k.list[n]
			at := firstFrom(k.list[:n], x)
			copy(k.list[at+1:n+1], k.list[at:n])
			k.list[at] = x
		}
	}
	k.sorted = len(k.list)
	return k.list
}

// merge sorts the numbers that came later and merges them into the others, largest first.
func (k *block) merge() {
	var space [blockSize]float64
	late := append(space[:0], k.list[k.sorted:]...)
	slices.Sort(late)
	for at, n := len(k.list)-1, k.sorted-1; len(late) > 0; at-- {
		if last := len(late) - 1; n < 0 || k.list[n] <= late[last] {
			k.list[at], late = late[last], late[:last]
		} else {
			k.list[at], n = k.list[n], n-1
		}
	}
}

// firstFrom returns the place of the first number that is not less than x in an ascending list without NaN.
func firstFrom(list []float64, x float64) int {
	low := 0
	for n := len(list); n > 0; {
		half := int(uint(n+1) / 2)
		less := 0 // set, not branched on: half of the branches would be mispredicted
		if list[low+half-1] < x {
			less = 1
		}
		low += half * less
		n -= half
	}
	return low
}

// count fills the Fenwick tree.
func (s *sample) count() {
	s.before = slices.Grow(s.before[:0], len(s.blocks)+1)[:len(s.blocks)+1]
	clear(s.before)
	for b := range s.blocks {
		n := b + 1
		s.before[n] += int32(len(s.blocks[b].list))
		if up := n + n&-n; up < len(s.before) {
			s.before[up] += s.before[n]
		}
	}
}

// at returns the number of a rank, counted from 0; the rank must be below n.
func (s *sample) at(rank int) float64 {
	s.order()
	if s.size <= blockSize {
		return s.blocks[0].ordered()[rank]
	}
	b, left := 0, int32(rank)
	step := 1
	for 2*step < len(s.before) {
		step *= 2
	}
	for ; step > 0; step /= 2 {
		if n := b + step; n < len(s.before) && s.before[n] <= left {
			b, left = n, left-s.before[n]
		}
	}
	for len(s.blocks[b].list) > blockSize {
		s.split(b)
		if n := int32(len(s.blocks[b].list)); left >= n {
			b, left = b+1, left-n
		}
	}
	return s.blocks[b].ordered()[left]
}

// quantile returns the smallest value that at least a share q of the sample does not exceed; NaN without values.
func (s *sample) quantile(q float64) float64 {
	if s.n() == 0 {
		return math.NaN()
	}
	return s.at(rankOf(s.n(), q))
}

// rankOf returns the rank of the quantile q of n numbers.
func rankOf(n int, q float64) int {
	k := int(math.Ceil(q*float64(n) - 1e-9))
	return min(max(k, 1), n) - 1
}

// median returns the middle value, or the mean of the two in the middle.
func (s *sample) median() float64 {
	switch n := s.n(); {
	case n == 0:
		return math.NaN()
	case n%2 == 0:
		return (s.at(n/2-1) + s.at(n/2)) / 2
	default:
		return s.at(n / 2)
	}
}

// spread returns the ratio of the upper to the lower quartile; 1 under two values.
func (s *sample) spread() float64 {
	if s.n() < 2 {
		return 1
	}
	low, high := s.quantile(0.25), s.quantile(0.75)
	if !(low > 0) {
		return math.Inf(1)
	}
	return high / low
}

// wideness is a proof that a sample is spread out, which needs no quartiles: the lower one is at most low while enough numbers
// are, and the upper one at least high.
type wideness struct {
	low, high       float64
	atMost, atLeast int // of the sample: up to low, from high on
}

// spreadOver reports whether spread is over a limit.
func (s *sample) spreadOver(limit float64) bool {
	w := &s.wide
	if w.high/w.low > limit && w.atMost > rankOf(s.n(), 0.25) && w.atLeast >= s.n()-rankOf(s.n(), 0.75) {
		return true
	}
	spread := s.spread()
	if !(spread > limit) {
		return false
	}
	if margin := spread / limit; margin > 1.01 && !math.IsInf(spread, 1) { // the quartiles may move by half of the margin
		by := math.Sqrt(math.Sqrt(margin))
		w.low, w.high = s.quantile(0.25)*by, s.quantile(0.75)/by
		w.atMost, w.atLeast = s.upTo(w.low), s.n()-s.below(w.high)
	}
	return true
}

// upTo returns how many numbers do not exceed x.
func (s *sample) upTo(x float64) int { return s.below(math.Nextafter(x, math.Inf(1))) }

// below returns how many numbers are less than x.
func (s *sample) below(x float64) int {
	s.order()
	b := firstFrom(s.last, x)
	for b < len(s.blocks) && len(s.blocks[b].list) > blockSize {
		if s.split(b); s.last[b] < x {
			b++
		}
	}
	n := int32(0)
	for k := b; k > 0; k &= k - 1 {
		n += s.before[k]
	}
	if b == len(s.blocks) {
		return int(n)
	}
	return int(n) + firstFrom(s.blocks[b].ordered(), x)
}

// quantileWith returns the quantile q of the sample and more numbers together; those are reordered. It is quickselect on the
// numbers, with the sample's ranks added.
func (s *sample) quantileWith(more []float64, q float64) float64 {
	if s.n()+len(more) == 0 {
		return math.NaN()
	}
	// less: numbers known to be under those that are left
	rank, less := rankOf(s.n()+len(more), q), 0
	if r := rank - len(more); s.n() > len(more) && r >= 0 && rank < s.n() { // it lies between two numbers of the sample
		more, less = between(more, s.at(r), s.at(rank))
	}
	for len(more) > 0 {
		pivot := more[len(more)/2]
		low, high := partition(more, pivot)
		switch {
		case rank < less+low+s.below(pivot):
			more = more[:low]
		case rank < less+high+s.upTo(pivot):
			return pivot
		default:
			less, more = less+high, more[high:]
		}
	}
	return s.at(rank - less)
}

// between keeps the numbers of a list from low to high, and counts those under low.
func between(list []float64, low, high float64) (kept []float64, under int) {
	kept = list[:0]
	for _, x := range list {
		switch {
		case x < low:
			under++
		case x <= high:
			kept = append(kept, x)
		}
	}
	return kept, under
}

// partition puts the numbers less than a pivot first and those that exceed it last; from low until high they equal it.
func partition(list []float64, pivot float64) (low, high int) {
	low = stats.LessFirst(list, pivot)
	return low, low + stats.EqualFirst(list[low:], pivot)
}

package policy

import (
	"math"
	"slices"
)

// sample is an ordered sample of numbers that grows. Adding is cheap; the order is brought up to date when it is asked for.
//
// The numbers lie in ascending blocks, and a Fenwick tree holds how many each block has, so that with n numbers adding one
// and finding one by its rank take O(log n) and the moving of at most a block.
type sample struct {
	blocks [][]float64
	last   []float64 // of each block
	before []int32   // Fenwick tree of the blocks' lengths, from 1
	fresh  []float64 // added and not in the blocks yet
	size   int
	sum    float64
}

// blockSize is how many numbers a block holds before it is split: 4 KB, of which 2 move on average.
const blockSize = 512

func (s *sample) add(x float64) {
	s.fresh = append(s.fresh, x)
	s.size++
	s.sum += x
}

// reset empties the sample and keeps some of its memory.
func (s *sample) reset() { *s = sample{fresh: s.fresh[:0]} }

func (s *sample) n() int { return s.size }

func (s *sample) mean() float64 {
	if s.size == 0 {
		return math.NaN()
	}
	return s.sum / float64(s.size)
}

// order brings what was added into the blocks: one by one, or by merging where that is less work.
func (s *sample) order() {
	switch n := len(s.fresh); {
	case n == 0:
	case n > 64 && n > s.size/16:
		s.merge()
	default:
		slices.Sort(s.fresh) // neighbours lie in the same blocks
		for _, x := range s.fresh {
			s.insert(x)
		}
	}
	s.fresh = s.fresh[:0]
}

func (s *sample) insert(x float64) {
	if len(s.blocks) == 0 {
		s.blocks, s.last, s.before = append(s.blocks, make([]float64, 0, blockSize)), append(s.last, x), []int32{0, 0}
	}
	b := min(firstFrom(s.last, x), len(s.blocks)-1)
	at := firstFrom(s.blocks[b], x)
	s.blocks[b] = slices.Insert(s.blocks[b], at, x)
	s.last[b] = max(s.last[b], x)
	if len(s.blocks[b]) < blockSize {
		for n := b + 1; n < len(s.before); n += n & -n {
			s.before[n]++
		}
		return
	}
	upper := append(make([]float64, 0, blockSize), s.blocks[b][blockSize/2:]...)
	s.blocks[b] = s.blocks[b][:blockSize/2]
	s.blocks, s.last = slices.Insert(s.blocks, b+1, upper), slices.Insert(s.last, b, s.blocks[b][blockSize/2-1])
	s.count()
}

// firstFrom is the place of the first number that is not less than x in an ascending list without NaN.
func firstFrom(list []float64, x float64) int {
	low, high := 0, len(list)
	for low < high {
		if mid := int(uint(low+high) / 2); list[mid] < x {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// merge makes the blocks anew of what they hold and what was added.
func (s *sample) merge() {
	slices.Sort(s.fresh)
	old := s.blocks
	s.blocks, s.last = make([][]float64, 0, s.size/(blockSize/2)+1), s.last[:0]
	fresh := s.fresh
	out := make([]float64, 0, blockSize)
	put := func(x float64) {
		if out = append(out, x); len(out) == blockSize/2 {
			s.blocks, s.last = append(s.blocks, out), append(s.last, x)
			out = make([]float64, 0, blockSize)
		}
	}
	for _, block := range old {
		for _, x := range block {
			for ; len(fresh) > 0 && fresh[0] < x; fresh = fresh[1:] {
				put(fresh[0])
			}
			put(x)
		}
	}
	for _, x := range fresh {
		put(x)
	}
	if len(out) > 0 {
		s.blocks, s.last = append(s.blocks, out), append(s.last, out[len(out)-1])
	}
	s.count()
}

// count fills the Fenwick tree.
func (s *sample) count() {
	s.before = slices.Grow(s.before[:0], len(s.blocks)+1)[:len(s.blocks)+1]
	clear(s.before)
	for b := range s.blocks {
		n := b + 1
		s.before[n] += int32(len(s.blocks[b]))
		if up := n + n&-n; up < len(s.before) {
			s.before[up] += s.before[n]
		}
	}
}

// at is the number of a rank, counted from 0; the rank must be below n.
func (s *sample) at(rank int) float64 {
	s.order()
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
	return s.blocks[b][left]
}

// quantile is the smallest value that at least a share q of the sample does not exceed; NaN without values.
func (s *sample) quantile(q float64) float64 {
	if s.n() == 0 {
		return math.NaN()
	}
	return s.at(rankOf(s.n(), q))
}

// rankOf is the rank of the quantile q of n numbers.
func rankOf(n int, q float64) int {
	k := int(math.Ceil(q*float64(n) - 1e-9))
	return min(max(k, 1), n) - 1
}

// median is the middle value, or the mean of the two in the middle.
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

// spread is the logarithm of the ratio of the upper to the lower quartile; 0 under two values.
func (s *sample) spread() float64 {
	if s.n() < 2 {
		return 0
	}
	low, high := s.quantile(0.25), s.quantile(0.75)
	if !(low > 0) {
		return math.Inf(1)
	}
	return math.Log(high / low)
}

// upTo is how many numbers do not exceed x.
func (s *sample) upTo(x float64) int { return s.below(math.Nextafter(x, math.Inf(1))) }

// below is how many numbers are less than x.
func (s *sample) below(x float64) int {
	s.order()
	b := firstFrom(s.last, x)
	n := int32(0)
	for k := b; k > 0; k &= k - 1 {
		n += s.before[k]
	}
	if b == len(s.blocks) {
		return int(n)
	}
	return int(n) + firstFrom(s.blocks[b], x)
}

// quantileWith is the quantile q of the sample and more numbers together; those are reordered. It is quickselect on the
// numbers, with the sample's ranks added.
func (s *sample) quantileWith(more []float64, q float64) float64 {
	if s.n()+len(more) == 0 {
		return math.NaN()
	}
	rank, less := rankOf(s.n()+len(more), q), 0 // less: numbers known to be under those that are left
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

// partition puts the numbers less than a pivot first and those that exceed it last; from low until high they equal it.
func partition(list []float64, pivot float64) (low, high int) {
	high = len(list)
	for n := 0; n < high; {
		switch x := list[n]; {
		case x < pivot:
			list[n], list[low] = list[low], x
			low++
			n++
		case x > pivot:
			high--
			list[n], list[high] = list[high], x
		default:
			n++
		}
	}
	return low, high
}

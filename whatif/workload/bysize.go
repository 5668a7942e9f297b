package workload

import (
	"math"
	"math/bits"
	"slices"
)

// orderBySize sets BySize. The sort is stable.
func (p *Pool) orderBySize() {
	p.BySize = make([]int32, len(p.Attempts))
	var list, spare []uint64
	for i := range p.Phases {
		f := &p.Phases[i]
		list = list[:0]
		least, most := int64(math.MaxInt64), int64(math.MinInt64)
		for a := f.First; a < f.First+f.Launches; a++ {
			bytes := p.Tasks[p.Attempts[a].Task].Bytes
			least, most = min(least, bytes), max(most, bytes)
			list = append(list, uint64(bytes))
		}
		width := bits.Len32(uint32(f.Launches))
		most = min(most, least+1<<(63-width)) // beyond many terabytes, larger tasks are in the order of the log
		// combined with its index in the log into one number, which is faster to sort than a pair
		for n, bytes := range list {
			list[n] = uint64(most-min(int64(bytes), most))<<width | uint64(n)
		}
		list, spare = sortUpper(list, spare, width, bits.Len64(uint64(most-least)))
		for n, x := range list {
			p.BySize[f.First+int32(x&(1<<width-1))] = int32(n)
		}
	}
}

// sortUpper sorts numbers by so many bits above the low ones; by the low ones they are already in order. It returns both lists,
// the sorted one first. Long lists are radix-sorted, eleven bits at a time.
func sortUpper(list, other []uint64, low, size int) (sorted, spare []uint64) {
	const digit = 11
	if len(list) < 1<<digit {
		slices.Sort(list)
		return list, other
	}
	other = slices.Grow(other[:0], len(list))[:len(list)]
	for ; size > 0; size -= digit {
		var from [1<<digit + 1]int32
		for _, x := range list {
			from[x>>low&(1<<digit-1)+1]++
		}
		for d := range 1 << digit {
			from[d+1] += from[d]
		}
		for _, x := range list {
			d := x >> low & (1<<digit - 1)
			other[from[d]] = x
			from[d]++
		}
		list, other, low = other, list, low+digit
	}
	return list, other
}

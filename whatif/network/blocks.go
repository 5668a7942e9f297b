package network

import (
	"math/rand/v2"
	"slices"
)

// Blocks are pieces of data and the machines that hold a replica of each.
type Blocks struct {
	first    []int32 // of each block's replicas, and one past the last
	machines []int32
}

// Add adds a block with its replicas, as a log's preferred locations give them, and returns its number.
func (b *Blocks) Add(machines ...int32) int32 {
	if len(b.first) == 0 {
		b.first = append(b.first, 0)
	}
	b.machines = append(b.machines, machines...)
	b.first = append(b.first, int32(len(b.machines)))
	return int32(len(b.first) - 2)
}

// Len returns the number of blocks.
func (b *Blocks) Len() int { return max(len(b.first)-1, 0) }

// Replicas returns the machines that hold a block, the first being where it was written. The slice must not be changed.
func (b *Blocks) Replicas(block int32) []int32 {
	return b.machines[b.first[block]:b.first[block+1]]
}

// PlaceHDFS adds n blocks with the given number of replicas, placed as HDFS does when the writers are spread evenly: the first
// on any machine, the second in another rack, the third on another machine of the second's rack, and further ones anywhere, so
// a block is in two racks (FAIR §6.3.1). If a rule cannot be followed, any other machine is used, and if there are no more
// machines, the block has fewer replicas.
func (b *Blocks) PlaceHDFS(t *Topology, n, replicas int, r *rand.Rand) {
	all := make([]int32, len(t.Rack))
	racks := make([][]int32, len(t.Up))
	for m, rack := range t.Rack {
		all[m] = int32(m)
		racks[rack] = append(racks[rack], int32(m))
	}
	var on []int32
	for range n {
		on = on[:0]
		for len(on) < min(replicas, len(all)) {
			from, apart := all, int32(-1)
			switch len(on) {
			case 1:
				apart = t.Rack[on[0]]
			case 2:
				from = racks[t.Rack[on[1]]]
			}
			m, ok := drawn(from, r, func(m int32) bool { return t.Rack[m] != apart && !slices.Contains(on, m) })
			if !ok {
				m, _ = drawn(all, r, func(m int32) bool { return !slices.Contains(on, m) })
			}
			on = append(on, m)
		}
		b.Add(on...)
	}
}

// drawn returns one of the machines in a list that fit, each with equal probability.
func drawn(list []int32, r *rand.Rand, fits func(int32) bool) (int32, bool) {
	for range 16 { // nearly always the first one fits
		if m := list[r.IntN(len(list))]; fits(m) {
			return m, true
		}
	}
	var rest []int32
	for _, m := range list {
		if fits(m) {
			rest = append(rest, m)
		}
	}
	if len(rest) == 0 {
		return 0, false
	}
	return rest[r.IntN(len(rest))], true
}

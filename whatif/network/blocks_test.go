package network

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A block's replicas are on different machines and in exactly two racks, and the machines are used evenly.
func TestPlaceHDFS(t *testing.T) {
	top := Uniform(5, 4, 1, 0)
	var b Blocks
	b.PlaceHDFS(top, 20000, 3, rand.New(rand.NewPCG(1, 1)))
	used := make([]int, 20)
	for n := range int32(20000) {
		on := b.Replicas(n)
		racks := map[int32]int{}
		for i, m := range on {
			used[m]++
			racks[top.Rack[m]]++
			if slices.Contains(on[:i], m) {
				t.Fatalf("block %d twice on machine %d", n, m)
			}
		}
		if len(on) != 3 || len(racks) != 2 || racks[top.Rack[on[0]]] != 1 {
			t.Fatalf("block %d on machines %v", n, on)
		}
	}
	for m, n := range used { // 3000 expected, standard deviation 51
		if n < 2750 || n > 3250 {
			t.Errorf("machine %d holds %d replicas, 3000 expected", m, n)
		}
	}
}

// Clusters that are too small for the rules get what there is.
func TestPlaceHDFSSmall(t *testing.T) {
	for _, c := range []struct{ racks, machines, replicas, want int }{{1, 5, 3, 3}, {1, 2, 3, 2}, {2, 1, 3, 2}, {3, 1, 3, 3}, {1, 1, 3, 1}} {
		var b Blocks
		b.PlaceHDFS(Uniform(c.racks, c.machines, 1, 0), 1, c.replicas, rand.New(rand.NewPCG(1, 1)))
		on := slices.Clone(b.Replicas(0))
		slices.Sort(on)
		if len(slices.Compact(on)) != c.want {
			t.Errorf("%d racks of %d: replicas on %v, want %d", c.racks, c.machines, on, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, top := range []*Topology{
		{Rack: []int32{1}, Up: []float64{1}, Down: []float64{1}},
		{Up: []float64{1}, Down: nil},
		{Up: []float64{-1}, Down: []float64{1}},
		{Rack: []int32{0}, Up: []float64{1}, Down: []float64{1}, In: []float64{1, 2}},
	} {
		if _, err := New(top); err == nil {
			t.Errorf("%+v was taken", top)
		}
	}
}

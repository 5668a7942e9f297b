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

func TestNearest(t *testing.T) {
	top := Uniform(3, 3, 1, 0)
	var b Blocks
	b.Add(0, 3, 4)
	served := map[int32]int{}
	for bits := range uint64(64) {
		for _, c := range []struct {
			reader int32
			want   Distance
		}{{3, Local}, {1, Near}, {5, Near}, {7, Remote}} {
			from, d := b.Nearest(top, 0, c.reader, bits)
			if d != c.want || d != top.Distance(from, c.reader) {
				t.Fatalf("machine %d reads from %d, %v; want %v", c.reader, from, d, c.want)
			}
			if c.reader == 7 {
				served[from]++
			}
		}
	}
	for _, m := range []int32{0, 3, 4} {
		if served[m] < 10 {
			t.Errorf("remote reads are served %v times by the three replicas", served)
		}
	}
}

// A hand-worked shuffle: racks 0 and 1 with links of 10 bytes/s hold 100 and 300 bytes. A task in rack 0 that reads all
// moves 300 bytes in 30 s; two at a time share the downlink and take 60 s.
func TestFetch(t *testing.T) {
	top := Uniform(2, 2, 10, 0)
	s := NewShuffle(top)
	s.Add(top, 0, 60)
	s.Add(top, 1, 40)
	s.Add(top, 2, 300)
	if c := s.Crossing(0); c != 300 {
		t.Errorf("%v bytes cross, want 300", c)
	}
	for _, c := range []struct {
		count int32
		want  float64
	}{{1, 30}, {2, 60}} {
		net, err := New(top)
		if err != nil {
			t.Fatal(err)
		}
		if n := net.Fetch(s, 0, -1, 1, 0, c.count, 7); n != 2 {
			t.Errorf("%d flows, want 2", n)
		}
		ended := net.Advance(1000)
		if last := ended[len(ended)-1]; len(ended) != 2 || last.At != c.want || last.Tag != 7 {
			t.Errorf("%d tasks have their input as %v, want at %v s", c.count, ended, c.want)
		}
	}
	net, err := New(Uniform(2, 2, 10, 5))
	if err != nil {
		t.Fatal(err)
	}
	net.Fetch(s, 0, 0, 1, 20, 1, 0)
	if at, _ := net.Next(); at != 40 { // both racks' flows share the interface of 5: the 100 bytes take 40 s, then 200 are left
		t.Errorf("the rack's own data is there at %v, want 40", at)
	}
	if ended := net.Advance(1000); ended[1].At != 80 {
		t.Errorf("all is there at %v, want 80", ended[1].At)
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

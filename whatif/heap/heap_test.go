package heap_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/whatif/heap"
)

type number int

func (a number) Before(b number) bool { return a < b }

// A heap gives what went in, least first, whether it came one by one or as a list, with many equal values.
func TestHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		list := make([]number, r.IntN(40))
		for n := range list {
			list[n] = number(r.IntN(20))
		}
		sorted := slices.Sorted(slices.Values(list))
		h := heap.Of(slices.Clone(list[:len(list)/2]))
		for _, x := range list[len(list)/2:] {
			h.Push(x)
		}
		var got []number
		for len(h) > 0 {
			if h[0] != slices.Min(h) {
				t.Fatalf("%d on top of %v", h[0], h)
			}
			got = append(got, h.Pop())
		}
		if !slices.Equal(got, sorted) {
			t.Fatalf("%v gives %v, want %v", list, got, sorted)
		}
	}
}

// The queue gives what a heap gives, whatever goes in between, in order or not.
func TestNearly(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for round := range 100 {
		var q heap.Nearly[number]
		var h heap.Heap[number]
		for n := range 2000 {
			if r.IntN(5) < 3-n/1500 {
				x := number(n + r.IntN(1+round%7*20))
				q.Push(x)
				h.Push(x)
			} else if len(h) > 0 {
				if first := q.First(); first != h[0] || q.Pop() != h.Pop() {
					t.Fatalf("round %d: %d came first", round, first)
				}
			}
			if q.Len() != len(h) {
				t.Fatalf("round %d: %d values, want %d", round, q.Len(), len(h))
			}
		}
	}
}

// Package slots assigns attempts, in the order of their starts, to slots of their machine: each to the first free one. Logs
// rarely name slots.
//
// Start with Slots.
package slots

import (
	"container/heap"
)

// Slots allocates the slots of one machine.
type Slots struct {
	busy slotHeap // by when they become free
	free intHeap
	n    int
}

// Take allocates the lowest free slot from one time to another. from must not decrease between calls.
func (s *Slots) Take(from, to float64) int {
	for len(s.busy) > 0 && s.busy[0].until <= from {
		heap.Push(&s.free, heap.Pop(&s.busy).(busySlot).slot)
	}
	slot := s.n
	if len(s.free) > 0 {
		slot = heap.Pop(&s.free).(int)
	} else {
		s.n++
	}
	heap.Push(&s.busy, busySlot{to, slot})
	return slot
}

type busySlot struct {
	until float64
	slot  int
}

type slotHeap []busySlot

func (h slotHeap) Len() int { return len(h) }

func (h slotHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h slotHeap) Less(i, j int) bool {
	return h[i].until < h[j].until || h[i].until == h[j].until && h[i].slot < h[j].slot
}

func (h *slotHeap) Push(x any) { *h = append(*h, x.(busySlot)) }

func (h *slotHeap) Pop() any { x := (*h)[len(*h)-1]; *h = (*h)[:len(*h)-1]; return x }

type intHeap []int

func (h intHeap) Len() int { return len(h) }

func (h intHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }

func (h *intHeap) Push(x any) { *h = append(*h, x.(int)) }

func (h *intHeap) Pop() any { x := (*h)[len(*h)-1]; *h = (*h)[:len(*h)-1]; return x }

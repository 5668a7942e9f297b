// Package heap has the binary heap of replays and policies: of values, without the interfaces of container/heap.
package heap

// Heap is a binary heap with the first of its values on top, at index 0.
type Heap[T Ordered[T]] []T

// Ordered is implemented by values that have a total order.
type Ordered[T any] interface{ Before(T) bool }

// Of makes a heap of a list, in its place.
func Of[T Ordered[T]](list []T) Heap[T] {
	h := Heap[T](list)
	for n := len(h)/2 - 1; n >= 0; n-- {
		h.down(n, h[n])
	}
	return h
}

// Push puts in a value.
func (h *Heap[T]) Push(x T) {
	q := append(*h, x)
	n := len(q) - 1
	for n > 0 && x.Before(q[(n-1)/2]) {
		q[n] = q[(n-1)/2]
		n = (n - 1) / 2
	}
	q[n] = x
	*h = q
}

// Pop takes out the first.
func (h *Heap[T]) Pop() T {
	q := *h
	top, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	if len(q) > 0 {
		q.down(0, last)
	}
	return top
}

// down puts a value in the place of the one at n, or as far under it as it belongs.
func (h Heap[T]) down(n int, x T) {
	for 2*n+1 < len(h) {
		c := 2*n + 1
		if c+1 < len(h) && h[c+1].Before(h[c]) {
			c++
		}
		if !h[c].Before(x) {
			break
		}
		h[n] = h[c]
		n = c
	}
	h[n] = x
}

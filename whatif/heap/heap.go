// Package heap has the binary heap of replays and policies: of values, without the interfaces of container/heap; and a heap for
// values that come nearly in order.
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

// Nearly is a heap for values that come nearly in order: those that do stand in a line, the others in a heap.
type Nearly[T Ordered[T]] struct {
	line []T
	head int // of the line
	late Heap[T]
}

// Len returns the number of values.
func (q *Nearly[T]) Len() int { return len(q.line) - q.head + len(q.late) }

// Push puts in a value.
func (q *Nearly[T]) Push(x T) {
	switch n := len(q.line); {
	case n == q.head:
		q.line, q.head = append(q.line[:0], x), 0
		return
	case x.Before(q.line[n-1]):
		q.late.Push(x)
		return
	case n == cap(q.line) && q.head > n/2: // room instead of growing
		q.line, q.head = q.line[:copy(q.line, q.line[q.head:])], 0
	}
	q.line = append(q.line, x)
}

// First returns the first value; there must be one.
func (q *Nearly[T]) First() T {
	if q.inLine() {
		return q.line[q.head]
	}
	return q.late[0]
}

// Pop takes out the first.
func (q *Nearly[T]) Pop() T {
	if q.inLine() {
		q.head++
		return q.line[q.head-1]
	}
	return q.late.Pop()
}

func (q *Nearly[T]) inLine() bool {
	return q.head < len(q.line) && (len(q.late) == 0 || q.line[q.head].Before(q.late[0]))
}

package network

import "math"

// share is a rate that each flow of a link gets at least.
type share struct {
	rate float64
	link int32
}

func (s share) before(o share) bool { return s.rate < o.rate || s.rate == o.rate && s.link < o.link }

// linkHeap has the smallest share on top.
type linkHeap []share

func (h linkHeap) init() {
	for n := len(h)/2 - 1; n >= 0; n-- {
		h.down(n)
	}
}

func (h *linkHeap) pop() {
	n := len(*h) - 1
	(*h)[0] = (*h)[n]
	*h = (*h)[:n]
	h.down(0)
}

// down moves a share down to its place, and is whether it had to move.
func (h linkHeap) down(n int) bool {
	if n >= len(h) {
		return false
	}
	from, s := n, h[n]
	for {
		k := 2*n + 1
		if k >= len(h) {
			break
		}
		if k+1 < len(h) && h[k+1].before(h[k]) {
			k++
		}
		if !h[k].before(s) {
			break
		}
		h[n] = h[k]
		n = k
	}
	h[n] = s
	return n != from
}

// The heap of a class's marks. A flow knows its place in it.

func (f *Fluid) push(cl *class, m mark) {
	cl.marks = append(cl.marks, m)
	f.up(cl.marks, len(cl.marks)-1)
}

// remove takes the mark at a place out.
func (f *Fluid) remove(cl *class, place int32) {
	n := len(cl.marks) - 1
	last := cl.marks[n]
	cl.marks = cl.marks[:n]
	if int(place) == n {
		return
	}
	cl.marks[place] = last
	f.flows[last.id].place = place
	f.sink(cl.marks, int(place))
	f.up(cl.marks, int(f.flows[last.id].place))
}

func (f *Fluid) earlier(a, b mark) bool {
	return a.at < b.at || a.at == b.at && f.flows[a.id].seq < f.flows[b.id].seq
}

func (f *Fluid) up(h []mark, n int) {
	for n > 0 {
		k := (n - 1) / 2
		if !f.earlier(h[n], h[k]) {
			break
		}
		h[n], h[k] = h[k], h[n]
		f.flows[h[n].id].place = int32(n)
		n = k
	}
	f.flows[h[n].id].place = int32(n)
}

func (f *Fluid) sink(h []mark, n int) {
	for {
		k := 2*n + 1
		if k >= len(h) {
			break
		}
		if k+1 < len(h) && f.earlier(h[k+1], h[k]) {
			k++
		}
		if !f.earlier(h[k], h[n]) {
			break
		}
		h[n], h[k] = h[k], h[n]
		f.flows[h[n].id].place = int32(n)
		n = k
	}
	f.flows[h[n].id].place = int32(n)
}

// nexts is when the next flow of each class ends, and the earliest of every 64: most changes touch no minimum, and one
// that does costs a look at 64.
type nexts struct {
	at    []float64
	least []float64
	stale []bool
}

const block = 64

func (n *nexts) grow() {
	if len(n.at)%block == 0 {
		n.least = append(n.least, math.Inf(1))
		n.stale = append(n.stale, false)
	}
	n.at = append(n.at, math.Inf(1))
}

func (n *nexts) set(c int32, at float64) {
	b := c / block
	switch {
	case at <= n.least[b]:
		n.least[b] = at
	case n.at[c] == n.least[b]:
		n.stale[b] = true
	}
	n.at[c] = at
}

// min is the earliest of all.
func (n *nexts) min() float64 {
	least := math.Inf(1)
	for b := range n.least {
		least = min(least, n.block(b))
	}
	return least
}

func (n *nexts) block(b int) float64 {
	if n.stale[b] {
		n.stale[b] = false
		least := math.Inf(1)
		for _, at := range n.at[b*block : min((b+1)*block, len(n.at))] {
			if at < least {
				least = at
			}
		}
		n.least[b] = least
	}
	return n.least[b]
}

// first is the first class with a flow that ends until an instant, -1 when there is none.
func (n *nexts) first(until float64) int32 {
	for b := range n.least {
		if n.block(b) > until {
			continue
		}
		for c := b * block; c < min((b+1)*block, len(n.at)); c++ {
			if n.at[c] <= until {
				return int32(c)
			}
		}
	}
	return -1
}

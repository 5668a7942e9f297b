package mincost

import "fmt"

// search is the working memory of a search: Dijkstra's, with reduced costs as lengths.
type search struct {
	distance []int64
	from     []half  // the half by which a node was reached, seen from that node's predecessor
	seen     []int32 // the round in which it was reached
	done     []int32 // and in which its distance was settled
	round    int32
	near     []int32 // reached at the distance of the node just settled
	heap     []entry
	settled  []int32
}

// entry is a node in the heap. It is out of date when the node was reached at a smaller distance since.
type entry struct {
	distance int64
	node     int32
}

func (s *search) grow() {
	s.distance, s.from = append(s.distance, 0), append(s.from, half{})
	s.seen, s.done = append(s.seen, 0), append(s.done, 0)
}

// augment sends the excess of nodes to nodes that lack it.
func (n *Network) augment() error {
	for {
		u, v := n.last(&n.sources, 1), n.last(&n.sinks, -1)
		if u == none || v == none {
			return nil // both, as supplies balance
		}
		// From the end that has less around it: one may be a sink for everything.
		forth := len(n.halves[u]) <= len(n.halves[v])
		if !forth {
			u = v
		}
		if !n.augmentFrom(u, forth) {
			if !forth {
				return fmt.Errorf("%w: node %d lacks %d units", ErrInfeasible, u, -n.nodes[u].excess)
			}
			return fmt.Errorf("%w: %d units have nowhere to go from node %d", ErrInfeasible, n.nodes[u].excess, u)
		}
	}
}

// last is the last node of a list whose excess has a sign, none when there is none.
func (n *Network) last(list *[]int32, sign int64) int32 {
	for k := len(*list); k > 0; k = len(*list) {
		u := (*list)[k-1]
		v := &n.nodes[u]
		if v.excess*sign > 0 {
			return u
		}
		if sign > 0 {
			v.listed = false
		} else {
			v.lacking = false
		}
		*list = (*list)[:k-1]
	}
	return none
}

// augmentFrom sends some excess the shortest way: from a node to wherever it is lacking, or to a node from wherever it is.
// It gives false when there is no way.
func (n *Network) augmentFrom(u int32, forth bool) bool {
	end, length := n.shortest(u, forth)
	s := &n.search
	n.Work.Searches++
	n.Work.Settled += len(s.settled)
	if end == none {
		return false
	}
	sign := int64(1)
	if !forth {
		sign = -1
	}
	for _, v := range s.settled {
		x := &n.nodes[v]
		x.potential += sign * (length - s.distance[v])
		n.extreme = max(n.extreme, x.potential, -x.potential)
	}
	d := min(sign*n.nodes[u].excess, -sign*n.nodes[end].excess)
	for v := end; v != u; v = s.from[v].other {
		h := s.from[v].arc
		if !forth {
			h = ^h
		}
		if h >= 0 {
			d = min(d, n.arcs[h].capacity-n.arcs[h].flow)
		} else {
			d = min(d, n.arcs[^h].flow)
		}
	}
	for v := end; v != u; v = s.from[v].other {
		h := s.from[v].arc
		if !forth {
			h = ^h
		}
		if h >= 0 {
			n.arcs[h].flow += d
			n.sort(h)
		} else {
			n.arcs[^h].flow -= d
			n.sort(^h)
		}
	}
	n.nodes[u].excess -= sign * d
	n.nodes[end].excess += sign * d
	return true
}

// shortest finds the nearest node of the other kind. Nodes nearer than that are settled when it ends.
func (n *Network) shortest(u int32, forth bool) (end int32, length int64) {
	s := &n.search
	if s.round++; s.round < 0 {
		clear(s.seen)
		clear(s.done)
		s.round = 1
	}
	s.near, s.heap, s.settled = append(s.near[:0], u), s.heap[:0], s.settled[:0]
	s.seen[u], s.distance[u] = s.round, 0
	end, length = none, int64(1)<<62
	for {
		if k := len(s.near); k > 0 {
			u, s.near = s.near[k-1], s.near[:k-1]
		} else if len(s.heap) > 0 {
			e := s.pop()
			if e.distance >= length {
				return end, length
			}
			if u = e.node; e.distance > s.distance[u] {
				continue
			}
		} else {
			return end, length
		}
		if s.done[u] == s.round {
			continue
		}
		s.done[u] = s.round
		s.settled = append(s.settled, u)
		var v int32
		var d int64
		if forth {
			v, d = n.relax(u, length)
		} else {
			v, d = n.relaxBack(u, length)
		}
		if v != none {
			if end, length = v, d; d == s.distance[u] {
				return end, length
			}
		}
	}
}

// relax looks at the arcs with room from a settled node. It gives the nearest node that lacks units among those that they
// reach nearer than the limit; one no further than the node itself ends it.
func (n *Network) relax(u int32, limit int64) (end int32, length int64) {
	s := &n.search
	end, length = none, limit
	here := s.distance[u]
	base := here - n.nodes[u].potential
	halves := n.halves[u][:n.nodes[u].open]
	n.Work.Scanned += len(halves)
	for _, h := range halves {
		v := &n.nodes[h.other]
		d := base + v.potential
		if h.arc >= 0 {
			d += n.arcs[h.arc].cost
		} else {
			d -= n.arcs[^h.arc].cost
		}
		if d >= length || s.seen[h.other] == s.round && d >= s.distance[h.other] {
			continue
		}
		s.reach(h.other, d, half{h.arc, u})
		if v.excess < 0 {
			if end, length = h.other, d; d == here {
				break
			}
		} else if d == here {
			s.near = append(s.near, h.other)
		} else {
			s.put(entry{d, h.other})
		}
	}
	return end, length
}

// relaxBack is relax against the direction of flow: it looks at arcs with room towards a node, for one that has excess.
func (n *Network) relaxBack(u int32, limit int64) (end int32, length int64) {
	s := &n.search
	end, length = none, limit
	here := s.distance[u]
	base := here + n.nodes[u].potential
	n.Work.Scanned += len(n.halves[u])
	for _, h := range n.halves[u] {
		cost, room := n.back(h)
		if !room {
			continue
		}
		v := &n.nodes[h.other]
		d := base + cost - v.potential
		if d >= length || s.seen[h.other] == s.round && d >= s.distance[h.other] {
			continue
		}
		s.reach(h.other, d, half{h.arc, u})
		if v.excess > 0 {
			if end, length = h.other, d; d == here {
				break
			}
		} else if d == here {
			s.near = append(s.near, h.other)
		} else {
			s.put(entry{d, h.other})
		}
	}
	return end, length
}

// reach notes how a node was reached.
func (s *search) reach(u int32, distance int64, by half) {
	s.seen[u], s.distance[u], s.from[u] = s.round, distance, by
}

// put and pop keep a heap with four children a node.
func (s *search) put(e entry) {
	k := len(s.heap)
	s.heap = append(s.heap, e)
	for k > 0 {
		up := (k - 1) / 4
		if s.heap[up].distance <= e.distance {
			break
		}
		s.heap[k] = s.heap[up]
		k = up
	}
	s.heap[k] = e
}

func (s *search) pop() entry {
	h := s.heap
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	s.heap = h
	if len(h) == 0 {
		return top
	}
	k := 0
	for {
		child := 4*k + 1
		if child >= len(h) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(h)); c++ {
			if h[c].distance < h[least].distance {
				least = c
			}
		}
		if h[least].distance >= last.distance {
			break
		}
		h[k] = h[least]
		k = least
	}
	h[k] = last
	return top
}

package mincost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// search is the working memory of a search: Dijkstra's algorithm with reduced costs as lengths. It runs forward from a node
// with excess to one that lacks units, or backward.
type search struct {
	forth   bool
	start   int32
	labels  []label // of nodes
	round   int32
	near    []int32 // reached at the distance of the node just settled
	heap    []entry
	settled []int32
	work    int // arcs scanned

	end    int32 // the nearest end node found so far
	length int64 // its distance
}

// label is how a node was reached.
type label struct {
	distance int64
	before   int32 // the node before it
	arc      int32 // the number by which the half of the node before identifies it
	seen     int32 // the round in which it was reached
	done     int32 // the round in which its distance was settled
}

// entry is a node in the heap. It is stale if the node has since been reached at a smaller distance.
type entry struct {
	distance int64
	node     int32
}

func (s *search) grow() { s.labels = append(s.labels, label{}) }

// augment sends the excess of nodes to nodes that lack it.
func (n *Network) augment() error {
	n.forth.forth = true
	if len(n.sources) > fewSources {
		n.rank()
	}
	for {
		u, v := n.last(&n.sources, 1), n.last(&n.sinks, -1)
		if u == none || v == none {
			return nil // both, as supplies balance
		}
		s := n.race(u, v)
		n.Work.Searches++
		n.Work.Settled += len(n.forth.settled) + len(n.back.settled)
		if s.end == none && s.forth {
			return fmt.Errorf("%w: %d units have nowhere to go from node %d", ErrInfeasible, n.nodes[u].excess, u)
		} else if s.end == none {
			return fmt.Errorf("%w: node %d lacks %d units", ErrInfeasible, v, -n.nodes[v].excess)
		}
		n.raise(s)
		n.send(s)
	}
}

// rank orders the sources so that their searches are short: those come first that lose most when their preferred arcs are
// taken, measured by the difference between their most expensive and their cheapest arc (similar to Vogel's regret). Later
// searches then find the cheap paths taken for good, and stop there.
func (n *Network) rank() {
	n.regrets = n.regrets[:0]
	for _, u := range n.sources {
		least, most := int64(math.MaxInt64), int64(math.MinInt64)
		for _, h := range n.halves[u][:n.nodes[u].open] {
			c := h.cost + n.nodes[h.other].potential
			least, most = min(least, c), max(most, c)
		}
		if most < least {
			most = least // no arcs
		}
		n.regrets = append(n.regrets, entry{most - least, u})
	}
	slices.SortFunc(n.regrets, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.distance, y.distance), cmp.Compare(x.node, y.node))
	})
	for k, r := range n.regrets {
		n.sources[k] = r.node // the last goes first
	}
}

// last returns the last node of a list whose excess has the given sign, or none.
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

// fewSources is the number of nodes with excess up to which both directions are tried. A backward search from a sink with many
// arcs changes the potentials of half the network, which pays off only if few searches follow.
const fewSources = 8

// race alternates between a forward search from a node with excess and a backward search from one that lacks units, and returns
// the one that ends first, because either may have the whole network around it. Either may end at another node than the one
// where the other began. The one that begins with fewer arcs goes first, until it has scanned twice as many as the other begins
// with.
func (n *Network) race(u, v int32) *search {
	n.forth.begin(u)
	n.back.begin(v)
	s, other := &n.forth, &n.back
	if len(n.halves[v]) < len(n.halves[u]) {
		s, other = other, s
	}
	other.work = 2 * len(n.halves[other.start])
	for alone := len(n.sources) > fewSources; !n.step(s); {
		if s.work > other.work && !alone {
			s, other = other, s
		}
	}
	return s
}

func (s *search) begin(u int32) {
	if s.round++; s.round < 0 {
		clear(s.labels)
		s.round = 1
	}
	s.start, s.work = u, 0
	s.near, s.heap, s.settled = append(s.near[:0], u), s.heap[:0], s.settled[:0]
	s.labels[u].seen, s.labels[u].distance = s.round, 0
	s.end, s.length = none, int64(1)<<62
}

// step settles the next node; true when the search is over: no unsettled node is nearer than its end.
func (n *Network) step(s *search) bool {
	var u int32
	if k := len(s.near); k > 0 {
		u, s.near = s.near[k-1], s.near[:k-1]
	} else if len(s.heap) > 0 {
		e := s.pop()
		if e.distance >= s.length {
			return true
		}
		if u = e.node; e.distance > s.labels[u].distance {
			return false
		}
	} else {
		return true
	}
	if s.labels[u].done == s.round {
		return false
	}
	s.labels[u].done = s.round
	s.settled = append(s.settled, u)
	if s.forth {
		n.relax(s, u)
	} else {
		n.relaxBack(s, u)
	}
	return s.length == s.labels[u].distance
}

// relax scans the arcs with room from a settled node.
func (n *Network) relax(s *search, u int32) {
	here := s.labels[u].distance
	base := here - n.nodes[u].potential
	halves := n.halves[u][:n.nodes[u].open]
	s.work += len(halves) + 1
	n.Work.Scanned += len(halves)
	for _, h := range halves {
		v := &n.nodes[h.other]
		if d := base + h.cost + v.potential; d < s.length {
			s.reach(h, d, u, here, v.excess < 0)
		}
	}
}

// relaxBack scans the arcs with room towards a settled node.
func (n *Network) relaxBack(s *search, u int32) {
	here := s.labels[u].distance
	base := here + n.nodes[u].potential
	s.work += len(n.halves[u]) + 1
	n.Work.Scanned += len(n.halves[u])
	for _, h := range n.halves[u] {
		v := &n.nodes[h.other]
		d := base - h.cost - v.potential
		if d >= s.length {
			continue
		}
		if _, room := n.reverse(h); room {
			s.reach(h, d, u, here, v.excess > 0)
		}
	}
}

// reach records the distance at which a node was reached, if it is less than before.
func (s *search) reach(h half, d int64, before int32, here int64, ends bool) {
	l := &s.labels[h.other]
	if l.seen == s.round && d >= l.distance {
		return
	}
	l.seen, l.distance, l.before, l.arc = s.round, d, before, h.arc
	switch {
	case ends:
		s.end, s.length = h.other, d
	case d == here:
		s.near = append(s.near, h.other)
	default:
		s.put(entry{d, h.other})
	}
}

// raise changes potentials so that the path found has reduced costs of 0, and no arc with room has a negative one.
func (n *Network) raise(s *search) {
	for _, u := range s.settled {
		d := s.length - s.labels[u].distance
		if !s.forth {
			d = -d
		}
		v := &n.nodes[u]
		v.potential += d
		n.extreme = max(n.extreme, v.potential, -v.potential)
	}
}

// send moves as many units as possible along the path found.
func (n *Network) send(s *search) {
	sign := int64(1)
	if !s.forth {
		sign = -1
	}
	d := min(sign*n.nodes[s.start].excess, -sign*n.nodes[s.end].excess)
	for u := s.end; u != s.start; u = s.labels[u].before {
		if a, forward := s.by(u); forward {
			d = min(d, n.arcs[a].capacity-n.arcs[a].flow)
		} else {
			d = min(d, n.arcs[a].flow)
		}
	}
	for u := s.end; u != s.start; u = s.labels[u].before {
		if a, forward := s.by(u); forward {
			n.change(a, d)
		} else {
			n.change(a, -d)
		}
	}
	n.nodes[s.start].excess -= sign * d
	n.nodes[s.end].excess += sign * d
}

// by returns the arc by which a node was reached, and whether the path uses it forward.
func (s *search) by(u int32) (a int32, forward bool) {
	h := s.labels[u].arc
	return max(h, ^h), (h >= 0) == s.forth
}

// put and pop maintain a heap with four children per node.
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

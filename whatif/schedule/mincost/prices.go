package mincost

// reduced returns the reduced cost of an arc.
func (n *Network) reduced(e *arc) int64 {
	return e.cost - n.nodes[e.tail].potential + n.nodes[e.head].potential
}

// mend ensures that no arc with room has a negative reduced cost, and none with flow a positive one. It lowers a potential if
// that violates this for no other arc; otherwise it fills or empties the arc, and augment does the rest. If most of the network
// is new, lowering continues from node to node, as in the algorithm of Bellman and Ford.
func (n *Network) mend() {
	everywhere := 2*len(n.suspects) >= n.arcCount
	for _, a := range n.suspects {
		e := &n.arcs[a]
		if e.tail == none {
			continue
		}
		switch r := n.reduced(e); {
		case r < 0 && e.flow < e.capacity:
			if e.tail == e.head || !n.lower(e.tail, -r, everywhere) {
				n.push(a, e.capacity-e.flow)
			}
		case r > 0 && e.flow > 0:
			if e.tail == e.head || !n.lower(e.head, r, everywhere) {
				n.push(a, -e.flow)
			}
		}
	}
	n.suspects = n.suspects[:0]
	// Around a cycle of negative cost this would continue forever.
	budget := 16 * n.arcCount
	for k := 0; k < len(n.lowered); k++ {
		u := n.lowered[k]
		budget -= len(n.halves[u])
		n.nodes[u].queued = false
		n.follow(u, budget > 0)
	}
	n.lowered = n.lowered[:0]
}

// fewArcs is the largest number of arcs of a node whose potential may be lowered if that requires scanning them first.
const fewArcs = 64

// lower lowers the potential of a node, unless that would violate the reduced cost of an arc and others is false.
func (n *Network) lower(u int32, by int64, others bool) bool {
	v := &n.nodes[u]
	if !others && !n.free(u, by) {
		return false
	}
	v.potential -= by
	n.extreme = max(n.extreme, -v.potential)
	if others && !v.queued {
		v.queued = true
		n.lowered = append(n.lowered, u)
	}
	return true
}

// free reports whether the potential of a node can be lowered without violating the reduced cost of an arc.
func (n *Network) free(u int32, by int64) bool {
	if len(n.halves[u]) > fewArcs {
		return false
	}
	p := n.nodes[u].potential - by
	n.Work.Scanned += len(n.halves[u])
	for _, h := range n.halves[u] {
		if r, ok := n.reverse(h); ok && r+p-n.nodes[h.other].potential < 0 && h.other != u {
			return false
		}
	}
	return true
}

// reverse returns the cost of a half in the other direction, from its other node, and whether there is room in that direction.
func (n *Network) reverse(h half) (cost int64, room bool) {
	if h.arc >= 0 {
		return -h.cost, n.arcs[h.arc].flow > 0
	}
	e := &n.arcs[^h.arc]
	return -h.cost, e.flow < e.capacity
}

// follow repairs the arcs with room towards a node that its lower potential violated.
func (n *Network) follow(u int32, others bool) {
	p := n.nodes[u].potential
	n.Work.Scanned += len(n.halves[u])
	for k := 0; k < len(n.halves[u]); k++ {
		h := n.halves[u][k]
		cost, room := n.reverse(h)
		r := cost - n.nodes[h.other].potential + p
		if !room || r >= 0 || h.other == u || others && n.lower(h.other, -r, true) {
			continue
		}
		if h.arc >= 0 {
			n.push(h.arc, -n.arcs[h.arc].flow)
		} else {
			n.push(^h.arc, n.arcs[^h.arc].capacity-n.arcs[^h.arc].flow)
		}
		// The push may have reordered the list; a half that moved forward is scanned again.
		if n.halves[u][k] != h {
			k--
		}
	}
}

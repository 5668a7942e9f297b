package mincost

// pivot moves flow on an arc out of the tree the way its reduced cost says, around the cycle that it closes in the tree, as
// far as that goes; an arc that stops it leaves the tree for the one that came.
func (n *Network) pivot(a int32) {
	e := n.arcs[a]
	forward := n.state[a] == atLower || n.state[a] == between && n.reduced(a) < 0
	from, to, most := e.tail, e.head, n.capacity[a]-n.flow[a]
	if !forward {
		from, to, most = e.head, e.tail, n.flow[a]
	}
	moved, out, second := n.cycle(from, to, most)
	if forward {
		n.flow[a] += moved
	} else {
		n.flow[a] -= moved
	}
	n.Work.Pivots++
	if moved == 0 {
		n.Work.Degenerate++
	}
	if out == none {
		n.state[a] = atLower
		if forward {
			n.state[a] = atUpper
		}
		return
	}
	inside, outside := from, to
	if second {
		inside, outside = to, from
	}
	n.exchange(out, inside, outside, a)
}

// drain takes the flow of an artificial arc that is out of the tree back into the tree, as far as that goes; if it does
// not go all the way, the artificial arc joins the tree.
func (n *Network) drain(u int32) {
	f := n.artificial[u]
	from, to := int32(Root), u
	if f < 0 {
		from, to = u, int32(Root)
	}
	moved, out, _ := n.cycle(from, to, max(f, -f))
	if f < 0 {
		n.artificial[u] += moved
	} else {
		n.artificial[u] -= moved
	}
	n.Work.Pivots++
	if out != none {
		n.exchange(out, u, int32(Root), artifice)
	}
}

// cycle pushes flow along an arc that is not in the tree and back through the tree, at most so much. It gives how much, and
// the node below the arc that stopped it first: of several the last on the way around from the topmost node, which keeps
// the tree strongly feasible. second says that this arc is on the side where the flow goes up.
func (n *Network) cycle(from, to int32, most int64) (moved int64, out int32, second bool) {
	t := n.tree
	out = none
	u, v := from, to
	for u != v {
		if t[u].size < t[v].size {
			if _, down := n.room(u); down < most {
				most, out, second = down, u, false
			}
			u = t[u].parent
		} else {
			if up, _ := n.room(v); up <= most {
				most, out, second = up, v, true
			}
			v = t[v].parent
		}
	}
	return n.push(from, to, u, most), out, second
}

// push moves flow through the tree from one node up to the topmost and down to the other.
func (n *Network) push(from, to, top int32, d int64) int64 {
	if d == 0 {
		return 0
	}
	for u := from; u != top; u = n.tree[u].parent {
		n.add(u, -d)
	}
	for v := to; v != top; v = n.tree[v].parent {
		n.add(v, d)
	}
	return d
}

// add lets d more units flow from u towards its parent.
func (n *Network) add(u int32, d int64) {
	v := &n.tree[u]
	switch {
	case v.arc == artifice:
		n.artificial[u] += d
	case v.up:
		n.flow[v.arc] += d
	default:
		n.flow[v.arc] -= d
	}
}

// exchange takes the arc above out from the tree and hangs what it held, from inside, on outside by an arc that is new in
// the tree.
func (n *Network) exchange(out, inside, outside, arc int32) {
	t := n.tree
	leaving := t[out].arc
	size := t[out].size
	for p := t[out].parent; p != none; p = t[p].parent {
		t[p].size -= size
	}
	// The way from inside to out turns around.
	n.disown(out)
	below, by, up := outside, arc, false
	if arc == artifice {
		up = n.artificial[inside] >= 0
	} else {
		up = n.arcs[arc].tail == inside
	}
	under := int32(0) // size of what stays below the former child
	for u := inside; ; {
		v := &t[u]
		parent, old, oldUp, oldSize := v.parent, v.arc, v.up, v.size
		if u != out {
			n.disown(u)
		}
		v.arc, v.up = by, up
		v.size = size - under
		n.adopt(below, u)
		if u == out {
			break
		}
		// next: the former parent hangs on u
		under, below, by, up = oldSize, u, old, !oldUp
		u = parent
	}
	for p := outside; p != none; p = t[p].parent {
		t[p].size += size
	}
	if arc != artifice {
		n.state[arc] = inTree
	}
	if leaving != artifice {
		if n.flow[leaving] == 0 {
			n.state[leaving] = atLower
		} else {
			n.state[leaving] = atUpper
		}
	}
	cost := penalty
	if arc != artifice {
		cost = n.arcs[arc].cost
	}
	if !t[inside].up {
		cost = -cost
	}
	if d := n.potential[outside] + cost - n.potential[inside]; d != 0 {
		n.shift(inside, d)
	}
}

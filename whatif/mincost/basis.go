package mincost

// The tree. A tree is strongly feasible when every node could send more flow along it to the root: firm says so of one
// arc of it.

// room is how much more flow the arc above u takes towards the root, and away from it.
func (n *Network) room(u int32) (up, down int64) {
	v := &n.tree[u]
	if v.arc == artifice {
		if v.up {
			return endless, n.artificial[u]
		}
		return -n.artificial[u], endless
	}
	f, c := n.flow[v.arc], n.capacity[v.arc]
	if v.up {
		return c - f, f
	}
	return f, c - f
}

func (n *Network) firm(u int32) bool {
	up, _ := n.room(u)
	return up > 0
}

// below is the node that hangs by an arc of the tree.
func (n *Network) below(a int32) int32 {
	if tail := n.arcs[a].tail; n.tree[tail].arc == a {
		return tail
	}
	return n.arcs[a].head
}

// adopt and disown change the list of children alone.
func (n *Network) adopt(p, u int32) {
	t := n.tree
	t[u].parent, t[u].prev, t[u].next = p, none, t[p].child
	if t[p].child != none {
		t[t[p].child].prev = u
	}
	t[p].child = u
}

func (n *Network) disown(u int32) {
	t := n.tree
	if t[u].prev != none {
		t[t[u].prev].next = t[u].next
	} else {
		t[t[u].parent].child = t[u].next
	}
	if t[u].next != none {
		t[t[u].next].prev = t[u].prev
	}
}

// hang exchanges the arc above u for the artificial arc of u.
func (n *Network) hang(u int32) {
	v := &n.tree[u]
	a := v.arc
	if a == artifice {
		return
	}
	for p := v.parent; p != int32(Root); p = n.tree[p].parent {
		n.tree[p].size -= v.size
	}
	n.disown(u)
	v.arc, v.up = artifice, n.artificial[u] >= 0
	n.adopt(int32(Root), u)
	n.straighten(u)
	n.settle(a)
}

// straighten gives a node that hangs on its artificial arc the potential that belongs to the arc's direction.
func (n *Network) straighten(u int32) {
	want := penalty
	if !n.tree[u].up {
		want = -penalty
	}
	if n.stale {
		n.potential[u] = want
		return
	}
	if d := want - n.potential[u]; d != 0 {
		n.shift(u, d)
	}
}

// settle says where the flow of an arc out of the tree is.
func (n *Network) settle(a int32) {
	switch f := n.flow[a]; {
	case f == 0:
		n.state[a] = atLower
	case f == n.capacity[a]:
		n.state[a] = atUpper
	default:
		if n.state[a] != between {
			n.loose = append(n.loose, a)
		}
		n.state[a] = between
		return
	}
	n.suspect(a)
}

// inject lets d more units enter at u: they go to the root by the artificial arc of u, until Solve finds a better way.
func (n *Network) inject(u int32, d int64) {
	if d == 0 || u == int32(Root) {
		return
	}
	n.artificial[u] += d
	v := &n.tree[u]
	if v.arc != artifice {
		n.stranded = append(n.stranded, u)
		return
	}
	if up := n.artificial[u] >= 0; up != v.up {
		v.up = up
		n.straighten(u)
	}
}

// shift adds d to the potentials of the subtree of u.
func (n *Network) shift(u int32, d int64) {
	t := n.tree
	for v := u; ; {
		n.potential[v] += d
		n.soil(v)
		n.Work.Moved++
		if t[v].child != none {
			v = t[v].child
			continue
		}
		for v != u && t[v].next == none {
			v = t[v].parent
		}
		if v == u {
			return
		}
		v = t[v].next
	}
}

// recompute gives all nodes the potentials of the tree.
func (n *Network) recompute() {
	t := n.tree
	n.stack = append(n.stack[:0], int32(Root))
	for len(n.stack) > 0 {
		p := n.stack[len(n.stack)-1]
		n.stack = n.stack[:len(n.stack)-1]
		for v := t[p].child; v != none; v = t[v].next {
			cost := penalty
			if t[v].arc != artifice {
				cost = n.arcs[t[v].arc].cost
			}
			if !t[v].up {
				cost = -cost
			}
			n.potential[v] = n.potential[p] + cost
			n.stack = append(n.stack, v)
		}
	}
	n.Work.Moved += n.nodeCount
	n.stale = false
}

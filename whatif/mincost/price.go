package mincost

import (
	"fmt"
	"math"
)

// block is how many arcs are priced before the worst of them is exchanged.
func (n *Network) block() int { return max(32, int(math.Sqrt(float64(n.arcCount)))) }

// soil notes that the arcs of a node are to be priced.
func (n *Network) soil(u int32) {
	if v := &n.tree[u]; !v.dirty && !n.sweeping {
		v.dirty = true
		n.dirty = append(n.dirty, u)
		n.dirtyWork += int(v.degree)
	}
}

// reduced is the reduced cost of an arc.
func (n *Network) reduced(a int32) int64 {
	e := &n.arcs[a]
	return e.cost - n.potential[e.tail] + n.potential[e.head]
}

// suspect notes an arc out of the tree whose flow may have to move.
func (n *Network) suspect(a int32) {
	if e := &n.arcs[a]; !n.stale && int64(n.state[a])*n.reduced(a) >= 0 || n.tree[e.tail].dirty || n.tree[e.head].dirty {
		return
	} else if n.tree[e.tail].degree <= n.tree[e.head].degree {
		n.soil(e.tail)
	} else {
		n.soil(e.head)
	}
}

// Solve makes the flow one of least cost. After an error the network can be edited and solved again.
func (n *Network) Solve() error {
	if n.err != nil {
		return n.err
	}
	if n.balance != 0 {
		return fmt.Errorf("%w by %d", ErrUnbalanced, n.balance)
	}
	everywhere := n.stale
	if n.stale {
		n.recompute()
	}
	n.shifts = 0
	n.tidy()
	for !everywhere {
		// Where half of the network is to be looked at anyway, looking at all of it in order is faster.
		if everywhere = n.dirtyWork > n.arcCount; everywhere {
			break
		}
		a := n.dirtiest()
		if a == none {
			break
		}
		n.pivot(a)
	}
	if everywhere {
		n.sweep()
	}
	return n.feasible()
}

// tidy brings flow that edits left between bounds or on artificial arcs to where a tree has it.
func (n *Network) tidy() {
	for _, a := range n.loose {
		if n.state[a] == between && n.arcs[a].tail != none {
			n.pivot(a)
		}
	}
	n.loose = n.loose[:0]
	for _, u := range n.stranded {
		if n.tree[u].live && n.tree[u].arc != artifice && n.artificial[u] != 0 {
			n.drain(u)
		}
	}
	n.stranded = n.stranded[:0]
}

// dirtiest gives the arc that violates optimality the most among those at the next dirty nodes, none when there is none.
// A node stays dirty until none of its arcs does.
func (n *Network) dirtiest() int32 {
	best, worst, seen, limit := none, int64(0), 0, n.block()
	for k := len(n.dirty) - 1; k >= 0 && (seen < limit || best == none); k-- {
		u := n.dirty[k]
		seen += int(n.tree[u].degree)
		a, by := n.worstOf(u)
		if a == none {
			last := len(n.dirty) - 1
			n.dirty[k] = n.dirty[last]
			n.dirty = n.dirty[:last]
			n.tree[u].dirty = false
			n.dirtyWork -= int(n.tree[u].degree)
		} else if by < worst {
			best, worst = a, by
		}
	}
	n.Work.Priced += seen
	return best
}

// worstOf is the arc of a node that violates optimality the most, and by how much.
func (n *Network) worstOf(u int32) (a int32, by int64) {
	a = none
	for b := n.firstOut[u]; b != none; b = n.links[b].nextOut {
		if v := int64(n.state[b]) * n.reduced(b); v < by {
			a, by = b, v
		}
	}
	for b := n.firstIn[u]; b != none; b = n.links[b].nextIn {
		if v := int64(n.state[b]) * n.reduced(b); v < by {
			a, by = b, v
		}
	}
	return a, by
}

// sweep prices all arcs, block after block, until a whole round finds nothing.
func (n *Network) sweep() {
	n.sweeping = true
	size := n.block()
	arcs, state := n.arcs, n.state
	for quiet := 0; quiet < len(arcs); {
		best, worst := none, int64(0)
		if n.next >= len(arcs) {
			n.next = 0
		}
		end := min(n.next+size, len(arcs))
		for a := n.next; a < end; a++ {
			if s := int64(state[a]); s != 0 {
				e := &arcs[a]
				if v := s * (e.cost - n.potential[e.tail] + n.potential[e.head]); v < worst {
					best, worst = int32(a), v
				}
			}
		}
		n.Work.Priced += end - n.next
		quiet += end - n.next
		n.next = end
		if best != none {
			quiet = 0
			n.pivot(best)
		}
	}
	n.sweeping = false
	for _, u := range n.dirty {
		n.tree[u].dirty = false
	}
	n.dirty, n.dirtyWork = n.dirty[:0], 0
}

// feasible says whether an artificial arc has flow. Only those in the tree can.
func (n *Network) feasible() error {
	for u := n.tree[Root].child; u != none; u = n.tree[u].next {
		if n.tree[u].arc != artifice {
			continue
		}
		if f := n.artificial[u]; f > 0 {
			return fmt.Errorf("%w: %d units have nowhere to go from node %d", ErrInfeasible, f, u)
		} else if f < 0 {
			return fmt.Errorf("%w: %d units are missing at node %d", ErrInfeasible, -f, u)
		}
	}
	return nil
}

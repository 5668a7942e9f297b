package mincost

import (
	"errors"
	"fmt"
	"math/bits"
)

// Node and Arc are handles. Those of removed nodes and arcs are given out again, the last removed first.
type (
	Node int32
	Arc  int32
)

// Root is there from the start, with supply 0, and can not be removed. All else hangs on it: where one node takes most of
// the flow, such as a sink, it should be that one, and it may as well stand alone.
const Root Node = 0

// What a network may hold. Within these bounds no sum overflows: a potential is at most a way of MaxNodes arcs and one
// artificial arc, a flow at most the supplies and capacities together.
const (
	MaxNodes    = 1 << 20
	MaxArcs     = 1 << 22
	MaxCost     = 1 << 36 // cost of a unit of flow, either sign
	MaxCapacity = 1 << 40 // stands for unlimited, too
	MaxSupply   = 1 << 40
)

// What is wrong with a network. The errors of Solve and Cost wrap them.
var (
	ErrInfeasible = errors.New("no flow satisfies the supplies within the capacities")
	ErrUnbalanced = errors.New("supplies and demands differ")
	ErrOverflow   = errors.New("out of the range of the solver")
)

const (
	none     = int32(-1)
	artifice = int32(-1)      // as the arc to a parent: the artificial one
	penalty  = int64(1) << 57 // cost of an artificial arc: above MaxNodes × MaxCost
	endless  = int64(1) << 62 // capacity of an artificial arc
)

// Where an arc's flow is. The values of those out of the tree multiply a reduced cost: it must not be negative then.
const (
	atUpper int8 = -1
	inTree  int8 = 0 // and removed ones, which nobody looks at
	atLower int8 = 1
	between int8 = 2 // out of the tree, at neither bound: until the next Solve
)

// ends is what pricing reads of an arc, in one piece.
type ends struct {
	tail, head int32
	cost       int64
}

// vertex is a node in the tree.
type vertex struct {
	parent, arc       int32 // what it hangs on, and by which arc
	child, next, prev int32 // its first child, its siblings
	size              int32 // of the subtree
	up                bool  // the arc leads to the parent
	live, dirty       bool
	degree            int32
}

// Network is a network and its flow.
type Network struct {
	arcs     []ends
	state    []int8
	capacity []int64
	flow     []int64
	links    []link
	freeArcs []int32
	arcCount int

	tree       []vertex
	potential  []int64
	supply     []int64
	artificial []int64 // flow on the artificial arc of a node: positive to the root, negative from it
	firstOut   []int32
	firstIn    []int32
	freeNodes  []int32
	nodeCount  int

	balance   int64
	err       error // of the first edit that was out of range
	dirty     []int32
	dirtyWork int     // arcs at the dirty nodes
	loose     []int32 // arcs between their bounds
	stranded  []int32 // nodes whose artificial arc has flow, and may be out of the tree
	stale     bool    // potentials are to be computed anew
	sweeping  bool    // all arcs are priced in turn, so nobody need note which
	shifts    int     // nodes whose potential moved since the last Solve
	next      int     // where the sweep goes on
	stack     []int32
	Work      Work
}

// link chains the arcs of a node.
type link struct{ nextOut, prevOut, nextIn, prevIn int32 }

// Work is what was done since it was last set to zero.
type Work struct {
	Pivots, Degenerate int // exchanges in the tree, and those that moved no flow
	Priced             int // arcs looked at
	Moved              int // potentials changed
}

// New gives a network of the root alone.
func New() *Network {
	n := &Network{}
	n.AddNode(0)
	return n
}

// AddNode adds a node with a supply, negative for a demand.
func (n *Network) AddNode(supply int64) Node {
	var u int32
	if k := len(n.freeNodes); k > 0 {
		u, n.freeNodes = n.freeNodes[k-1], n.freeNodes[:k-1]
	} else {
		u = int32(len(n.tree))
		n.tree = append(n.tree, vertex{})
		n.potential = append(n.potential, 0)
		n.supply = append(n.supply, 0)
		n.artificial = append(n.artificial, 0)
		n.firstOut = append(n.firstOut, none)
		n.firstIn = append(n.firstIn, none)
	}
	n.nodeCount++
	if n.nodeCount > MaxNodes {
		n.refuse("%d nodes", n.nodeCount)
	}
	n.tree[u] = vertex{parent: none, arc: artifice, child: none, next: none, prev: none, size: 1, up: true, live: true, dirty: n.tree[u].dirty}
	n.supply[u], n.artificial[u], n.potential[u] = 0, 0, 0
	n.firstOut[u], n.firstIn[u] = none, none
	if u != int32(Root) {
		n.potential[u] = penalty
		n.adopt(int32(Root), u)
		n.tree[Root].size++
	}
	n.SetSupply(Node(u), supply)
	return Node(u)
}

// RemoveNode removes a node with its arcs. What it supplied is gone from the balance.
func (n *Network) RemoveNode(u Node) {
	n.mustNode(u)
	if u == Root {
		panic("mincost: the root can not be removed")
	}
	n.SetSupply(u, 0)
	for n.firstOut[u] != none {
		n.RemoveArc(Arc(n.firstOut[u]))
	}
	for n.firstIn[u] != none {
		n.RemoveArc(Arc(n.firstIn[u]))
	}
	// Without arcs it is a leaf that hangs on its artificial arc, which has no flow.
	n.disown(int32(u))
	n.tree[Root].size--
	n.tree[u].live = false
	n.freeNodes = append(n.freeNodes, int32(u))
	n.nodeCount--
}

// SetSupply changes the supply of a node.
func (n *Network) SetSupply(u Node, supply int64) {
	n.mustNode(u)
	if supply > MaxSupply || supply < -MaxSupply {
		n.refuse("a supply of %d", supply)
		return
	}
	d := supply - n.supply[u]
	n.supply[u] = supply
	n.balance += d
	n.inject(int32(u), d)
}

// AddArc adds an arc. There may be several between two nodes, and an arc from a node to itself.
func (n *Network) AddArc(from, to Node, capacity, cost int64) Arc {
	n.mustNode(from)
	n.mustNode(to)
	capacity, cost = n.within(capacity, cost)
	var a int32
	if k := len(n.freeArcs); k > 0 {
		a, n.freeArcs = n.freeArcs[k-1], n.freeArcs[:k-1]
	} else {
		a = int32(len(n.arcs))
		n.arcs = append(n.arcs, ends{})
		n.state = append(n.state, inTree)
		n.capacity = append(n.capacity, 0)
		n.flow = append(n.flow, 0)
		n.links = append(n.links, link{})
	}
	n.arcCount++
	if n.arcCount > MaxArcs {
		n.refuse("%d arcs", n.arcCount)
	}
	n.arcs[a] = ends{tail: int32(from), head: int32(to), cost: cost}
	n.capacity[a], n.flow[a], n.state[a] = capacity, 0, atLower
	n.chain(a)
	n.suspect(a)
	return Arc(a)
}

// RemoveArc removes an arc.
func (n *Network) RemoveArc(a Arc) {
	n.mustArc(a)
	n.limit(int32(a), 0) // which takes it out of the tree, too: an arc without room is not firm
	n.unchain(int32(a))
	n.state[a] = inTree
	n.arcs[a] = ends{tail: none, head: none}
	n.freeArcs = append(n.freeArcs, int32(a))
	n.arcCount--
}

// SetCapacity changes the capacity of an arc.
func (n *Network) SetCapacity(a Arc, capacity int64) {
	n.mustArc(a)
	capacity, _ = n.within(capacity, 0)
	n.limit(int32(a), capacity)
}

// SetCost changes the cost of a unit of flow on an arc.
func (n *Network) SetCost(a Arc, cost int64) {
	n.mustArc(a)
	_, cost = n.within(0, cost)
	d := cost - n.arcs[a].cost
	if d == 0 {
		return
	}
	n.arcs[a].cost = cost
	if n.state[a] != inTree {
		n.suspect(int32(a))
		return
	}
	u := n.below(int32(a))
	if !n.tree[u].up {
		d = -d
	}
	// Many changes at once are cheaper to carry out together.
	if n.shifts += int(n.tree[u].size); n.stale || n.shifts > 2*n.nodeCount {
		n.stale = true
		return
	}
	n.shift(u, d)
}

// limit sets a capacity and takes back what flows beyond it.
func (n *Network) limit(a int32, capacity int64) {
	n.capacity[a] = capacity
	tail, head := n.arcs[a].tail, n.arcs[a].head
	over := n.flow[a] - capacity
	if over > 0 {
		n.flow[a] = capacity
	}
	if n.state[a] == inTree {
		if u := n.below(a); !n.firm(u) {
			n.hang(u)
		}
	} else {
		n.settle(a)
	}
	if over > 0 {
		n.inject(tail, over)
		n.inject(head, -over)
	}
}

// Flow is the flow on an arc after Solve.
func (n *Network) Flow(a Arc) int64 { return n.flow[a] }

// Potential is what a unit of flow from the node to the root costs at the margin, after Solve. With it no arc that has
// room has a negative reduced cost (its cost − potential of its tail + potential of its head), and none that has flow a positive one.
func (n *Network) Potential(u Node) int64 { return n.potential[u] }

// Nodes and Arcs count what is in the network, the root too.
func (n *Network) Nodes() int { return n.nodeCount }

// Arcs counts the arcs.
func (n *Network) Arcs() int { return n.arcCount }

// Cost is the cost of the flow.
func (n *Network) Cost() (int64, error) {
	var high, low uint64 // 128 bits, two's complement
	for a := range n.arcs {
		if n.flow[a] == 0 || n.arcs[a].tail == none {
			continue
		}
		c := n.arcs[a].cost
		h, l := bits.Mul64(uint64(max(c, -c)), uint64(n.flow[a]))
		var carry uint64
		if c < 0 {
			low, carry = bits.Sub64(low, l, 0)
			high, _ = bits.Sub64(high, h, carry)
		} else {
			low, carry = bits.Add64(low, l, 0)
			high, _ = bits.Add64(high, h, carry)
		}
	}
	if int64(high) != int64(low)>>63 {
		return 0, fmt.Errorf("the cost of the flow: %w", ErrOverflow)
	}
	return int64(low), nil
}

func (n *Network) within(capacity, cost int64) (int64, int64) {
	if capacity < 0 || capacity > MaxCapacity {
		n.refuse("a capacity of %d", capacity)
		capacity = 0
	}
	if cost < -MaxCost || cost > MaxCost {
		n.refuse("a cost of %d", cost)
		cost = 0
	}
	return capacity, cost
}

func (n *Network) refuse(format string, args ...any) {
	if n.err == nil {
		n.err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrOverflow)
	}
}

func (n *Network) mustNode(u Node) {
	if u < 0 || int(u) >= len(n.tree) || !n.tree[u].live {
		panic(fmt.Sprintf("mincost: no node %d", u))
	}
}

func (n *Network) mustArc(a Arc) {
	if a < 0 || int(a) >= len(n.arcs) || n.arcs[a].tail == none {
		panic(fmt.Sprintf("mincost: no arc %d", a))
	}
}

// chain puts an arc into the lists of its nodes.
func (n *Network) chain(a int32) {
	tail, head := n.arcs[a].tail, n.arcs[a].head
	l := link{nextOut: n.firstOut[tail], prevOut: none, nextIn: n.firstIn[head], prevIn: none}
	if l.nextOut != none {
		n.links[l.nextOut].prevOut = a
	}
	if l.nextIn != none {
		n.links[l.nextIn].prevIn = a
	}
	n.links[a] = l
	n.firstOut[tail], n.firstIn[head] = a, a
	n.degrees(a, 1)
}

func (n *Network) unchain(a int32) {
	l := n.links[a]
	if l.prevOut != none {
		n.links[l.prevOut].nextOut = l.nextOut
	} else {
		n.firstOut[n.arcs[a].tail] = l.nextOut
	}
	if l.nextOut != none {
		n.links[l.nextOut].prevOut = l.prevOut
	}
	if l.prevIn != none {
		n.links[l.prevIn].nextIn = l.nextIn
	} else {
		n.firstIn[n.arcs[a].head] = l.nextIn
	}
	if l.nextIn != none {
		n.links[l.nextIn].prevIn = l.prevIn
	}
	n.degrees(a, -1)
}

// degrees counts an arc at its nodes, and in the work that waits at the dirty ones.
func (n *Network) degrees(a, by int32) {
	for _, u := range [2]int32{n.arcs[a].tail, n.arcs[a].head} {
		n.tree[u].degree += by
		if n.tree[u].dirty {
			n.dirtyWork += int(by)
		}
	}
}

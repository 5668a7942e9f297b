package mincost

import (
	"errors"
	"fmt"
	"math/bits"
)

// Node and Arc are handles. Handles of removed nodes and arcs are reused, the last removed first.
type (
	Node int32
	Arc  int32
)

// Limits of a network. Within them no sum overflows.
const (
	MaxNodes    = 1 << 20
	MaxArcs     = 1 << 22
	MaxCost     = 1 << 36 // cost of a unit of flow, either sign
	MaxCapacity = 1 << 40 // also means unlimited
	MaxSupply   = 1 << 40
)

// Errors in a network. The errors of Solve and Cost wrap them.
var (
	ErrInfeasible = errors.New("no flow satisfies the supplies within the capacities")
	ErrUnbalanced = errors.New("supplies and demands differ")
	ErrOverflow   = errors.New("out of the range of the solver")
)

const (
	none   = int32(-1)
	tooFar = int64(1) << 58 // for a potential, when a Solve begins
)

// arc is an arc; tail is none when it is removed.
type arc struct {
	cost, flow, capacity int64
	tail, head           int32
	atTail, atHead       int32 // positions in the lists of its nodes
	moved                bool  // its flow changed since Moved
}

// half is an arc seen from one of its nodes: the arc's number if it leaves the node, the complement if it enters; the node at
// the other end; and the cost of a unit in that direction, so that a search need not read the arc.
type half struct {
	arc, other int32
	cost       int64
}

// vertex is a node.
type vertex struct {
	potential int64
	excess    int64 // supply plus inflow less outflow
	supply    int64
	live      bool
	open      int32 // number of its halves that have room away from it; they are the first in its list
	listed    bool  // among those that may have excess
	lacking   bool  // among those that may lack units
	queued    bool  // among those whose potential was lowered
}

// Network is a network and its flow.
type Network struct {
	arcs      []arc
	nodes     []vertex
	halves    [][]half // of each node
	freeArcs  []int32
	freeNodes []int32
	arcCount  int
	nodeCount int

	balance     int64
	err         error   // of the first edit that was out of range
	suspects    []int32 // arcs whose reduced cost may have got the wrong sign
	sources     []int32 // nodes that may have excess
	sinks       []int32 // nodes that may lack units
	lowered     []int32
	extreme     int64 // no potential was farther from zero
	forth, back search
	moved       []Arc
	regrets     []entry
	Work        Work
}

// Work counts operations since it was last set to zero.
type Work struct {
	Searches int // paths searched for
	Settled  int // nodes that they reached
	Scanned  int // arcs scanned
}

// New returns an empty network.
func New() *Network { return &Network{} }

// AddNode adds a node with a supply, negative for a demand.
func (n *Network) AddNode(supply int64) Node {
	var u int32
	if k := len(n.freeNodes); k > 0 {
		u, n.freeNodes = n.freeNodes[k-1], n.freeNodes[:k-1]
	} else {
		u = int32(len(n.nodes))
		n.nodes = append(n.nodes, vertex{})
		n.halves = append(n.halves, nil)
		n.forth.grow()
		n.back.grow()
	}
	n.nodeCount++
	if n.nodeCount > MaxNodes {
		n.refuse("%d nodes", n.nodeCount)
	}
	n.nodes[u].live = true
	n.nodes[u].potential = 0
	n.SetSupply(Node(u), supply)
	return Node(u)
}

// RemoveNode removes a node with its arcs. Its supply no longer counts in the balance.
func (n *Network) RemoveNode(u Node) {
	n.mustNode(u)
	n.SetSupply(u, 0)
	for k := len(n.halves[u]); k > 0; k = len(n.halves[u]) {
		a := n.halves[u][k-1].arc
		n.RemoveArc(Arc(max(a, ^a)))
	}
	n.nodes[u].live = false
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
	d := supply - n.nodes[u].supply
	n.nodes[u].supply = supply
	n.balance += d
	n.give(int32(u), d)
}

// AddArc adds an arc. There may be several arcs between two nodes, and from a node to itself.
func (n *Network) AddArc(from, to Node, capacity, cost int64) Arc {
	n.mustNode(from)
	n.mustNode(to)
	capacity, cost = n.within(capacity, cost)
	var a int32
	if k := len(n.freeArcs); k > 0 {
		a, n.freeArcs = n.freeArcs[k-1], n.freeArcs[:k-1]
	} else {
		a = int32(len(n.arcs))
		n.arcs = append(n.arcs, arc{})
	}
	n.arcCount++
	if n.arcCount > MaxArcs {
		n.refuse("%d arcs", n.arcCount)
	}
	n.arcs[a] = arc{tail: int32(from), head: int32(to), cost: cost, capacity: capacity, moved: n.arcs[a].moved,
		atTail: n.list(int32(from), half{a, int32(to), cost}), atHead: n.list(int32(to), half{^a, int32(from), -cost})}
	n.sort(a)
	n.suspects = append(n.suspects, a)
	return Arc(a)
}

// RemoveArc removes an arc.
func (n *Network) RemoveArc(a Arc) {
	n.mustArc(a)
	e := &n.arcs[a]
	n.push(int32(a), -e.flow)
	e.capacity = 0
	n.sort(int32(a)) // both halves are closed now
	n.unlist(e.tail, e.atTail)
	n.unlist(e.head, n.arcs[a].atHead)
	*e = arc{tail: none, head: none, moved: e.moved}
	n.freeArcs = append(n.freeArcs, int32(a))
	n.arcCount--
}

// SetCapacity changes the capacity of an arc.
func (n *Network) SetCapacity(a Arc, capacity int64) {
	n.mustArc(a)
	capacity, _ = n.within(capacity, 0)
	e := &n.arcs[a]
	if over := e.flow - capacity; over > 0 {
		n.push(int32(a), -over)
	}
	if capacity > e.capacity {
		n.suspects = append(n.suspects, int32(a))
	}
	e.capacity = capacity
	n.sort(int32(a))
}

// SetCost changes the cost of a unit of flow on an arc.
func (n *Network) SetCost(a Arc, cost int64) {
	n.mustArc(a)
	_, cost = n.within(0, cost)
	if e := &n.arcs[a]; cost != e.cost {
		e.cost = cost
		n.halves[e.tail][e.atTail].cost, n.halves[e.head][e.atHead].cost = cost, -cost
		n.suspects = append(n.suspects, int32(a))
	}
}

// Flow returns the flow on an arc after Solve.
func (n *Network) Flow(a Arc) int64 { return n.arcs[a].flow }

// Moved returns the arcs whose flow has changed since the last call, each once, including removed arcs and new ones with the
// same number. The slice is valid until the next edit or Solve.
func (n *Network) Moved() []Arc {
	for _, a := range n.moved {
		n.arcs[a].moved = false
	}
	m := n.moved
	n.moved = n.moved[:0]
	return m
}

// Nodes counts the nodes.
func (n *Network) Nodes() int { return n.nodeCount }

// Arcs counts the arcs.
func (n *Network) Arcs() int { return n.arcCount }

// Cost returns the cost of the flow.
func (n *Network) Cost() (int64, error) {
	var high, low uint64 // 128 bits, two's complement
	for a := range n.arcs {
		e := &n.arcs[a]
		h, l := bits.Mul64(uint64(max(e.cost, -e.cost)), uint64(e.flow))
		var carry uint64
		if e.cost < 0 {
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

// Forget resets all flow and all potentials to zero: the next Solve starts from scratch.
func (n *Network) Forget() {
	n.suspects, n.sources, n.sinks, n.extreme = n.suspects[:0], n.sources[:0], n.sinks[:0], 0
	for u := range n.nodes {
		v := &n.nodes[u]
		v.potential, v.excess, v.listed, v.lacking = 0, 0, false, false
		n.give(int32(u), v.supply)
	}
	for a := range n.arcs {
		if n.arcs[a].tail != none {
			n.change(int32(a), -n.arcs[a].flow)
			n.suspects = append(n.suspects, int32(a))
		}
	}
}

// Solve computes a flow of least cost. After an error the network can be edited and solved again.
func (n *Network) Solve() error {
	if n.err != nil {
		return n.err
	}
	if n.balance != 0 {
		return fmt.Errorf("%w by %d", ErrUnbalanced, n.balance)
	}
	if n.extreme > tooFar {
		n.Forget() // over a year of events potentials may drift far; reset them before they overflow
	}
	n.mend()
	return n.augment()
}

// give adds d units to a node.
func (n *Network) give(u int32, d int64) {
	v := &n.nodes[u]
	v.excess += d
	if v.excess > 0 && !v.listed {
		v.listed = true
		n.sources = append(n.sources, u)
	} else if v.excess < 0 && !v.lacking {
		v.lacking = true
		n.sinks = append(n.sinks, u)
	}
}

// push adds d units to the flow on an arc, negative to reduce it.
func (n *Network) push(a int32, d int64) {
	if d == 0 {
		return
	}
	e := &n.arcs[a]
	n.change(a, d)
	n.give(e.tail, -d)
	n.give(e.head, d)
}

// change changes the flow of an arc only, not its nodes.
func (n *Network) change(a int32, d int64) {
	e := &n.arcs[a]
	e.flow += d
	n.sort(a)
	if !e.moved {
		e.moved = true
		n.moved = append(n.moved, Arc(a))
	}
}

// list adds a half to the list of a node, among the closed ones; unlist removes a closed one.
func (n *Network) list(u int32, h half) int32 {
	n.halves[u] = append(n.halves[u], h)
	return int32(len(n.halves[u]) - 1)
}

func (n *Network) unlist(u, at int32) {
	list := n.halves[u]
	n.halves[u] = list[:len(list)-1]
	if last := int32(len(list) - 1); at != last {
		list[at] = list[last]
		n.place(list[at], at)
	}
}

// place records the position of a half in the list of its node.
func (n *Network) place(h half, at int32) {
	if h.arc >= 0 {
		n.arcs[h.arc].atTail = at
	} else {
		n.arcs[^h.arc].atHead = at
	}
}

// sort moves the halves of an arc to the open or the closed ones of their nodes.
func (n *Network) sort(a int32) {
	e := &n.arcs[a]
	n.sortHalf(e.tail, e.atTail, e.flow < e.capacity)
	n.sortHalf(e.head, e.atHead, e.flow > 0)
}

func (n *Network) sortHalf(u, at int32, open bool) {
	v := &n.nodes[u]
	if (at < v.open) == open {
		return
	}
	if !open {
		v.open--
	}
	list, to := n.halves[u], v.open
	list[at], list[to] = list[to], list[at]
	n.place(list[at], at)
	n.place(list[to], to)
	if open {
		v.open++
	}
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
	if u < 0 || int(u) >= len(n.nodes) || !n.nodes[u].live {
		panic(fmt.Sprintf("mincost: no node %d", u))
	}
}

func (n *Network) mustArc(a Arc) {
	if a < 0 || int(a) >= len(n.arcs) || n.arcs[a].tail == none {
		panic(fmt.Sprintf("mincost: no arc %d", a))
	}
}

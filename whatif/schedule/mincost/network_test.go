package mincost

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// script edits a network at random and remembers its expected contents.
type script struct {
	n      *Network
	supply map[Node]int64
	arcs   map[Arc]slowArc
	nodes  []Node // in a fixed order
	order  []Arc
	pick   func(n int) int // a number below n
	most   int             // nodes
}

func newScript(pick func(int) int, most int) *script {
	s := &script{n: New(), supply: map[Node]int64{}, arcs: map[Arc]slowArc{}, pick: pick, most: most}
	s.addNode()
	return s
}

func (s *script) addNode() {
	u := s.n.AddNode(0)
	s.nodes, s.supply[u] = append(s.nodes, u), 0
}

func (s *script) capacity() int64 {
	if s.pick(4) == 0 {
		return int64(s.pick(2)) // many networks of schedulers have arcs for a single task
	}
	return int64(s.pick(12))
}

func (s *script) addArc() {
	from, to := s.nodes[s.pick(len(s.nodes))], s.nodes[s.pick(len(s.nodes))]
	capacity, cost := s.capacity(), int64(s.pick(40))-10
	a := s.n.AddArc(from, to, capacity, cost)
	s.arcs[a], s.order = slowArc{int(from), int(to), capacity, cost}, append(s.order, a)
}

// supplies moves some supply from one node to another.
func (s *script) supplies() {
	u, v, d := s.nodes[s.pick(len(s.nodes))], s.nodes[s.pick(len(s.nodes))], int64(s.pick(5))
	s.supply[u] += d
	s.n.SetSupply(u, s.supply[u])
	s.supply[v] -= d
	s.n.SetSupply(v, s.supply[v])
}

func (s *script) removeNode() {
	k := 1 + s.pick(len(s.nodes)-1)
	u := s.nodes[k]
	heir := s.nodes[0]
	s.supply[heir] += s.supply[u]
	s.n.SetSupply(heir, s.supply[heir])
	s.n.RemoveNode(u)
	s.nodes = slices.Delete(s.nodes, k, k+1)
	delete(s.supply, u)
	s.order = slices.DeleteFunc(s.order, func(a Arc) bool {
		if x := s.arcs[a]; x.from == int(u) || x.to == int(u) {
			delete(s.arcs, a)
			return true
		}
		return false
	})
}

// edit makes one random edit.
func (s *script) edit() {
	switch kind := s.pick(16); {
	case kind < 1 && len(s.nodes) < s.most || len(s.nodes) < 2:
		s.addNode()
	case kind < 2 && len(s.nodes) > 2:
		s.removeNode()
	case kind < 6 || len(s.order) == 0:
		if len(s.order) < 4*s.most {
			s.addArc()
		}
	case kind < 8:
		s.supplies()
	default:
		k := s.pick(len(s.order))
		a := s.order[k]
		x := s.arcs[a]
		switch {
		case kind < 9:
			s.n.RemoveArc(a)
			delete(s.arcs, a)
			s.order = slices.Delete(s.order, k, k+1)
			return
		case kind < 12:
			x.capacity = s.capacity()
			s.n.SetCapacity(a, x.capacity)
		default:
			x.cost = int64(s.pick(40)) - 10
			s.n.SetCost(a, x.cost)
		}
		s.arcs[a] = x
	}
}

// check solves with both solvers.
func (s *script) check() error {
	if err := books(s.n); err != nil {
		return fmt.Errorf("before Solve: %w", err)
	}
	err := s.n.Solve()
	if e := books(s.n); e != nil {
		return fmt.Errorf("after Solve: %w", e)
	}
	supply := make([]int64, len(s.n.nodes))
	for u, v := range s.supply {
		supply[u] = v
	}
	arcs := make([]slowArc, 0, len(s.order))
	for _, a := range s.order {
		arcs = append(arcs, s.arcs[a])
	}
	want, fits := slowly(supply, arcs)
	switch {
	case !fits && errors.Is(err, ErrInfeasible):
		return nil
	case !fits || err != nil:
		return fmt.Errorf("Solve gives %v, and that a flow fits is %v", err, fits)
	}
	if got, err := s.n.Cost(); err != nil || got != want {
		return fmt.Errorf("cost %d, %v; the other solver says %d", got, err, want)
	}
	return certificate(s.n)
}

// certificate checks that the flow respects capacities and supplies, and that no reduced cost reveals a cheaper one (Ahuja,
// Magnanti, Orlin, Network Flows, theorem 9.4).
func certificate(n *Network) error {
	net := make([]int64, len(n.nodes))
	for a, e := range n.arcs {
		if e.tail == none {
			continue
		}
		f, r := n.Flow(Arc(a)), e.cost-n.Potential(Node(e.tail))+n.Potential(Node(e.head))
		net[e.tail] += f
		net[e.head] -= f
		switch {
		case f < 0 || f > e.capacity:
			return fmt.Errorf("arc %d has flow %d of %d", a, f, e.capacity)
		case f < e.capacity && r < 0, f > 0 && r > 0:
			return fmt.Errorf("arc %d has flow %d of %d and reduced cost %d", a, f, e.capacity, r)
		}
	}
	for u := range net {
		if net[u] != n.nodes[u].supply {
			return fmt.Errorf("%d units leave node %d, which supplies %d", net[u], u, n.nodes[u].supply)
		}
	}
	return nil
}

// books checks the invariants of every edit: excesses equal what the flow lacks, and lists of arcs agree with them.
func books(n *Network) error {
	excess := make([]int64, len(n.nodes))
	halves := 0
	for u, v := range n.nodes {
		excess[u] = v.supply
		halves += len(n.halves[u])
		if v.excess > 0 && !v.listed || v.excess < 0 && !v.lacking {
			return fmt.Errorf("node %d has excess and is forgotten", u)
		}
	}
	for a, e := range n.arcs {
		if e.tail == none {
			continue
		}
		excess[e.tail] -= e.flow
		excess[e.head] += e.flow
		halves -= 2
		if (e.atTail < n.nodes[e.tail].open) != (e.flow < e.capacity) || (e.atHead < n.nodes[e.head].open) != (e.flow > 0) {
			return fmt.Errorf("arc %d is among the wrong halves", a)
		}
		if n.halves[e.tail][e.atTail] != (half{int32(a), e.head, e.cost}) || n.halves[e.head][e.atHead] != (half{^int32(a), e.tail, -e.cost}) {
			return fmt.Errorf("arc %d is not where its nodes have it", a)
		}
	}
	for u, v := range n.nodes {
		if v.excess != excess[u] {
			return fmt.Errorf("node %d has an excess of %d, not %d", u, excess[u], v.excess)
		}
	}
	if halves != 0 {
		return fmt.Errorf("%d halves too many", halves)
	}
	return nil
}

// The least cost of thousands of small networks agrees with the other solver, from scratch and after every few edits.
func TestAgainstSlowSolver(t *testing.T) {
	solved, infeasible := 0, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newScript(r.IntN, 3+r.IntN(9))
		for range 10 + r.IntN(60) {
			s.edit()
		}
		for round := range 20 {
			if err := s.check(); err != nil {
				t.Fatalf("seed %d, round %d: %v", seed, round, err)
			}
			solved++
			if errors.Is(s.n.Solve(), ErrInfeasible) {
				infeasible++
			}
			for range 1 + r.IntN(4) {
				s.edit()
			}
		}
	}
	t.Logf("%d networks, %d of them without a flow", solved, infeasible)
	if infeasible < solved/20 || infeasible > solved/2 {
		t.Errorf("%d of %d networks had no flow: the scripts do not try both", infeasible, solved)
	}
}

func FuzzEdits(f *testing.F) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 2))
		script := make([]byte, 100+50*seed)
		for k := range script {
			script[k] = byte(r.Uint32())
		}
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, edits []byte) {
		edits = edits[:min(len(edits), 2000)]
		at := 0
		s := newScript(func(n int) int {
			if at >= len(edits) {
				return 0
			}
			at++
			return int(edits[at-1]) % n
		}, 8)
		for at < len(edits) {
			for range 1 + s.pick(6) {
				s.edit()
			}
			if err := s.check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestErrors(t *testing.T) {
	build := func(f func(n *Network)) *Network {
		n := New()
		n.AddArc(n.AddNode(3), n.AddNode(-3), 3, 1)
		f(n)
		return n
	}
	for _, c := range []struct {
		name string
		edit func(n *Network)
		want error
	}{
		{"none", func(n *Network) {}, nil},
		{"capacity", func(n *Network) { n.SetCapacity(0, 2) }, ErrInfeasible},
		{"no arc", func(n *Network) { n.RemoveArc(0) }, ErrInfeasible},
		{"balance", func(n *Network) { n.SetSupply(0, 4) }, ErrUnbalanced},
		{"cost", func(n *Network) { n.SetCost(0, MaxCost+1) }, ErrOverflow},
		{"negative capacity", func(n *Network) { n.SetCapacity(0, -1) }, ErrOverflow},
		{"supply", func(n *Network) { n.SetSupply(0, MaxSupply+1) }, ErrOverflow},
		{"largest", func(n *Network) { n.SetCost(0, MaxCost); n.SetCapacity(0, MaxCapacity) }, nil},
	} {
		if err := build(c.edit).Solve(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	n := build(func(n *Network) {
		n.SetCapacity(0, MaxCapacity)
		n.SetCost(0, MaxCost)
		n.SetSupply(0, MaxSupply)
		n.SetSupply(1, -MaxSupply)
	})
	if err := n.Solve(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Cost(); !errors.Is(err, ErrOverflow) {
		t.Errorf("2^76 fits into the cost: %v", err)
	}
	// An infeasible network can be solved once it is repaired.
	n = build(func(n *Network) { n.SetCapacity(0, 1) })
	if n.Solve() == nil {
		t.Fatal("two units vanished")
	}
	n.AddArc(0, 1, 5, 7)
	if err := n.Solve(); err != nil {
		t.Fatal(err)
	}
	if c, _ := n.Cost(); c != 1+2*7 {
		t.Errorf("cost %d", c)
	}
}

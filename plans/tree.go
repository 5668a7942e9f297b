package plans

import (
	"strings"

	"straggler/schema"
)

// tree is the plan that ran, parents first.
type tree struct {
	nodes    []operatorRow
	byID     map[schema.Key]int
	children map[schema.Key][]schema.Key
}

func (t *tree) add(o operatorRow) {
	if t.byID == nil {
		t.byID, t.children = map[schema.Key]int{}, map[schema.Key][]schema.Key{}
	}
	t.byID[o.NodeID] = len(t.nodes)
	t.nodes = append(t.nodes, o)
	if o.ParentID.OK {
		t.children[o.ParentID.V] = append(t.children[o.ParentID.V], o.NodeID)
	}
}

func (t *tree) node(id schema.Key) *operatorRow {
	if i, ok := t.byID[id]; ok {
		return &t.nodes[i]
	}
	return nil
}

// consumer is the join, aggregate or window that an exchange was put under for: the first above it, before the next exchange. A
// broadcast join needs none of its large side. input is which of the operator's inputs the exchange feeds.
func (t *tree) consumer(exchange schema.Key) (found *operatorRow, input int) {
	below := t.node(exchange)
	for below != nil && below.ParentID.OK {
		n := t.node(below.ParentID.V)
		if n == nil || n.Kind == schema.ExchangeNode || n.Kind == schema.BroadcastNode {
			return nil, 0
		}
		broadcast := strings.HasPrefix(n.Operator, "Broadcast")
		if n.Kind == schema.JoinNode && !broadcast || n.Kind == schema.AggregateNode || n.Kind == schema.WindowNode {
			for i, c := range t.children[n.NodeID] {
				if c == below.NodeID {
					return n, i
				}
			}
		}
		below = n
	}
	return nil, 0
}

// input is the tables that an input of an operator scans.
func (t *tree) input(n *operatorRow, i int) schema.Null[string] {
	children := t.children[n.NodeID]
	if i < 0 || i >= len(children) {
		return schema.Null[string]{}
	}
	if c := t.node(children[i]); c != nil {
		return c.Tables
	}
	return schema.Null[string]{}
}

// passed is the operator whose rows another passes on as they are and all of them, nil where there is none.
func (t *tree) passed(n *operatorRow) *operatorRow {
	switch n.Kind {
	case schema.WrapperNode, schema.SortNode, schema.ProjectNode, schema.ShuffleReadNode, schema.ExchangeNode, schema.BroadcastNode:
		if below := t.children[n.NodeID]; len(below) == 1 {
			return t.node(below[0])
		}
	}
	return nil
}

// through is the first operator of a kind at or below one, through operators that pass its rows on; nil where there is none.
func (t *tree) through(id schema.Key, kind schema.NodeKind) *operatorRow {
	n := t.node(id)
	for n != nil && n.Kind != kind {
		n = t.passed(n)
	}
	return n
}

// exchangeBelow is the exchange that a shuffle read of adaptive execution reads, nil where the plan does not have it.
func (t *tree) exchangeBelow(n *operatorRow) *operatorRow {
	for n != nil && n.Kind != schema.ExchangeNode {
		children := t.children[n.NodeID]
		if len(children) != 1 {
			return nil
		}
		n = t.node(children[0])
	}
	return n
}

// readOf is the shuffle read of adaptive execution over an exchange, nil without one.
func (t *tree) readOf(exchange schema.Key) *operatorRow {
	for n := t.node(exchange); n != nil && n.ParentID.OK; {
		n = t.node(n.ParentID.V)
		switch {
		case n == nil:
			return nil
		case n.Kind == schema.ShuffleReadNode:
			return n
		case n.Kind != schema.WrapperNode:
			return nil
		}
	}
	return nil
}

// keepsPartitioning tells whether what follows a join before the next exchange needs its rows as they are partitioned: an aggregate,
// a window or another join. A split would make Spark shuffle them again.
func (t *tree) keepsPartitioning(join *operatorRow) bool {
	for n := join; n.ParentID.OK; {
		n = t.node(n.ParentID.V)
		if n == nil || n.Kind == schema.ExchangeNode || n.Kind == schema.BroadcastNode {
			return false
		}
		switch {
		case n.Kind == schema.AggregateNode && n.Keys.V != "" && !strings.Contains(n.Detail.V, "functions=[partial_"),
			n.Kind == schema.WindowNode, n.Kind == schema.JoinNode && !strings.HasPrefix(n.Operator, "Broadcast"):
			return true
		}
	}
	return false
}

// otherExchange is the exchange on the other side of a join, nil where there is not just one.
func (t *tree) otherExchange(join *operatorRow, exchange schema.Key) *operatorRow {
	for _, c := range t.children[join.NodeID] {
		n := t.node(c)
		for n != nil && n.Kind != schema.ExchangeNode {
			children := t.children[n.NodeID]
			if len(children) != 1 {
				n = nil
				break
			}
			n = t.node(children[0])
		}
		if n != nil && n.NodeID != exchange {
			return n
		}
	}
	return nil
}

package plans

import (
	"fmt"
	"strings"

	"straggler/schema"
)

// tree is the plan that ran, parents first.
type tree struct {
	nodes    []operatorRow
	byID     map[schema.Key]int
	children map[schema.Key][]schema.Key // without subqueries, whose rows do not come to their parent
}

func (t *tree) add(o operatorRow) {
	if t.byID == nil {
		t.byID, t.children = map[schema.Key]int{}, map[schema.Key][]schema.Key{}
	}
	t.byID[o.NodeID] = len(t.nodes)
	t.nodes = append(t.nodes, o)
	if o.ParentID.OK && !o.isSubquery() {
		t.children[o.ParentID.V] = append(t.children[o.ParentID.V], o.NodeID)
	}
}

// isSubquery reports whether an operator is the root of a subquery.
func (o *operatorRow) isSubquery() bool { return strings.Contains(o.Operator, "Subquery") }

func (t *tree) node(id schema.Key) *operatorRow {
	if i, ok := t.byID[id]; ok {
		return &t.nodes[i]
	}
	return nil
}

// original returns the exchange whose output another reads again, or itself.
func (t *tree) original(n *operatorRow) *operatorRow {
	if n != nil && n.ReusesID.OK {
		return t.node(n.ReusesID.V)
	}
	return n
}

// consumer returns the join, aggregate, window or sort for which an exchange was inserted: the first operator above it, before
// the next exchange, that requires its partitioning. nil if there is none, as for most repartitionings requested by the program,
// and for a scan whose table is not bucketed by the keys of the operator. input is the index of the operator's input that the
// exchange feeds.
func (t *tree) consumer(source schema.Key) (found *operatorRow, input int) {
	below := t.node(source)
	from := below
	var grouped *operatorRow // the last aggregate on the way
	for below != nil && below.ParentID.OK && !below.isSubquery() {
		n := t.node(below.ParentID.V)
		if n == nil || n.Kind == schema.ExchangeNode || n.Kind == schema.BroadcastNode {
			return nil, 0
		}
		if n.needs(from) && (from.Kind != schema.ScanNode || n.Kind != schema.AggregateNode || n.completes(grouped)) {
			for i, c := range t.children[n.NodeID] {
				if c == below.NodeID {
					return n, i
				}
			}
		}
		if n.Kind == schema.AggregateNode {
			grouped = n
		}
		below = n
	}
	return nil, 0
}

// completes reports whether an aggregate needs all rows of a group, unlike one that reduces the input of an exchange: it has
// functions to complete, or an aggregate by the same keys below it.
func (o *operatorRow) completes(below *operatorRow) bool {
	return !strings.Contains(o.Detail.V, "functions=[]") || below != nil && below.Keys == o.Keys
}

// needs reports whether an operator requires an exchange below it. A broadcast join and a partial aggregate do not, a sort only
// if it is global; a repartitioning by other keys that the program requested is not required by a join, an aggregate or a
// window.
func (o *operatorRow) needs(exchange *operatorRow) bool {
	ranges := strings.HasPrefix(exchange.Detail.V, "rangepartitioning")
	switch o.Kind {
	case schema.SortNode:
		return ranges
	case schema.JoinNode:
		if strings.HasPrefix(o.Operator, "Broadcast") || exchange.Kind == schema.ScanNode && o.Keys.V == "" {
			return false
		}
	case schema.AggregateNode:
		if o.partial() || o.Keys.V == "" {
			return false
		}
	case schema.WindowNode:
		if o.Operator == "WindowGroupLimit" { // before the window that it filters for
			return false
		}
	default:
		return false
	}
	return !exchange.repartitioned() || within(exchange.Keys.V, o.Keys.V) || within(exchange.Keys.V, o.RightKeys.V)
}

// partial reports whether an aggregate only reduces the input of the exchange above it.
func (o *operatorRow) partial() bool { return strings.Contains(o.Detail.V, "functions=[partial_") }

// repartitioned reports whether an exchange comes from a repartitioning in the program.
func (o *operatorRow) repartitioned() bool {
	return strings.Contains(o.Detail.V, "REPARTITION_BY_") || strings.Contains(o.Detail.V, "REBALANCE_PARTITIONS_BY_")
}

// within reports whether each of some keys is one of others: rows that agree in the others are then in one partition.
func within(keys, others string) bool {
	all := map[string]bool{}
	for _, k := range strings.Split(others, ", ") {
		all[k] = true
	}
	for _, k := range strings.Split(keys, ", ") {
		if !all[k] {
			return false
		}
	}
	return true
}

// input returns the tables that an input of an operator scans.
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

// passed returns the operator whose rows another passes through completely and unchanged, or nil if there is none.
func (t *tree) passed(n *operatorRow) *operatorRow {
	if n.ReusesID.OK {
		return t.original(n)
	}
	switch n.Kind {
	case schema.WrapperNode, schema.SortNode, schema.ProjectNode, schema.ShuffleReadNode, schema.ExchangeNode, schema.BroadcastNode:
		if below := t.children[n.NodeID]; len(below) == 1 {
			return t.node(below[0])
		}
	}
	return nil
}

// through returns the first operator of a kind at or below one, through operators that pass rows through, or nil if there is
// none.
func (t *tree) through(id schema.Key, kind schema.NodeKind) *operatorRow {
	n := t.node(id)
	for n != nil && n.Kind != kind {
		n = t.passed(n)
	}
	return t.original(n)
}

// exchangeBelow returns the exchange at or below an operator, or nil if an operator with two inputs comes first, or if the plan
// has none.
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

// readOf returns the shuffle read of adaptive execution over an exchange, nil without one.
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

// keepsPartitioning reports whether an operator above a join, before the next exchange, relies on the partitioning of its rows:
// an aggregate, a window or another join. A split would then cause another shuffle.
func (t *tree) keepsPartitioning(join *operatorRow) bool {
	for n := join; n.ParentID.OK && !n.isSubquery(); {
		n = t.node(n.ParentID.V)
		if n == nil || n.Kind == schema.ExchangeNode || n.Kind == schema.BroadcastNode {
			return false
		}
		switch {
		case n.Kind == schema.AggregateNode && n.Keys.V != "" && !n.partial(),
			n.Kind == schema.WindowNode, n.Kind == schema.JoinNode && !strings.HasPrefix(n.Operator, "Broadcast"):
			return true
		}
	}
	return false
}

// unsplit names the input of a join that adaptive execution cannot split, and why: OptimizeSkewedJoin requires inputs from an
// exchange that the join needed, with at most a sort between. "" if both qualify.
func (t *tree) unsplit(join *operatorRow) string {
	for i, id := range t.children[join.NodeID] {
		side := []schema.Side{schema.LeftSide, schema.RightSide}[min(i, 1)]
		n := t.node(id)
		for n != nil && len(t.children[n.NodeID]) == 1 && (n.Kind == schema.WrapperNode || n.Kind == schema.SortNode || n.Kind == schema.ShuffleReadNode) {
			n = t.node(t.children[n.NodeID][0])
		}
		switch {
		case n == nil:
		case n.Kind == schema.ExchangeNode && n.repartitioned():
			return fmt.Sprintf("the %s one was repartitioned by the program", side)
		case n.Kind == schema.ExchangeNode:
		case t.exchangeBelow(n) != nil:
			return fmt.Sprintf("on the %s one stands a %s", side, n.Operator)
		case t.scans(n):
			return fmt.Sprintf("the %s one is read as its table is bucketed", side)
		default:
			return fmt.Sprintf("the %s one comes from a %s", side, n.Operator)
		}
	}
	return ""
}

// exchangesAround returns the number of exchanges that the phase of a join reads.
func (t *tree) exchangesAround(join *operatorRow) int {
	top := join
	for top.ParentID.OK && !top.isSubquery() {
		n := t.node(top.ParentID.V)
		if n == nil || n.Kind == schema.ExchangeNode || n.Kind == schema.BroadcastNode {
			break
		}
		top = n
	}
	count := 0
	for open := []schema.Key{top.NodeID}; len(open) > 0; {
		n := t.node(open[len(open)-1])
		open = open[:len(open)-1]
		switch {
		case n == nil || n.Kind == schema.BroadcastNode:
		case n.Kind == schema.ExchangeNode:
			count++
		default:
			open = append(open, t.children[n.NodeID]...)
		}
	}
	return count
}

// scans reports whether an operator's rows come from a scan, without an exchange or a second input in between.
func (t *tree) scans(n *operatorRow) bool {
	for n != nil && n.Kind != schema.ScanNode {
		children := t.children[n.NodeID]
		if len(children) != 1 {
			return false
		}
		n = t.node(children[0])
	}
	return n != nil
}

// otherExchange returns the exchange on the other side of a join, or nil unless there is exactly one.
func (t *tree) otherExchange(join *operatorRow, exchange schema.Key) *operatorRow {
	for _, c := range t.children[join.NodeID] {
		if n := t.exchangeBelow(t.node(c)); n != nil && n.NodeID != exchange {
			return n
		}
	}
	return nil
}

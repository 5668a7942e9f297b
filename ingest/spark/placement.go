package spark

import (
	"cmp"
	"slices"

	"straggler/ingest/spark/sqlplan"
	"straggler/schema"
)

// placement is a phase in which an operator ran.
type placement struct {
	node  int
	phase *phase
	role  schema.NodeRole
	basis schema.NodeBasis
}

// maxPlacements bounds the placements of the operators of one query.
const maxPlacements = 200_000

// placed determines in which phases the operators of a plan ran.
//
//  1. A phase whose tasks added to a metric of an operator ran it. An exchange has metrics of its writers and of its readers.
//  2. Operators without an exchange between them run in the same phase: those without values ran where the others of their
//     fragment did.
//  3. A fragment without any values ran in the phase that its reader's phase waits for, if only one candidate is left.
func (a *app) placed(q *query, t *sqlplan.Tree) []placement {
	pl := &placing{t: t, nodes: make([][]placement, len(t.Nodes)), phases: make([][]*phase, len(t.Top)), reused: make([]bool, len(t.Nodes))}
	for _, original := range t.Reuses {
		if original >= 0 {
			pl.reused[original] = true
		}
	}
	for i := range t.Nodes {
		for _, m := range t.Raw[i].Metrics {
			sum := q.values[m.ID]
			if sum.first != nil {
				pl.byAccumulator(i, m.Name, sum.first)
			}
			for _, p := range sum.more {
				pl.byAccumulator(i, m.Name, p)
			}
		}
	}
	pl.byEdges(a, q)
	pl.byReaders()
	for i := range t.Nodes {
		pl.byFragment(i)
	}
	all := make([]placement, 0, pl.count)
	for _, of := range pl.nodes {
		slices.SortStableFunc(of, func(x, y placement) int {
			return cmp.Or(cmp.Compare(x.phase.ordinal, y.phase.ordinal), cmp.Compare(x.role, y.role))
		})
		all = append(all, of...)
	}
	return all
}

type placing struct {
	t      *sqlplan.Tree
	nodes  [][]placement // by operator
	count  int
	phases [][]*phase  // of each fragment
	reused []bool      // other operators read the exchange too
	shared []placement // reads of such exchanges
}

func (pl *placing) add(node int, p *phase, role schema.NodeRole, basis schema.NodeBasis) {
	if pl.is(node, p, role) || pl.count >= maxPlacements {
		return
	}
	pl.count++
	pl.nodes[node] = append(pl.nodes[node], placement{node, p, role, basis})
}

// is reports whether an operator was placed in a phase in a role.
func (pl *placing) is(node int, p *phase, role schema.NodeRole) bool {
	return slices.ContainsFunc(pl.nodes[node], func(at placement) bool { return at.phase == p && at.role == role })
}

func (pl *placing) ran(fragment int32, p *phase) {
	if !slices.Contains(pl.phases[fragment], p) {
		pl.phases[fragment] = append(pl.phases[fragment], p)
	}
}

// mayHaveRun records a phase without values, if it belongs to the query and had attempts.
func (pl *placing) mayHaveRun(fragment int32, p *phase, q *query) {
	if p.job.query == q && p.starts+p.ends > 0 {
		pl.ran(fragment, p)
	}
}

// writerMetrics are the metrics of an exchange that the tasks which write it add to; all others are its readers'.
var writerMetrics = map[string]bool{"shuffle records written": true, "shuffle bytes written": true, "shuffle write time": true, "data size": true}

func (pl *placing) byAccumulator(node int, metric string, p *phase) {
	o := &pl.t.Nodes[node]
	switch {
	case !o.IsExchange():
		pl.add(node, p, schema.NodeRuns, schema.ByAccumulators)
		pl.ran(pl.t.Fragments[node], p)
	case writerMetrics[metric] || o.Engine != schema.SparkEngine && !readerMetrics[metric]:
		pl.add(node, p, schema.NodeWrites, schema.ByAccumulators)
		if below := pl.below(node); below >= 0 {
			pl.ran(below, p)
		}
	case pl.reused[node]: // its readers share the metrics
		pl.shared = append(pl.shared, placement{node: node, phase: p})
	default:
		pl.add(node, p, schema.NodeReads, schema.ByAccumulators)
		pl.ran(pl.t.Fragments[node], p)
	}
}

// byReaders assigns the phases that read an exchange, or one that reuses it, to the reader whose fragment they ran.
func (pl *placing) byReaders() {
	for _, s := range pl.shared {
		known := false
		for node := range pl.t.Nodes {
			if (node == s.node || pl.t.Reuses[node] == int32(s.node)) && slices.Contains(pl.phases[pl.t.Fragments[node]], s.phase) {
				pl.add(node, s.phase, schema.NodeReads, schema.ByAccumulators)
				known = true
			}
		}
		if !known {
			pl.add(s.node, s.phase, schema.NodeReads, schema.ByAccumulators)
		}
	}
}

// readerMetrics are the metrics of the readers of an exchange, which identify them if a native engine adds others.
var readerMetrics = map[string]bool{"records read": true, "local bytes read": true, "remote bytes read": true, "local blocks read": true,
	"remote blocks read": true, "fetch wait time": true, "remote bytes read to disk": true}

// below returns the fragment that writes an exchange, or none if the plan does not have it.
func (pl *placing) below(node int) int32 {
	if children := pl.t.Children[node]; len(children) > 0 {
		return pl.t.Fragments[children[0]]
	}
	return none
}

// byEdges finds the phases of fragments without values, from the top down.
func (pl *placing) byEdges(a *app, q *query) {
	if len(pl.phases[0]) == 0 && len(q.jobs) == 1 {
		for _, p := range lastPhases(q.jobs[0]) {
			pl.mayHaveRun(0, p, q)
		}
	}
	for f := range pl.phases { // a fragment stands behind its reader
		if len(pl.phases[f]) == 0 {
			continue
		}
		var open []int32
		taken := map[*stage]bool{}
		for node := range pl.t.Nodes {
			below := pl.below(node) // none of a reused exchange
			if pl.t.Fragments[node] != int32(f) || pl.t.Nodes[node].Kind != schema.ExchangeNode || below < 0 {
				continue
			}
			if len(pl.phases[below]) == 0 {
				open = append(open, below)
			}
			for _, p := range pl.phases[below] {
				taken[p.stage] = true
			}
		}
		if len(open) != 1 {
			continue
		}
		var left []*stage
		reader := pl.phases[f][0]
		for _, s := range a.parents(reader.stage, reader.job) {
			if !taken[s] && len(s.phases) > 0 {
				left = append(left, s)
			}
		}
		if len(left) == 1 {
			for _, p := range left[0].phases {
				pl.mayHaveRun(open[0], p, q)
			}
		}
	}
}

// lastPhases returns the attempts of the final stage of a job.
func lastPhases(j *job) []*phase {
	var last *stage
	for _, s := range j.stages {
		if last == nil || s.ID > last.ID {
			last = s
		}
	}
	if last == nil {
		return nil
	}
	return last.phases
}

// byFragment places an operator by the others of its fragment.
func (pl *placing) byFragment(node int) {
	o := &pl.t.Nodes[node]
	if o.Kind == schema.WrapperNode {
		return
	}
	role := schema.NodeRuns
	if o.IsExchange() {
		role = schema.NodeReads
		if below := pl.below(node); below >= 0 && !pl.has(node, schema.NodeWrites) {
			for _, p := range pl.phases[below] {
				pl.add(node, p, schema.NodeWrites, schema.ByStructure)
			}
		}
	}
	if !pl.has(node, role) {
		for _, p := range pl.phases[pl.t.Fragments[node]] {
			pl.add(node, p, role, schema.ByStructure)
		}
	}
}

// has reports whether an operator was placed in a role by the values of its metrics.
func (pl *placing) has(node int, role schema.NodeRole) bool {
	for _, p := range pl.phases[pl.fragmentOf(node, role)] {
		if pl.is(node, p, role) {
			return true
		}
	}
	return false
}

func (pl *placing) fragmentOf(node int, role schema.NodeRole) int32 {
	if role == schema.NodeWrites {
		return pl.below(node)
	}
	return pl.t.Fragments[node]
}

package measure

import (
	"cmp"
	"slices"
	"sort"
)

// Matches maps the stages of a run to stages of other runs.
type Matches struct {
	index map[*Stage]int
	of    map[*Run][]*Stage // parallel to the stages of the run; nil where the other has none
}

// Match finds the stages of a run in each of the others.
func Match(r *Run, others []*Run) *Matches {
	own := make([]*Stage, len(r.Stages))
	m := &Matches{map[*Stage]int{}, map[*Run][]*Stage{r: own}}
	for i := range r.Stages {
		own[i] = &r.Stages[i]
		m.index[own[i]] = i
	}
	for _, h := range others {
		if h != r {
			m.of[h] = match(r, h)
		}
	}
	return m
}

// Stage returns the counterpart of a stage in another run, or nil if there is none.
func (m *Matches) Stage(h *Run, s *Stage) *Stage {
	i, ok := m.index[s]
	if !ok || m.of[h] == nil {
		return nil
	}
	return m.of[h][i]
}

// match pairs the stages of two runs one to one. If both runs have plans, a stage with an operator is matched by that alone, so
// that a new stage does not shift those after it; others are matched by name and order.
func match(r, h *Run) []*Stage {
	p := pairing{r, h, make([]*Stage, len(r.Stages)), map[*Stage]bool{}}
	planned := r.planned() && h.planned()
	if planned {
		for _, same := range sameOperator {
			p.byOperator(same)
		}
	}
	p.byName(func(s, t *Stage) bool { return !planned || s.Operator.Name == "" && t.Operator.Name == "" })
	return p.found
}

// planned reports whether the operators of some stages are known.
func (r *Run) planned() bool {
	return slices.ContainsFunc(r.Stages, func(s Stage) bool { return s.Operator.Name != "" })
}

// sameOperator lists criteria by which operators of two runs are the same, the strictest first. Stages unmatched by one are
// matched by the next. They allow for a query whose plan changed but not its shape, for one that scans another table, and for one
// whose name changed because its line in the program moved.
var sameOperator = []func(o *Operator) Operator{
	func(o *Operator) Operator { return Operator{Query: o.Query, Plan: o.Plan, Node: o.Node} },
	func(o *Operator) Operator { return Operator{Query: o.Query, Shape: o.Shape, Name: o.Name} },
	func(o *Operator) Operator { return Operator{Query: o.Query, Node: o.Node} },
	func(o *Operator) Operator { return Operator{Query: o.Query, Name: o.Name} },
	func(o *Operator) Operator { return Operator{Plan: o.Plan, Node: o.Node} },
	func(o *Operator) Operator { return Operator{Shape: o.Shape, Name: o.Name} },
}

type pairing struct {
	r, h  *Run
	found []*Stage
	taken map[*Stage]bool // stages of h
}

// byOperator pairs the unmatched stages that are the same by one criterion, in the order of their plans.
func (p *pairing) byOperator(same func(*Operator) Operator) {
	left := map[Operator][]*Stage{}
	for _, k := range p.h.inPlace() {
		if t := &p.h.Stages[k]; !p.taken[t] {
			key := same(&t.Operator)
			left[key] = append(left[key], t)
		}
	}
	for _, i := range p.r.inPlace() {
		if p.found[i] != nil {
			continue
		}
		key := same(&p.r.Stages[i].Operator)
		if ts := left[key]; len(ts) > 0 {
			p.found[i], left[key] = ts[0], ts[1:]
			p.taken[ts[0]] = true
		}
	}
}

// inPlace returns the stages with operators, in the order of their plans.
func (r *Run) inPlace() []int {
	var at []int
	for i := range r.Stages {
		if r.Stages[i].Operator.Name != "" {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(r.Stages[a].Operator.Place, r.Stages[b].Operator.Place) })
	return at
}

// byName pairs the unmatched stages by name.
func (p *pairing) byName(may func(s, t *Stage) bool) {
	for i := range p.r.Stages {
		s := &p.r.Stages[i]
		if t := p.h.named(s.Signature); p.found[i] == nil && t != nil && !p.taken[t] && may(s, t) {
			p.found[i] = t // no other has its name
		}
	}
}

// named finds a stage by its name; stages are in the order of their names.
func (r *Run) named(sig Signature) *Stage {
	i := sort.Search(len(r.Stages), func(i int) bool { return !r.Stages[i].Less(sig) })
	if i < len(r.Stages) && !sig.Less(r.Stages[i].Signature) {
		return &r.Stages[i]
	}
	return nil
}

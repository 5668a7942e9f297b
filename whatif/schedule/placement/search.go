package placement

import (
	"cmp"
	"slices"
)

// DefaultBudget is how many partial placements Solve tries at most: a tenth of a second or so.
const DefaultBudget = 300_000

// slack is how near a placement has to be to the bound to count as it.
const slack = 1 + 1e-9

// Solve finds a good placement, the best one if a budget of partial placements suffices to prove that.
func Solve(p *Problem, budget int) (Plan, error) {
	if err := p.check(); err != nil {
		return Plan{}, err
	}
	if len(p.Input) == 0 {
		return Plan{Exact: true}, nil
	}
	bound, w := p.bound()
	s := &search{p: p, l: p.empty(), rack: make([]int, len(p.Input)), budget: budget, bound: bound}
	s.greedy()
	s.improve()
	plan := Plan{Rack: slices.Clone(s.rack), Seconds: p.Seconds(s.rack), Bound: bound}
	if plan.Seconds > bound*slack {
		plan.Exact = s.exhaust(&plan, p.prices(w, s.l.total))
		if plan.Exact {
			plan.Bound = plan.Seconds
		}
	} else {
		plan.Exact = true
	}
	plan.Bound = min(plan.Bound, plan.Seconds)
	return plan, nil
}

type search struct {
	p      *Problem
	l      *links
	rack   []int
	budget int
	bound  float64
	order  []int // tasks, those with most input first
}

// greedy places the tasks one after the other, those with most input first, where the busiest link then takes least.
func (s *search) greedy() {
	s.order = make([]int, len(s.rack))
	for t := range s.order {
		s.order[t] = t
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(s.l.total[b], s.l.total[a]) })
	for _, t := range s.order {
		best, least := -1, 0.0
		for i := range s.p.Up {
			if s.l.full(i) {
				continue
			}
			if m := s.with(t, i); best < 0 || m < least {
				best, least = i, m
			}
		}
		s.rack[t] = best
		s.l.put(t, best)
	}
}

// with is what the busiest link that a task would use takes when it is placed in a rack.
func (s *search) with(t, rack int) float64 {
	in := s.p.Input[t]
	most := s.l.down[rack] + (s.l.total[t]-in[rack])/s.p.Down[rack]
	for j, b := range in {
		if j != rack {
			most = max(most, s.l.up[j]+b/s.p.Up[j])
		}
	}
	return most
}

// improve moves one task, or swaps two, as long as that makes the busiest link less busy and no other as busy.
func (s *search) improve() {
	for range 4 * len(s.rack) {
		most := s.l.most()
		if most <= s.bound*slack {
			return
		}
		i := s.busiest(most)
		if !s.moveOne(i, most) && !s.swapTwo(i, most) {
			return
		}
	}
}

// busiest is the rack of a link that takes so long.
func (s *search) busiest(most float64) int {
	for i := range s.l.up {
		if s.l.up[i] == most || s.l.down[i] == most {
			return i
		}
	}
	return 0
}

// moveOne moves a task out of rack i or into it, if that helps.
func (s *search) moveOne(i int, most float64) bool {
	for t, from := range s.rack {
		if from != i {
			if !s.l.full(i) && s.changed([]change{{t, from, i}}, most) {
				return true
			}
			continue
		}
		for to := range s.p.Up {
			if to != i && !s.l.full(to) && s.changed([]change{{t, i, to}}, most) {
				return true
			}
		}
	}
	return false
}

// swapTwo swaps a task of rack i with one of another, if that helps.
func (s *search) swapTwo(i int, most float64) bool {
	for t, from := range s.rack {
		if from != i {
			continue
		}
		for u, to := range s.rack {
			if to != i && s.changed([]change{{t, i, to}, {u, to, i}}, most) {
				return true
			}
		}
	}
	return false
}

// change moves a task.
type change struct{ t, from, to int }

// changed makes changes between two racks if all links of the two then take less than most. The uplink of a rack loses
// what a task that comes to it reads there, and its downlink gains the rest; other racks' links stay as they are.
func (s *search) changed(list []change, most float64) bool {
	a, b := list[0].from, list[0].to
	upA, downA, upB, downB := s.l.up[a], s.l.down[a], s.l.up[b], s.l.down[b]
	for _, c := range list {
		inA, inB, total := s.p.Input[c.t][a], s.p.Input[c.t][b], s.l.total[c.t]
		sign := 1.0 // from a to b
		if c.from == b {
			sign = -1
		}
		upA += sign * inA / s.p.Up[a]
		downA -= sign * (total - inA) / s.p.Down[a]
		upB -= sign * inB / s.p.Up[b]
		downB += sign * (total - inB) / s.p.Down[b]
	}
	if max(upA, downA, upB, downB) >= most/slack {
		return false
	}
	for _, c := range list {
		s.l.take(c.t, c.from)
		s.l.put(c.t, c.to)
		s.rack[c.t] = c.to
	}
	return true
}

// exhaust tries all placements that may be better than the plan and writes the best into it; false when the budget was
// spent before.
func (s *search) exhaust(plan *Plan, x prices) bool {
	rest := make([]float64, len(s.order)+1) // the least price of all tasks from there on
	for k := len(s.order) - 1; k >= 0; k-- {
		rest[k] = rest[k+1] + x.least[s.order[k]]
	}
	s.l = s.p.empty()
	type option struct {
		rack int
		most float64
	}
	options := make([][]option, len(s.order))
	var try func(k int, paid float64) bool
	try = func(k int, paid float64) bool {
		if k == len(s.order) {
			copy(plan.Rack, s.rack)
			plan.Seconds = s.p.Seconds(s.rack)
			return true
		}
		if s.budget--; s.budget < 0 {
			return false
		}
		t := s.order[k]
		own := options[k][:0]
		for i := range s.p.Up {
			if !s.l.full(i) {
				own = append(own, option{i, s.with(t, i)})
			}
		}
		slices.SortStableFunc(own, func(a, b option) int { return cmp.Compare(a.most, b.most) })
		options[k] = own
		for _, o := range own {
			price := paid + x.of[t][o.rack]
			if max(o.most, price+rest[k+1])*slack >= plan.Seconds {
				continue
			}
			s.rack[t] = o.rack
			s.l.put(t, o.rack)
			done := try(k+1, price)
			s.l.take(t, o.rack)
			if !done {
				return false
			}
			if plan.Seconds <= s.bound*slack {
				return true
			}
		}
		return true
	}
	return try(0, 0)
}

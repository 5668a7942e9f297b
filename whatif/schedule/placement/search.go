package placement

import (
	"cmp"
	"slices"
)

// slack is the factor within which a placement counts as having reached the bound.
const slack = 1 + 1e-9

// Solve finds a good placement.
func Solve(p *Problem) (Plan, error) {
	if err := p.check(); err != nil {
		return Plan{}, err
	}
	if len(p.Input) == 0 {
		return Plan{}, nil
	}
	bound := p.bound()
	s := &search{p: p, l: p.empty(), rack: make([]int, len(p.Input)), bound: bound}
	s.greedy()
	s.improve()
	seconds := p.Seconds(s.rack)
	return Plan{Rack: s.rack, Seconds: seconds, Bound: min(bound, seconds)}, nil
}

type search struct {
	p     *Problem
	l     *links
	rack  []int
	bound float64
}

// greedy places the tasks one after the other, those with most input first, where the busiest link then takes least.
func (s *search) greedy() {
	order := make([]int, len(s.rack))
	for t := range order {
		order[t] = t
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.l.total[b], s.l.total[a]) })
	for _, t := range order {
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

// with returns what the busiest link that a task would use takes when it is placed in a rack.
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

// busiest returns the rack of a link that takes the given time.
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

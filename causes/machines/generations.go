package machines

import (
	"cmp"
	"math"
	"slices"

	"straggler/causes/stats"
)

// generations are groups of machines of like speed. Hardware that is slower as a whole is not bad: machines are judged
// against their group. Three of thirty that are slow alike may well be bad; that so many are bad, at the rate that
// machinePrior gives, must be unlikely before they are taken for hardware that differs by what it is. machine_health says
// in its note that they may be bad all the same.
type generations struct {
	groups []generation
	of     []int32 // the group of each machine; -1 where it is in none
	base   []float64
}

type generation struct {
	center   float64 // ln(factor)
	from, to int     // among the machines in order of their speed
}

const (
	tolerance   = 1.05 // a machine within 5 % of its generation is like it, however sure the figure
	worthNaming = 1.15 // a machine is not called slow when the estimate is closer than that
	chanceAlpha = 0.05 // a group is a generation when as many bad machines, or more, are less likely than that
)

// findGenerations groups machines without a gap between their speeds, three or more and too many to be bad by chance. A
// lone slow machine is in no group: it is judged against the slowest group that is faster than it, and one that is
// faster than all against the fastest.
func findGenerations(machines []SufficientStats) generations {
	type speed struct {
		machine int
		z       float64
	}
	g := generations{of: make([]int32, len(machines)), base: make([]float64, len(machines))}
	var all []speed
	var se []float64
	for m := range machines {
		g.of[m] = -1
		if t := &machines[m]; t.Phases >= leastPhases {
			z, v, _ := t.Spread()
			all = append(all, speed{m, z})
			se = append(se, math.Sqrt(v))
		}
	}
	if len(all) == 0 {
		return g
	}
	slices.SortFunc(all, func(a, b speed) int {
		if c := cmp.Compare(a.z, b.z); c != 0 {
			return c
		}
		return cmp.Compare(a.machine, b.machine)
	})
	gap := max(math.Log(tolerance), 2*stats.Median(se))
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].z-all[to-1].z <= gap {
			to++
		}
		if to-from >= 3 && stats.BinomialPValue(int64(to-from), int64(len(all)), machinePrior.SlabProbability) < chanceAlpha {
			for _, s := range all[from:to] {
				g.of[s.machine] = int32(len(g.groups))
			}
			g.groups = append(g.groups, generation{all[from+(to-from)/2].z, from, to})
		}
		from = to
	}
	for _, s := range all {
		g.base[s.machine] = g.against(s.machine, s.z)
	}
	return g
}

// against is the center of the group that a machine with that speed is judged by.
func (g *generations) against(machine int, z float64) float64 {
	if k := g.of[machine]; k >= 0 {
		return g.groups[k].center
	}
	base := 0.0
	for k, group := range g.groups {
		if k == 0 || group.center <= z {
			base = group.center
		}
	}
	return base
}

// Slower is the group of a machine, when it is slower than the fastest one: how many machines it has, and how much
// slower they are.
func (g *generations) Slower(machine int64) (size int, factor float64, ok bool) {
	if machine < 0 || machine >= int64(len(g.of)) || g.of[machine] <= 0 {
		return 0, 0, false
	}
	k := g.groups[g.of[machine]]
	return k.to - k.from, math.Exp(k.center - g.groups[0].center), true
}

package machines

import (
	"cmp"
	"math"
	"slices"

	"straggler/stats"
)

// generations are groups of machines of similar speed. A slower generation of hardware is not bad: machines are judged against
// their group. Three of thirty machines that are equally slow may well be bad. They count as a generation only if that number of
// bad machines is unlikely at the rate of machinePrior, and machine_health notes that they may be bad all the same.
type generations struct {
	groups []generation
	of     []int32 // the group of each machine; -1: none
	base   []float64
}

type generation struct {
	center   float64 // ln(factor)
	from, to int     // among the machines in order of their speed
}

const (
	tolerance   = 1.05 // a machine within 5 % of its generation is normal, however precise the estimate
	worthNaming = 1.15 // a machine closer to its generation than this is not called slow
	chanceAlpha = 0.05 // a group is a generation if as many bad machines, or more, are less likely than this
)

// findGenerations groups machines with no gap between their speeds; a group has at least three machines, and too many to be bad
// by chance. A machine in no group is judged against the slowest group that is faster than it, or against the fastest group.
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
		if to-from >= 3 && stats.BinomialSurvival(int64(to-from), int64(len(all)), machinePrior.SlabProbability) < chanceAlpha {
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

// against returns the center of the group that a machine of a given speed is judged against.
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

// Slower describes the group of a machine, if it is slower than the fastest one: its size and how much slower it is.
func (g *generations) Slower(machine int64) (size int, factor float64, ok bool) {
	if machine < 0 || machine >= int64(len(g.of)) || g.of[machine] <= 0 {
		return 0, 0, false
	}
	k := g.groups[g.of[machine]]
	return k.to - k.from, math.Exp(k.center - g.groups[0].center), true
}

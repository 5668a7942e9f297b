package live

import (
	"cmp"
	"math"
	"slices"
)

// The estimate by duration is the distribution of the total time of a task that has run for t, the predictive distribution of a
// hierarchical Dirichlet process (Teh et al. 2006): the n most similar tasks that took longer than t have the weight n / (n +
// α), and less similar tasks share the rest, level by level:
//
//	those of its machine, relative to the medians of their phases → those of its phase, × the factor of its machine →
//	those of the application's earlier phases, relative to their medians → Pareto's tail
//
// So experience with long tasks in this application, and on this machine, counts as soon as there is some, before the machine
// itself is called slow.

// concentration is α, the number of tasks that weigh as much as all less similar ones. With 1, 3 and 10 the labelled runs have
// 297, 285 and 274 of 398 slowed attempts named before 60 % of their run time, with 12, 10 and 9 false alarms, if tasks end
// before their first report.
const concentration = 1

// byDuration estimates from the time that an attempt has run on a machine with a factor.
func (p *pace) byDuration(elapsed float64, machine string, factor float64, h *past) guess {
	m := p.expected(elapsed, machine, factor, h)
	if m == nil {
		return guess{}
	}
	g := guess{basis: ByDuration}
	for _, x := range m.quantiles() {
		g.total = append(g.total, x.at)
	}
	return g
}

// expected returns the distribution of the total time of an attempt, or nil if nothing is known.
func (p *pace) expected(elapsed float64, machine string, factor float64, h *past) *mixture {
	mid := median(p.took)
	if !(mid > 0) {
		return nil
	}
	m := &mixture{}
	if machine != "" {
		m.add(elapsed, level{p.on[machine], 1}, level{h.on[machine], mid})
	}
	m.add(elapsed, level{p.took, factor})
	m.add(elapsed, level{h.all, factor * mid})
	m.tail(max(elapsed, factor*mid))
	return m
}

// past has the durations of the tasks of finished phases, relative to the medians of their phases.
type past struct {
	all []float64            // on a machine of factor 1, ascending
	on  map[string][]float64 // by machine, as they were, ascending
}

// add adds a finished phase.
func (h *past) add(p *pace) {
	mid := median(p.took)
	if len(p.took) < leastDone || !(mid > 0) {
		return
	}
	h.all = merge(h.all, p.took, mid)
	for machine, took := range p.on {
		h.on[machine] = merge(h.on[machine], took, mid)
	}
}

// mostPast bounds what is kept of earlier phases: beyond it every other task is dropped.
const mostPast = 10_000

// merge adds values, relative to one.
func merge(sorted, values []float64, one float64) []float64 {
	for _, x := range values {
		sorted = append(sorted, x/one)
	}
	slices.Sort(sorted)
	for len(sorted) > mostPast {
		for i := range len(sorted) / 2 {
			sorted[i] = sorted[2*i+1]
		}
		sorted = sorted[:len(sorted)/2]
	}
	return sorted
}

// level are durations in a unit of some seconds, ascending.
type level struct {
	values []float64
	unit   float64
}

// mixture is a distribution composed level by level.
type mixture struct {
	points []point
	taken  float64 // the weight that levels have
}

type point struct{ at, weight, size float64 }

// add adds a level that consists of some samples, those of their values that are beyond x.
func (m *mixture) add(x float64, samples ...level) {
	n := 0
	for i, s := range samples {
		k, _ := slices.BinarySearch(s.values, math.Nextafter(x/s.unit, math.Inf(1)))
		samples[i].values = s.values[k:]
		n += len(s.values) - k
	}
	if n == 0 {
		return
	}
	each := (1 - m.taken) / (float64(n) + concentration)
	for _, s := range samples {
		parts := min(len(s.values), quantiles)
		for i := range parts {
			at := int((float64(i) + 0.5) / float64(parts) * float64(len(s.values)))
			m.points = append(m.points, point{at: s.unit * s.values[at], weight: each * float64(len(s.values)) / float64(parts)})
		}
	}
	m.taken += each * float64(n)
}

// tail adds Pareto's tail beyond x, with the weight that is left, in as many points that those below three times x are within
// a twentieth of each other.
func (m *mixture) tail(x float64) {
	const points = 3 * quantiles
	for i := range points {
		m.points = append(m.points, point{at: x * math.Pow(1-(float64(i)+0.5)/points, -1/tail), weight: (1 - m.taken) / points})
	}
}

func (m *mixture) quantiles() []point {
	slices.SortFunc(m.points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	out := make([]point, quantiles)
	k, below := 0, 0.0 // the weight of the points before k
	for i := range out {
		for k < len(m.points)-1 && below+m.points[k].weight < (float64(i)+0.5)/quantiles {
			below += m.points[k].weight
			k++
		}
		out[i] = m.points[k]
	}
	return out
}

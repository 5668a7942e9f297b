package machines

import (
	"math"

	"straggler/causes/fit"
	"straggler/stats"
)

// A machine may be slow for a while, in a spell that begins and ends at unknown times, often in the middle of tasks. If it
// takes e^φ times as long meanwhile, and the share v of a task's duration lies in the spell, then ln(duration / usual) = −ln(1
// − v(1 − e^−φ)), for the work done is the time integral of the machine's speed. When the spell began and ended, and φ, are
// inferred from the tasks that ran around that time (MODEL.md, section 5).

const (
	transientPrior = 0.004 // probability of a spell on a machine within a phase, divided among all beginnings and ends
	sizes          = 6     // number of values of φ considered: sizeStep, 2·sizeStep …, a factor of up to 6
	sizeStep       = 0.3
	outside        = 5 // beginnings before the task, ends after it
	shares         = 4 // number of shares of the task's time considered: a quarter to all of it
	times          = outside + shares - 1
)

// Possible beginnings and ends of a spell, from the task's start in units of its duration.
var (
	begins = [times]float64{math.Inf(-1), -1, -0.5, -0.25, 0, 0.25, 0.5, 0.75}
	ends   = [times]float64{math.Inf(1), 2, 1.5, 1.25, 1, 0.75, 0.5, 0.25}
)

// spells is the number of pairs of a beginning and a later end.
const spells = times*times - shares*(shares-1)/2

// spell weighs the times at which the machine of a task may have been slow. It must not be used concurrently.
type spell struct {
	usual  []float64     // log density of the residuals without a spell
	later  logDensity    // of tasks that are not among the first of the phase
	first  logDensity    // of those that are
	by     []*logDensity // of each task near it
	ratios logRatios
}

// weigh fills h, one hypothesis per share of the task's time within the spell, from a quarter to all of it. is is the first
// hypothesis, which holds outside the spell.
func (s *spell) weigh(f *fit.Fitter, i int32, is Hypothesis, p stats.SpikeSlab, h []Hypothesis) {
	near := f.TasksNear(i)
	if !anySlow(near, is.Mean) {
		return
	}
	s.densities(f, near)
	s.usual = s.usual[:0]
	for k := range near {
		s.usual = append(s.usual, s.by[k].at(near[k].Residual-is.Mean))
	}
	var by [shares]weighted
	top, beginning, end := math.Inf(-1), 0., 0. // the most probable spell
	prior := stats.NormalOf(p.Slab)
	for size := 1; size <= sizes; size++ {
		phi := sizeStep * float64(size)
		lost := -math.Expm1(-phi)
		s.evaluate(near, is.Mean, lost)
		density := prior.PDF(phi) * sizeStep
		for b := range begins {
			for e := range ends {
				if begins[b] >= ends[e] {
					continue
				}
				l := s.ratios.all[b][e] + s.ratios.byBegin[b] + s.ratios.byEnd[e]
				v := min(1, ends[e]) - max(0, begins[b])
				by[int(v*shares)-1].add(density*math.Exp(min(50, l)), v, lost)
				if l > top {
					top, beginning, end = l, begins[b], ends[e]
				}
			}
		}
	}
	n := mostlyWithin(near, beginning, end)
	for k := range by {
		if n > 0 && by[k].weight != 0 {
			h[k] = by[k].hypothesis(is, n)
		}
	}
}

// densities computes the densities of the residuals of tasks.
func (s *spell) densities(f *fit.Fitter, near []fit.Near) {
	s2 := f.Regression.Sigma * f.Regression.Sigma
	s.later.of(f, s2)
	s.by = s.by[:0]
	for k := range near {
		if near[k].Variance == s2 {
			s.by = append(s.by, &s.later)
			continue
		}
		s.first.of(f, near[k].Variance)
		s.by = append(s.by, &s.first)
	}
}

// weighted sums over the spells with one share of the task's time, each weighted by its likelihood.
type weighted struct {
	weight       float64
	mean, square float64 // sums of the effect of the spell on the task's residual
}

// add adds a spell with the share v of the task's time that reduced the machine's speed by the share lost.
func (t *weighted) add(w, v, lost float64) {
	at := -math.Log1p(-v * lost)
	slope := v * (1 - lost) / (1 - v*lost) // of at, by φ
	t.weight += w
	t.mean += w * at
	t.square += w * (at*at + stats.Square(slope*sizeStep)/12)
}

// hypothesis returns the hypothesis that one of these spells took place; is holds outside it, and n tasks lie within the most
// probable one.
func (t *weighted) hypothesis(is Hypothesis, n int) Hypothesis {
	at := t.mean / t.weight
	return Hypothesis{Mean: is.Mean + at, Variance: is.Variance + max(0, t.square/t.weight-at*at), Weight: is.Weight * transientPrior / spells * t.weight, N: n}
}

// mostlyWithin counts the tasks that spent more than half of their time in a spell.
func mostlyWithin(near []fit.Near, beginning, end float64) (n int) {
	for k := range near {
		if 2*(min(near[k].Until, end)-max(near[k].From, beginning)) > near[k].Until-near[k].From {
			n++
		}
	}
	return n
}

// logRatios holds log likelihood ratios of spells of one size, by beginning and end, summed over the tasks.
type logRatios struct {
	all            [times][times]float64
	byBegin, byEnd [times]float64        // of tasks that do not depend on a spell's end, or on its beginning
	one            [times][times]float64 // of one task
}

// evaluate computes the likelihood of spells that reduce the machine's speed by the share lost; mean is the residual outside
// them.
func (s *spell) evaluate(near []fit.Near, mean, lost float64) {
	s.ratios = logRatios{}
	for k := range near {
		n := &near[k]
		of := func(begin, end float64) float64 {
			v := (min(n.Until, end) - max(n.From, begin)) / (n.Until - n.From)
			if v <= 0 {
				return 0
			}
			return s.by[k].at(n.Residual-mean+math.Log1p(-v*lost)) - s.usual[k]
		}
		switch {
		case n.Until <= ends[times-1]:
			s.ratios.addBegins(n, of)
		case n.From >= begins[times-1]:
			s.ratios.addEnds(n, of)
		default:
			s.ratios.addBoth(n, of)
		}
	}
}

// All spells that begin before a task are equivalent for it to one that begins with it, and likewise for ends: the next three
// functions evaluate each class once.

// addBegins adds a task that ends before every spell it overlaps.
func (d *logRatios) addBegins(n *fit.Near, of func(begin, end float64) float64) {
	for b, g := 0, 0.; b < times && begins[b] < n.Until; b++ {
		if b == 0 || begins[b] > n.From {
			g = of(begins[b], n.Until)
		}
		d.byBegin[b] += g
	}
}

// addEnds adds a task that starts after the beginning of every spell it overlaps.
func (d *logRatios) addEnds(n *fit.Near, of func(begin, end float64) float64) {
	for e, g := 0, 0.; e < times && ends[e] > n.From; e++ {
		if e == 0 || ends[e] < n.Until {
			g = of(n.From, ends[e])
		}
		d.byEnd[e] += g
	}
}

// addBoth adds a task in which spells may begin and end.
func (d *logRatios) addBoth(n *fit.Near, of func(begin, end float64) float64) {
	for b := range begins {
		for e := range ends {
			switch {
			case begins[b] >= ends[e]:
				continue
			case b > 0 && begins[b] <= n.From:
				d.one[b][e] = d.one[b-1][e]
			case e > 0 && ends[e] >= n.Until:
				d.one[b][e] = d.one[b][e-1]
			default:
				d.one[b][e] = of(begins[b], ends[e])
			}
			d.all[b][e] += d.one[b][e]
		}
	}
}

// anySlow reports whether any of the tasks was slow enough to be evidence of a spell.
func anySlow(near []fit.Near, usual float64) bool {
	for k := range near {
		if near[k].Residual-usual > 2*math.Sqrt(near[k].Variance) {
			return true
		}
	}
	return false
}

const (
	// values of a logDensity per standard deviation; linear interpolation between them has an error of at most 1/8·(1/64)² =
	// 3e-5 for a normal density
	perSigma = 64
	reach    = 32 // standard deviations on either side that are cached
)

// logDensity is the logarithm of the density of residuals in a phase. Values are cached, since every outlier of a phase needs
// hundreds of them.
type logDensity struct {
	mixture fit.Mixture
	step    float64
	kept    []float64 // at multiples of step, 0 in the middle; NaN: not computed yet
}

// of resets it for a phase and the variance of its ordinary residuals. The results do not depend on which outliers are
// evaluated, nor on their order.
func (d *logDensity) of(f *fit.Fitter, variance float64) {
	m := f.Outliers.Around(variance)
	if d.kept == nil {
		d.kept = make([]float64, 2*reach*perSigma+1)
	} else if m == d.mixture {
		return
	}
	d.mixture, d.step = m, math.Sqrt(variance)/perSigma
	for k := range d.kept {
		d.kept[k] = math.NaN()
	}
}

func (d *logDensity) at(r float64) float64 {
	x := r/d.step + reach*perSigma
	if !(x >= 0 && x < float64(len(d.kept)-1)) {
		return d.exact(r)
	}
	k := int(x)
	left := d.value(k)
	return left + (x-float64(k))*(d.value(k+1)-left)
}

func (d *logDensity) value(k int) float64 {
	v := d.kept[k]
	if v != v {
		v = d.exact(float64(k-reach*perSigma) * d.step)
		d.kept[k] = v
	}
	return v
}

func (d *logDensity) exact(r float64) float64 {
	own, usual := d.mixture.Densities(r)
	return math.Log(max(1e-300, usual+own))
}

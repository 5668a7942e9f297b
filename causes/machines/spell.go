package machines

import (
	"math"

	"straggler/causes/fit"
	"straggler/causes/stats"
)

// A machine may be slow for a while, in a spell that begins and ends at unknown times, often in the middle of tasks. If it
// takes e^φ times as long meanwhile, and the share v of a task's duration lies in the spell, then ln(duration / usual) = −ln(1
// − v(1 − e^−φ)), for the work done is the time integral of the machine's speed. The tasks that ran about then tell when the
// spell began and ended, and φ (MODEL.md, section 5).

const (
	transientPrior = 0.004 // probability that a machine is slow for a while within a phase; all beginnings and ends share it
	sizes          = 6     // of φ that are looked at: sizeStep, 2·sizeStep …, a factor of up to 6
	sizeStep       = 0.3
	outside        = 5 // beginnings before the task, ends after it
	shares         = 4 // of the task's time that may lie in a spell: a quarter to all of it
	times          = outside + shares - 1
)

// When a spell may begin and end, in units of the task's duration from its start.
var (
	begins = [times]float64{math.Inf(-1), -1, -0.5, -0.25, 0, 0.25, 0.5, 0.75}
	ends   = [times]float64{math.Inf(1), 2, 1.5, 1.25, 1, 0.75, 0.5, 0.25}
)

// spells is how many pairs of a beginning and an end there are, the one before the other.
const spells = times*times - shares*(shares-1)/2

// spell weighs when the machine of a task may have been slow. It is for one goroutine.
type spell struct {
	usual   []float64 // log density of the residuals if there was none
	density logDensity
}

// weigh fills h, by the share of the task's time that lay in the spell, from a quarter to all of it. is is the first
// hypothesis, which holds outside of the spell.
func (s *spell) weigh(f *fit.Fitter, i int32, is Hypothesis, p stats.SpikeSlab, h []Hypothesis) {
	near := f.TasksNear(i)
	if !tells(f, near, is.Mean) {
		return
	}
	s.density.of(f)
	s.usual = s.usual[:0]
	for k := range near {
		s.usual = append(s.usual, s.density.at(near[k].Residual-is.Mean))
	}
	var weight, mean, square [shares]float64
	top, beginning, end := math.Inf(-1), 0., 0. // the most probable spell
	prior := stats.NormalOf(p.Slab)
	for size := 1; size <= sizes; size++ {
		phi := sizeStep * float64(size)
		lost := -math.Expm1(-phi)
		var sum, gain [times][times]float64 // by beginning and end: what all tasks say, and one
		var byBegin, byEnd [times]float64   // what those say that a spell's end, or its beginning, makes no difference to
		for k := range near {
			n := &near[k]
			within := func(begin, end float64) float64 { // what n says of a spell
				v := (min(n.Until, end) - max(n.From, begin)) / (n.Until - n.From)
				if v <= 0 {
					return 0
				}
				return s.density.at(n.Residual-is.Mean+math.Log1p(-v*lost)) - s.usual[k]
			}
			// What begins before the task does might as well begin with it, and what ends after it, end with it.
			switch g := 0.; {
			case n.Until <= ends[times-1]:
				for b := 0; b < times && begins[b] < n.Until; b++ {
					if b == 0 || begins[b] > n.From {
						g = within(begins[b], n.Until)
					}
					byBegin[b] += g
				}
			case n.From >= begins[times-1]:
				for e := 0; e < times && ends[e] > n.From; e++ {
					if e == 0 || ends[e] < n.Until {
						g = within(n.From, ends[e])
					}
					byEnd[e] += g
				}
			default:
				for b := range begins {
					for e := range ends {
						switch {
						case begins[b] >= ends[e]:
							continue
						case b > 0 && begins[b] <= n.From:
							gain[b][e] = gain[b-1][e]
						case e > 0 && ends[e] >= n.Until:
							gain[b][e] = gain[b][e-1]
						default:
							gain[b][e] = within(begins[b], ends[e])
						}
						sum[b][e] += gain[b][e]
					}
				}
			}
		}
		density := prior.PDF(phi) * sizeStep
		for b := range begins {
			for e := range ends {
				if begins[b] >= ends[e] {
					continue
				}
				l := sum[b][e] + byBegin[b] + byEnd[e]
				w := density * math.Exp(min(50, l))
				v := min(1, ends[e]) - max(0, begins[b])
				k := int(v*shares) - 1
				at := -math.Log1p(-v * lost)
				slope := v * (1 - lost) / (1 - v*lost) // of at, by φ
				weight[k] += w
				mean[k] += w * at
				square[k] += w * (at*at + stats.Square(slope*sizeStep)/12)
				if l > top {
					top, beginning, end = l, begins[b], ends[e]
				}
			}
		}
	}
	n := 0
	for k := range near {
		if 2*(min(near[k].Until, end)-max(near[k].From, beginning)) > near[k].Until-near[k].From {
			n++
		}
	}
	for k := range weight {
		if n == 0 || weight[k] == 0 {
			continue
		}
		at := mean[k] / weight[k]
		h[k] = Hypothesis{Mean: is.Mean + at, Variance: is.Variance + max(0, square[k]/weight[k]-at*at), Weight: is.Weight * transientPrior / spells * weight[k], N: n}
	}
}

// tells reports whether any of the tasks was so slow that it speaks for a spell.
func tells(f *fit.Fitter, near []fit.Near, usual float64) bool {
	for k := range near {
		if near[k].Residual-usual > 2*f.Regression.Sigma {
			return true
		}
	}
	return false
}

const (
	perSigma = 64 // values of a logDensity in a standard deviation: between them it is a straight line, off by 1/8·(1/64)² = 3e-5 at most where it is normal
	reach    = 32 // standard deviations to either side for which it keeps values
)

// logDensity is the logarithm of the density of residuals in a phase. It keeps values, since every outlier of a phase asks for
// hundreds of them.
type logDensity struct {
	mixture fit.Mixture
	step    float64
	kept    []float64 // at multiples of step, 0 in the middle; NaN: not computed yet
}

// of makes it that of a phase. Which outliers ask, and in which order, makes no difference.
func (d *logDensity) of(f *fit.Fitter) {
	m := f.Outliers.Around(f.Regression.Sigma * f.Regression.Sigma)
	if d.kept == nil {
		d.kept = make([]float64, 2*reach*perSigma+1)
	} else if m == d.mixture {
		return
	}
	d.mixture, d.step = m, f.Regression.Sigma/perSigma
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

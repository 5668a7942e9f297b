package placement

import (
	"math"
	"slices"
)

// weights weigh the links; they sum to 1. Under them a task has a price in each rack: Σ over links of weight · seconds that it
// adds.
//
// For any weights the busiest link takes at least the weighted mean of all, and that is at least Σ over tasks of the
// price in the cheapest rack: a bound that no placement beats, whole or fractional. Its maximum over the weights is the
// optimum of the linear relaxation (its dual).
type weights struct{ up, down []float64 }

// steps is how often weights are improved. The bound holds after any number of them.
const steps = 400

// bound finds good weights by moving them towards the links that are busy when every task is placed where it is cheapest, in ever
// smaller steps (multiplicative weights), and returns the largest bound found.
func (p *Problem) bound() float64 {
	n := len(p.Up)
	w := weights{slices.Repeat([]float64{1 / float64(2*n)}, n), slices.Repeat([]float64{1 / float64(2*n)}, n)}
	best := -1.0
	total := p.empty().total
	l := p.empty()
	for k := range steps {
		best = max(best, p.cheapest(w, total, l))
		most := l.most()
		if most == 0 {
			break
		}
		w.move(l, 2/math.Sqrt(float64(k+1))/most)
	}
	return max(best, p.single(total))
}

// cheapest places every task where its price is least, and returns the sum of the prices.
func (p *Problem) cheapest(w weights, total []float64, l *links) (sum float64) {
	clear(l.up)
	clear(l.down)
	clear(l.tasks)
	for t, in := range p.Input {
		all := 0.0
		for j, b := range in {
			all += w.up[j] * b / p.Up[j]
		}
		least, rack := math.Inf(1), 0
		for i, b := range in {
			if c := all - w.up[i]*b/p.Up[i] + w.down[i]*(total[t]-b)/p.Down[i]; c < least {
				least, rack = c, i
			}
		}
		sum += least
		l.put(t, rack)
	}
	return sum
}

// move multiplies each weight by e^(by · seconds of its link).
func (w *weights) move(l *links, by float64) {
	sum := 0.0
	for i := range w.up {
		w.up[i] *= math.Exp(by * l.up[i])
		w.down[i] *= math.Exp(by * l.down[i])
		sum += w.up[i] + w.down[i]
	}
	for i := range w.up {
		w.up[i] /= sum
		w.down[i] /= sum
	}
}

// single returns the bound that one task alone gives: wherever it goes, its input must get there.
func (p *Problem) single(total []float64) float64 {
	bound := 0.0
	for t, in := range p.Input {
		least := math.Inf(1)
		for i := range in {
			takes := (total[t] - in[i]) / p.Down[i]
			for j, b := range in {
				if j != i {
					takes = max(takes, b/p.Up[j])
				}
			}
			least = min(least, takes)
		}
		bound = max(bound, least)
	}
	return bound
}

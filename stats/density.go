package stats

import "math"

// SpikeSlab is the prior of an effect that is usually close to 0 and sometimes large (Mitchell and Beauchamp 1988): a normal
// distribution around 0 with variance Spike, and with probability SlabProbability one with variance Slab.
type SpikeSlab struct{ Spike, Slab, SlabProbability float64 }

// Posterior returns the effect's mean and variance after an observation z of variance v, and the probability that it came from
// the slab.
func (g SpikeSlab) Posterior(z, v float64) (mean, variance, slab float64) {
	a, b := g.Spike+v, g.Slab+v
	// the log of the odds keeps far observations from underflowing
	odds := math.Log(g.SlabProbability/(1-g.SlabProbability)) + 0.5*math.Log(a/b) + 0.5*z*z*(1/a-1/b)
	slab = 1 / (1 + math.Exp(-odds))
	ka, kb := g.Spike/a, g.Slab/b
	mean = z * ((1-slab)*ka + slab*kb)
	variance = (1-slab)*ka*v + slab*kb*v + slab*(1-slab)*z*z*(kb-ka)*(kb-ka)
	return mean, variance, slab
}

// Variance returns the prior variance of the effect.
func (g SpikeSlab) Variance() float64 {
	return (1-g.SlabProbability)*g.Spike + g.SlabProbability*g.Slab
}

// NormalPDF returns the density at x of a normal distribution around 0.
func NormalPDF(x, variance float64) float64 {
	n := NormalOf(variance)
	return n.PDF(x)
}

// Normal is a normal distribution around 0, for evaluating several densities.
type Normal struct{ variance, norm float64 }

// NormalOf returns the distribution with a variance.
func NormalOf(variance float64) Normal { return Normal{variance, math.Sqrt(2 * math.Pi * variance)} }

// PDF returns the density at x.
func (n *Normal) PDF(x float64) float64 { return math.Exp(-0.5*x*x/n.variance) / n.norm }

// NormalLogPDF returns the logarithm of NormalPDF, which does not underflow.
func NormalLogPDF(x, variance float64) float64 {
	return -0.5*x*x/variance - 0.5*math.Log(2*math.Pi*variance)
}

// Square returns x².
func Square(x float64) float64 { return x * x }

package causes

import "math"

// slowness is how attempts are slow by themselves, beyond the scatter of their phase: how many, and by what ln(factor).
// One in five of those is of any size: no store has shown all that may happen.
type slowness struct {
	share          float64
	mean, variance float64
}

// usualSlowness is what is known before a store is seen: three attempts in a hundred, slow or fast by anything up to e.
var usualSlowness = slowness{share: 0.03, mean: 0, variance: 1}

const (
	anySize     = 0.2 // share of the attempts slow by themselves that are of any size
	ownLeast    = 0.3 // ln(factor) from which an attempt is counted as slow by itself
	ownWeight   = 50  // attempts that usualSlowness is worth against those of the store
	ownSlow     = 5   // slow attempts that the guess of their size is worth
	ownGuess    = 0.9 // ln(factor) of an attempt slow by itself, give or take ownSpread
	ownSpread   = 0.6
	ownVariance = 0.09 // the least that their sizes vary
)

// density is how likely a deviation d is of an attempt that is slow by itself, times how likely that is; v is the
// variance of the ordinary ones.
func (s *slowness) density(d, v float64) float64 {
	return s.share * ((1-anySize)*normal(d-s.mean, v+s.variance) + anySize*normal(d, v+1))
}

// ordinary is the same of an attempt that is not.
func (s *slowness) ordinary(d, v float64) float64 { return (1 - s.share) * normal(d, v) }

// posterior is what of a residual r is the attempt's own: its mean and variance, and the probability that it is slow, or
// fast, by itself. v is the variance of the residuals of ordinary attempts.
func (s *slowness) posterior(r, v float64) (mean, variance, seldom float64) {
	// logarithms keep far residuals from underflowing; the largest is taken out
	l := [3]float64{math.Log(1-s.share) + gauss(r, v), math.Log(s.share*(1-anySize)) + gauss(r-s.mean, v+s.variance),
		math.Log(s.share*anySize) + gauss(r, v+1)}
	top := max(l[0], l[1], l[2])
	var w [3]float64
	var sum float64
	for i := range l {
		w[i] = math.Exp(l[i] - top)
		sum += w[i]
	}
	at := [3]float64{0, s.mean + (r-s.mean)*s.variance/(v+s.variance), r / (v + 1)}
	within := [3]float64{0, v * s.variance / (v + s.variance), v / (v + 1)}
	for i := range w {
		w[i] /= sum
		mean += w[i] * at[i]
	}
	for i := range w {
		variance += w[i] * (within[i] + sq(at[i]-mean))
	}
	return mean, variance, w[1] + w[2]
}

// spoiled is the variance that attempts slow by themselves add to the mean of n of them: with three or more, the
// median keeps them out.
func (s *slowness) spoiled(n int) float64 {
	c := s.share * (s.variance + sq(s.mean)) / float64(n)
	if n > 2 {
		c *= 0.1
	}
	return c
}

// seenSlow counts attempts that are slow by themselves: whose machine did others of the phase as usual.
type seenSlow struct {
	n, slow   float64
	sum, sum2 float64 // of ln(factor) of the slow ones
}

func (c *seenSlow) add(d seenSlow) {
	c.n, c.slow, c.sum, c.sum2 = c.n+d.n, c.slow+d.slow, c.sum+d.sum, c.sum2+d.sum2
}

// countSlow looks at the machines that ran two or more tasks of the phase: an attempt that took longer than its machine's
// median, or than the only other one where that was nothing special, did so by itself. Machines that were slow as a
// whole say nothing.
func (b *bench) countSlow() (c seenSlow) {
	least := max(ownLeast, 3*b.fit.sigma)
	for k := range b.local.names {
		b.tmp = b.tmp[:0]
		for _, i := range b.local.tasks(int32(k)) {
			if j := b.rowOf[i]; j >= 0 {
				b.tmp = append(b.tmp, b.r[j])
			}
		}
		var usual float64
		switch n := len(b.tmp); {
		case n < 2:
			continue
		case n == 2:
			if usual = min(b.tmp[0], b.tmp[1]); math.Abs(usual) > least {
				continue
			}
		default:
			usual = median(b.tmp)
		}
		c.n += float64(len(b.tmp))
		for _, r := range b.tmp {
			if d := r - usual; d > least {
				c.slow++
				c.sum += d
				c.sum2 += d * d
			}
		}
	}
	return c
}

// slowness is what the store says about attempts that are slow by themselves, with what is usual counted in.
func (c *seenSlow) slowness() slowness {
	s := slowness{share: (c.slow + usualSlowness.share*ownWeight) / (c.n + ownWeight)}
	n := c.slow + ownSlow
	s.mean = (c.sum + ownSlow*ownGuess) / n
	s.variance = max(ownVariance, (c.sum2+ownSlow*(sq(ownGuess)+sq(ownSpread)))/n-sq(s.mean))
	s.share = min(max(s.share, 0.005), 0.2)
	return s
}

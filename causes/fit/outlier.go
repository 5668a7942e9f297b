package fit

import (
	"math"

	"straggler/stats"
)

// OutlierComponent is the component of the residuals' mixture for attempts that are slow, or fast, by themselves, beyond the
// scatter of their phase (MODEL.md, section 4): with Probability a residual is Mean ± √Variance, or, one time in five, 0 ± 1 (a
// factor of up to e, either way), because no store has seen everything that can happen.
type OutlierComponent struct {
	Probability    float64
	Mean, Variance float64 // of ln(factor)
	Computing      float64 // share of them whose processor time grows likewise; the others wait for it or for something else
}

// OutlierPrior is the prior: three attempts in a hundred, slow or fast by a factor of up to e.
var OutlierPrior = OutlierComponent{Probability: 0.03, Mean: 0, Variance: 1, Computing: 0.5}

const (
	broadShare     = 0.2 // of the component that is 0 ± broadVariance, whatever the store contains
	broadVariance  = 1.0
	OutlierLeast   = 0.3 // ln(factor) from which an attempt is counted as slow by itself
	priorAttempts  = 50  // attempts that OutlierPrior's probability is worth against those of the store
	priorOutliers  = 5   // slow attempts that the guess of their size is worth
	guessMean      = 0.9 // ln(factor) of an attempt slow by itself, ± guessSD
	guessSD        = 0.6
	priorComputing = 4    // attempts that OutlierPrior's share of those that compute more is worth
	varianceLeast  = 0.09 // the least that their sizes vary
)

// Mixture is the distribution of residuals if all ordinary ones have the same variance.
type Mixture struct {
	probability, mean       float64
	ordinary, narrow, broad stats.Normal
}

// Around returns the mixture if v is the variance of ordinary residuals.
func (c *OutlierComponent) Around(v float64) Mixture {
	return Mixture{c.Probability, c.Mean, stats.NormalOf(v), stats.NormalOf(v + c.Variance), stats.NormalOf(v + broadVariance)}
}

// Densities returns the density of a residual r under the component and under the rest of the mixture, each times its
// probability.
func (m *Mixture) Densities(r float64) (own, ordinary float64) {
	own = m.probability * ((1-broadShare)*m.narrow.PDF(r-m.mean) + broadShare*m.broad.PDF(r))
	return own, (1 - m.probability) * m.ordinary.PDF(r)
}

// OwnPart is the part of a residual due to the attempt itself.
type OwnPart struct {
	Mean, Variance float64
	Probability    float64 // that the residual comes from the component
	LogDensity     float64 // of the residual and of its processor time
	Gain           float64 // expectation of (what is not the attempt's own) / variance of ordinary residuals
	GainSlope      float64 // expectation of 1 / (variance of the residual)
}

// Posterior splits a residual r; v is the variance of the residuals of ordinary attempts. The processor time is a second
// observation: it grew by the attempt's own part if the attempt computed more, and otherwise did not.
func (c *OutlierComponent) Posterior(r, v float64, cpu ProcessorTime) (p OwnPart) {
	narrow, broad := c.Probability*(1-broadShare), c.Probability*broadShare
	parts := [...]struct {
		weight, mean, variance float64 // of the attempt's own
		computes               bool
	}{
		{1 - c.Probability, 0, 0, false},
		{narrow * (1 - c.Computing), c.Mean, c.Variance, false},
		{broad * (1 - c.Computing), 0, broadVariance, false},
		{narrow * c.Computing, c.Mean, c.Variance, true},
		{broad * c.Computing, 0, broadVariance, true},
	}
	n := len(parts)
	if !cpu.Known {
		n = 3
		parts[1].weight, parts[2].weight = narrow, broad
	}
	var l, own, variance, slope [len(parts)]float64 // the own part of each: expectation, variance, and change with r
	top := math.Inf(-1)                             // logarithms keep far residuals from underflowing; the largest is taken out
	for k, q := range parts[:n] {
		d, total := r-q.mean, v+q.variance
		l[k] = math.Log(q.weight) + stats.NormalLogPDF(d, total)
		own[k], variance[k], slope[k] = q.mean+d*q.variance/total, v*q.variance/total, q.variance/total
		if cpu.Known { // then by its processor time, given r
			inBoth, mean := cpu.Shared, 0.0
			if q.computes {
				inBoth, mean = inBoth+q.variance, q.mean
			}
			of := cpu.Variance + inBoth - cpu.Shared - inBoth*inBoth/total // variance of the processor time, given r
			more := cpu.Residual - mean - d*inBoth/total
			l[k] += stats.NormalLogPDF(more, of)
			with := inBoth - cpu.Shared - q.variance*inBoth/total // its covariance with the own part, given r
			own[k] += with / of * more
			variance[k] -= with * with / of
			slope[k] -= with / of * inBoth / total
		}
		top = max(top, l[k])
	}
	var sum, square float64
	for k := range n {
		l[k] = math.Exp(l[k] - top)
		sum += l[k]
	}
	for k := range n {
		w := l[k] / sum
		p.Mean += w * own[k]
		square += w * (variance[k] + own[k]*own[k])
		p.Gain += w * (r - own[k]) / v
		p.GainSlope += w * (1 - slope[k]) / v
		if k > 0 {
			p.Probability += w
		}
	}
	p.Variance = max(0, square-p.Mean*p.Mean)
	p.LogDensity = top + math.Log(sum)
	return p
}

// meanVariance returns the variance that outliers add to the robust mean of n attempts: with three or more, the median removes
// nine tenths of it.
func (c *OutlierComponent) meanVariance(n int) float64 {
	v := c.Probability * (c.Variance + stats.Square(c.Mean)) / float64(n)
	if n > 2 {
		v *= 0.1
	}
	return v
}

// OutlierCounts are the sufficient statistics of the component: attempts, those that are slow by themselves, and the sums of
// ln(factor) of these and of its square.
type OutlierCounts struct {
	N, Slow   float64
	Sum, Sum2 float64

	CPUKnown, Computing float64 // of the slow, those with a processor time, and those where it grew by half as much or more
}

// Add adds the counts of another phase.
func (c *OutlierCounts) Add(d OutlierCounts) {
	c.N, c.Slow, c.Sum, c.Sum2 = c.N+d.N, c.Slow+d.Slow, c.Sum+d.Sum, c.Sum2+d.Sum2
	c.CPUKnown, c.Computing = c.CPUKnown+d.CPUKnown, c.Computing+d.Computing
}

// CountOutliers examines the machines that ran at least two tasks of the phase: an attempt that took longer than the median of
// its machine, or than the only other one if that was ordinary, was slow by itself. Machines that were slow as a whole do not
// count.
func (f *Fitter) CountOutliers() (c OutlierCounts) {
	least := max(OutlierLeast, 3*f.Regression.Sigma)
	for k := range f.Machines.Numbers {
		f.tmp = f.tmp[:0]
		for _, i := range f.Machines.Tasks(int32(k)) {
			if j := f.row[i]; j >= 0 {
				f.tmp = append(f.tmp, f.residual[j])
			}
		}
		var usual float64
		switch n := len(f.tmp); {
		case n < 2:
			continue
		case n == 2:
			if usual = min(f.tmp[0], f.tmp[1]); math.Abs(usual) > least {
				continue
			}
		default:
			usual = stats.Median(f.tmp)
		}
		c.N += float64(len(f.tmp))
		for _, i := range f.Machines.Tasks(int32(k)) {
			j := f.row[i]
			if j < 0 {
				continue
			}
			if d := f.residual[j] - usual; d > max(least, 3*math.Sqrt(f.Variance(i))) {
				c.Slow++
				c.Sum += d
				c.Sum2 += d * d
				if p := f.ProcessorTime(i); p.Known {
					c.CPUKnown++
					if p.Residual > d/2 {
						c.Computing++
					}
				}
			}
		}
	}
	return c
}

// Component estimates the component from the counts of a store and the prior.
func (c *OutlierCounts) Component() OutlierComponent {
	n := c.Slow + priorOutliers
	mean := (c.Sum + priorOutliers*guessMean) / n
	share := (c.Slow + OutlierPrior.Probability*priorAttempts) / (c.N + priorAttempts)
	return OutlierComponent{
		Probability: min(max(share, 0.005), 0.2),
		Mean:        mean,
		Computing:   (c.Computing + priorComputing*OutlierPrior.Computing) / (c.CPUKnown + priorComputing),
		Variance:    max(varianceLeast, (c.Sum2+priorOutliers*(stats.Square(guessMean)+stats.Square(guessSD)))/n-stats.Square(mean)),
	}
}

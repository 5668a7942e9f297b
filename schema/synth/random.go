package synth

import "math"

// random draws for one subject: the whole run, a machine, a stage, a task, an attempt. A draw is a hash of the subject and of
// the draw's purpose, as in counter-based generators (Salmon et al., SC 2011); there is no state, so the order and the number
// of draws do not matter.
type random uint64

// purpose distinguishes the draws of one subject.
type purpose uint64

// The purposes. New ones go at the end, because their numbers determine the results of a seed.
const (
	forShape purpose = iota + 1
	forTasks
	forParents
	forWork
	forNoise
	forSpread
	forRank
	forSkew
	forGeneration
	forBad
	forFlaky
	forWindow
	forNetwork
	forUplink
	forTransient
	forTransientFactor
	forGC
	forSpill
	forSpillAmount
	forScheduler
	forOverhead
	forCold
	forFailure
	forFailurePoint
	forLoss
	forVictim
	forDetection
	forReplica
	forSlot
	forGap
	forRecords
	forStart
)

// of returns the n-th subject under d.
func (d random) of(n int) random {
	return random(mix(uint64(d) ^ (uint64(n)+1)*0x9e3779b97f4a7c15))
}

func (d random) bits(p purpose) uint64 {
	return mix(uint64(d) + uint64(p)*0xd1342543de82ef95)
}

// uniform draws from [0, 1).
func (d random) uniform(p purpose) float64 { return float64(d.bits(p)>>11) / (1 << 53) }

func (d random) chance(p purpose, probability float64) bool {
	return probability > 0 && d.uniform(p) < probability
}

func (d random) intn(p purpose, n int) int { return int(d.bits(p) % uint64(n)) }

// between draws uniformly from r.
func (d random) between(p purpose, r Range) float64 { return r.Low + (r.High-r.Low)*d.uniform(p) }

// logBetween draws uniformly from r on a log scale; r.Low > 0.
func (d random) logBetween(p purpose, r Range) float64 {
	if r.Low == r.High {
		return r.Low
	}
	return r.Low * math.Exp(math.Log(r.High/r.Low)*d.uniform(p))
}

// normal draws from the standard normal distribution, by Box and Muller.
func (d random) normal(p purpose) float64 {
	h := d.bits(p)
	u := (float64(h>>11) + 0.5) / (1 << 53)
	v := float64(mix(h)>>11) / (1 << 53)
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}

// lognormal has median 1 and the given sigma of its logarithm.
func (d random) lognormal(p purpose, sigma float64) float64 {
	if sigma == 0 {
		return 1
	}
	return math.Exp(sigma * d.normal(p))
}

// poisson counts by inversion; mean is small.
func (d random) poisson(p purpose, mean float64) int {
	if mean <= 0 {
		return 0
	}
	u, k := d.uniform(p), 0
	for term := math.Exp(-mean); u >= term && k < 1000; k++ {
		u -= term
		term *= mean / float64(k+1)
	}
	return k
}

// logMean returns the mean of a value that is uniform in r on a log scale.
func logMean(r Range) float64 {
	if r.Low == r.High {
		return r.Low
	}
	return (r.High - r.Low) / math.Log(r.High/r.Low)
}

// mix applies the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

package policy

import (
	"math"
	"slices"
)

// The analysis behind Dolly (DOLLY §3.1, §4): how likely a job straggles that has n tasks in each of two phases, c clones
// of each task and a probability p that a task straggles.

// StraggleTasks is the probability that one of n tasks straggles when each has c clones: 1 − (1 − p^c)^n.
func StraggleTasks(n, c int, p float64) float64 {
	return 1 - math.Pow(1-math.Pow(p, float64(c)), float64(n))
}

// StraggleJobs is the same for c clones of the whole job: (1 − (1 − p)^n)^c.
func StraggleJobs(n, c int, p float64) float64 {
	return math.Pow(1-math.Pow(1-p, float64(n)), float64(c))
}

// AtLeast is Ψ(n, c, d): the probability that in every one of n clone groups at least d of the c clones do not straggle.
func AtLeast(n, c, d int, p float64) float64 {
	one := 0.0
	for i := 0; i <= c-d; i++ {
		one += choose(c, i) * math.Pow(p, float64(i)) * math.Pow(1-p, float64(c-i))
	}
	return math.Pow(one, float64(n))
}

// StraggleCAC is the probability that a job straggles when every upstream clone feeds one downstream clone:
// 1 − Σ_d (Ψ(d) − Ψ(d+1)) (1 − p^d)^n, for the fewest clones d that any upstream group has in time. (The paper prints
// Ψ(d) − Ψ(d−1), which is negative: fewer groups have more clones in time.)
func StraggleCAC(n, c int, p float64) float64 {
	well := 0.0
	for d := 1; d <= c; d++ {
		next := 0.0
		if d < c {
			next = AtLeast(n, c, d+1, p)
		}
		well += (AtLeast(n, c, d, p) - next) * math.Pow(1-math.Pow(p, float64(d)), float64(n))
	}
	return 1 - well
}

// StraggleCC is the same when all downstream clones read the first upstream clone: 1 − Ψ(n, c, 1) (1 − p^c)^n.
func StraggleCC(n, c int, p float64) float64 {
	return 1 - AtLeast(n, c, 1, p)*math.Pow(1-math.Pow(p, float64(c)), float64(n))
}

func choose(n, k int) float64 {
	c := 1.0
	for i := 1; i <= k; i++ {
		c = c * float64(n-k+i) / float64(i)
	}
	return c
}

// ReadTime is how long a downstream clone takes to have read an upstream output, counted from the end of the first
// upstream clone, when its own copy comes a gap later and it waits for that at most omega (DOLLY §4.4). alone is the time
// to read the output without contention, alpha the share of the bandwidth that is left under contention.
//
// In time, it takes T_E = gap + alone. Otherwise it shares the first copy from omega on: the clone that began at once has
// alone − omega left, which takes (alone − omega)/alpha under contention; then the other reads its last omega alone.
func ReadTime(gap, omega, alone, alpha float64) float64 {
	if gap <= omega {
		return gap + alone
	}
	if omega >= alone {
		return omega + alone // the first has read everything: no contention
	}
	return omega + (alone-omega)/alpha + omega
}

// BestWait is the ω that makes the mean of ReadTime over a sample of gaps least. Between two gaps the
// mean is linear up to the reading time and grows after it; no end of such a piece is better than the gaps, 0 and the
// reading time.
func BestWait(gaps []float64, alone, alpha float64) float64 {
	candidates := append([]float64{0, alone}, gaps...)
	slices.Sort(candidates)
	best, least := 0.0, math.Inf(1)
	for _, omega := range slices.Compact(candidates) {
		sum := 0.0
		for _, g := range gaps {
			sum += ReadTime(g, omega, alone, alpha)
		}
		if sum < least-1e-12 {
			best, least = omega, sum
		}
	}
	return best
}

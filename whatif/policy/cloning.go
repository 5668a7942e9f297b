package policy

import (
	"math"
	"slices"
)

// The analysis behind Dolly (DOLLY §3.1, §4): the probability that a job straggles if it has n tasks in each of two phases, c
// clones of each task, and a probability p that a task straggles.

// StraggleTasks returns the probability that one of n tasks straggles when each has c clones: 1 − (1 − p^c)^n.
func StraggleTasks(n, c int, p float64) float64 {
	return 1 - math.Pow(1-math.Pow(p, float64(c)), float64(n))
}

// atLeast returns Ψ(n, c, d): the probability that in every one of n clone groups at least d of the c clones do not straggle.
func atLeast(n, c, d int, p float64) float64 {
	one := 0.0
	for i := 0; i <= c-d; i++ {
		one += choose(c, i) * math.Pow(p, float64(i)) * math.Pow(1-p, float64(c-i))
	}
	return math.Pow(one, float64(n))
}

// StraggleCAC returns the probability that a job straggles when every upstream clone feeds one downstream clone:
// 1 − Σ_d (Ψ(d) − Ψ(d+1)) (1 − p^d)^n, for the fewest clones d that any upstream group has in time. (The paper prints
// Ψ(d) − Ψ(d−1), which is negative: fewer groups have more clones in time.)
func StraggleCAC(n, c int, p float64) float64 {
	well := 0.0
	for d := 1; d <= c; d++ {
		next := 0.0
		if d < c {
			next = atLeast(n, c, d+1, p)
		}
		well += (atLeast(n, c, d, p) - next) * math.Pow(1-math.Pow(p, float64(d)), float64(n))
	}
	return 1 - well
}

// StraggleCC returns the same when all downstream clones read the first upstream clone: 1 − Ψ(n, c, 1) (1 − p^c)^n.
func StraggleCC(n, c int, p float64) float64 {
	return 1 - atLeast(n, c, 1, p)*math.Pow(1-math.Pow(p, float64(c)), float64(n))
}

func choose(n, k int) float64 {
	c := 1.0
	for i := 1; i <= k; i++ {
		c = c * float64(n-k+i) / float64(i)
	}
	return c
}

// readTimes returns how long two downstream clones take to read an upstream output, from the end of the first upstream clone,
// if the second upstream clone ends a gap later and is waited for at most omega (DOLLY §4.4). alone is the time to read the
// output without contention (r/B), alpha the share of the bandwidth that is left under contention (α).
//
// The first reads at once. In time, the second gets a copy of its own and is taken to have it after min(r/B, ω), which makes
// T_E = r/B + min(r/B, ω): by r/B the first has read its copy, and the second can read that alone. Otherwise it shares the copy
// of the first from ω on: the first has r/B − ω left, which takes (r/B − ω)/α under contention; then the second reads its last
// ω alone. (The sentence about T_C is not in our text of the paper; this is what the quantities of §4.4 give.)
func readTimes(gap, omega, alone, alpha float64) (first, second float64) {
	wait := min(alone, omega)
	if gap <= omega {
		return alone, alone + wait
	}
	first = wait + (alone-wait)/alpha
	return first, first + wait
}

// bestWait returns the ω that minimises the mean duration of a task of two clones over a sample of gaps and of computing times
// after reading. A task ends with the faster of its clones (§4.4, step 2). Between two gaps a duration is the minimum of two
// linear functions of ω up to the reading time, and constant after it, so the optimum is at a gap, at 0 or at the reading time.
func bestWait(gaps []float64, computing [][2]float64, alone, alpha float64) float64 {
	candidates := append([]float64{0, alone}, gaps...)
	slices.Sort(candidates)
	best, least := 0.0, math.Inf(1)
	for _, omega := range slices.Compact(candidates) {
		sum := 0.0
		for n, g := range gaps {
			first, second := readTimes(g, omega, alone, alpha)
			sum += min(first+computing[n][0], second+computing[n][1])
		}
		if sum < least-1e-12 {
			best, least = omega, sum
		}
	}
	return best
}

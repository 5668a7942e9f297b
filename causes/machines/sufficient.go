package machines

import (
	"math"

	"straggler/stats"
)

// betweenPhases is the variance of a machine's ln(factor) from phase to phase.
const betweenPhases = 0.05 * 0.05

// SufficientStats are the sufficient statistics of ln(factor) of a machine: weighted sums over phases, and what the tests of
// health need.
type SufficientStats struct {
	W, WZ, WZZ float64
	Phases     int64
	Attempts   int64
	Over       [len(bars)]int64 // phases in which it exceeds each bar with 99 % confidence
	Top        [3]Observation   // the largest, in descending order
}

// Observation is ln(factor) in one phase, with its weight.
type Observation struct{ Z, W float64 }

// bars are the thresholds of ln(factor) for which phases are counted.
var bars = [...]float64{math.Log(1.1), math.Log(1.25), math.Log(1.5), math.Log(2), math.Log(3)}

const oneSided99 = 2.326 // standard deviations

// Add adds an observation z of variance v, by n attempts.
func (t *SufficientStats) Add(z, v float64, n int) {
	w := 1 / (v + betweenPhases)
	t.W += w
	t.WZ += w * z
	t.WZZ += w * z * z
	t.addTop(Observation{z, w})
	t.Phases++
	t.Attempts += int64(n)
	least := z - oneSided99*math.Sqrt(v+betweenPhases)
	for k := range bars {
		if least > bars[k] {
			t.Over[k]++
		}
	}
}

// addTop keeps the largest three.
func (t *SufficientStats) addTop(u Observation) {
	for k := range t.Top {
		if u.W > 0 && (t.Top[k].W == 0 || u.Z > t.Top[k].Z) {
			t.Top[k], u = u, t.Top[k]
		}
	}
}

// Merge adds the observations summed in u.
func (t *SufficientStats) Merge(u *SufficientStats) {
	t.W += u.W
	t.WZ += u.WZ
	t.WZZ += u.WZZ
	for _, o := range u.Top {
		t.addTop(o)
	}
	t.Phases += u.Phases
	t.Attempts += u.Attempts
	for k := range bars {
		t.Over[k] += u.Over[k]
	}
}

// Minus removes u from t; the largest observations are then unknown.
func (t SufficientStats) Minus(u SufficientStats) SufficientStats {
	d := SufficientStats{W: t.W - u.W, WZ: t.WZ - u.WZ, WZZ: t.WZZ - u.WZZ, Phases: t.Phases - u.Phases, Attempts: t.Attempts - u.Attempts}
	for k := range bars {
		d.Over[k] = t.Over[k] - u.Over[k]
	}
	return d
}

// Spread returns the mean of the observations, and its variance: the larger of the one expected from the phases' errors and the
// one observed between phases. differ is the variance of a single phase around the mean beyond its error.
func (t *SufficientStats) Spread() (z, v, differ float64) {
	z, v = t.mean()
	if t.Phases >= leastPhases {
		seen := max(0, t.WZZ/t.W-z*z)
		differ = max(0, seen-float64(t.Phases)/t.W+betweenPhases)
		v = max(v, seen/float64(t.Phases-1))
	}
	return z, v, differ
}

// mean returns the weighted mean and its variance; 0 and ∞ without phases.
func (t *SufficientStats) mean() (z, v float64) {
	if t.Phases <= 0 || t.W <= 0 {
		return 0, math.Inf(1)
	}
	return t.WZ / t.W, 1 / t.W
}

// trimmed returns the mean without the largest observations, one of three to seven, two of up to eleven, three of more: outliers
// that happen to occur on a machine produce a few large observations, far more often than a normal distribution of errors
// implies.
func (t *SufficientStats) trimmed() (z, v float64) {
	_, v, _ = t.Spread()
	w, wz := t.W, t.WZ
	k := min(len(t.Top), max(1, int(t.Phases)/4))
	for _, u := range t.Top[:k] {
		w, wz = w-u.W, wz-u.W*u.Z
	}
	if !(w > 0) {
		return 0, math.Inf(1)
	}
	return wz / w, v * t.W / w
}

// overPValue returns the probability that at least as many phases exceed a generation's bar by chance: a phase does so with
// probability 1 %, or because outliers, of which there is the given share, ran on the machine.
func (t *SufficientStats) overPValue(base, outlierProbability float64) float64 {
	chance := 0.01 + min(0.2, 1.5*outlierProbability)
	if t.Attempts >= 3*t.Phases { // it takes two of three for their median to be slow
		chance = min(1, 0.01+4*outlierProbability*outlierProbability)
	}
	return stats.BinomialSurvival(t.Over[barOver(base)], t.Phases, chance)
}

// worthNaming reports whether a machine is slow enough to be named: in the mean, or in a quarter of the phases.
func (t *SufficientStats) worthNaming(base float64) bool {
	z, _, _ := t.Spread()
	if z-base >= math.Log(worthNaming) {
		return true
	}
	return 4*t.Over[barOver(base)] >= t.Phases
}

// barOver returns the bar above which a phase counts against a machine of a generation: the first one that is worth naming.
func barOver(base float64) int {
	for k := range bars {
		if bars[k] >= base+math.Log(worthNaming) {
			return k
		}
	}
	return len(bars) - 1
}

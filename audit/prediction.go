package audit

import (
	"math"
	"slices"

	"straggler/stats"
)

// method explains how findings are judged; it is part of every output.
const method = "a finding is (1) larger than its rule allows; (2) at least min_absolute, and min_share of the run; (3) above the one-sided prediction interval of the runs before, with the work of the night and the speed of the whole run taken out " +
	"(Student's t with robust mean and variance, the variance shrunk towards that of all stages, widened where nights in a row are alike, and no narrower than the clock's resolution); " +
	"(4) not due to a few tasks that may be slow by chance (binomial test over runs); and (5) a larger surprise than 99 of 100 normal nights have " +
	"(Westfall and Young's maxT over the nights of the history, with a Pareto tail beyond the largest). The false discovery rate over all comparisons of a night is controlled (Benjamini and Hochberg)"

// series holds the values of earlier runs, in order of time, and that of tonight.
type series struct {
	history []point
	tonight point
}

// leastSD is the least difference that is assumed between two runs of the same program: standard deviation of a logarithm or an
// angle. Copies of a log have no variance at all.
const leastSD = 0.01

// spread describes the runs of one series: their mean, the variance s² between runs and that of levels that persist for several
// nights, in units of y²; w is the mean of the pool's unit of variance.
type spread struct {
	mean, s2, level, w float64
	n                  int
}

func (s *series) spread() spread { return spreadOf(s.history) }

// spreadOf estimates the spread of a history robustly against a few bad nights: the mean is Huber's, and values further from it
// than 2.5 robust standard deviations are winsorised for the variance. Their size is still taken into account by maxT.
func spreadOf(history []point) spread {
	out := spread{n: len(history)}
	if out.n == 0 {
		return out
	}
	y, floor := make([]float64, 0, out.n), 0.0
	for _, p := range history {
		y = append(y, p.y)
		out.w += p.w / float64(out.n)
		floor += p.clock / float64(out.n)
	}
	out.mean = mean(y)
	if out.n < 2 {
		return out
	}
	floor = max(floor, leastSD*leastSD)
	centre, sd := stats.Median(slices.Clone(y)), 0.0
	// With four or five values the median of deviations is imprecise, so it is at least half of the estimate from the range.
	sd = max(madSD(y, centre), (slices.Max(y)-slices.Min(y))/(4*math.Sqrt(float64(out.n))), math.Sqrt(floor))
	for range 10 { // Huber 1964, k = 1.5; ten rounds of the winsorised mean
		sum := 0.0
		for _, v := range y {
			sum += min(max(v-centre, -1.5*sd), 1.5*sd)
		}
		centre += sum / float64(out.n)
	}
	out.mean = centre
	for i := range y {
		y[i] = min(max(y[i]-centre, -2.5*sd), 2.5*sd)
		out.s2 += y[i] * y[i]
	}
	out.s2 = max(out.s2/float64(out.n-1), floor)
	out.level = levels(y, out.s2)
	return out
}

// madSD returns the median absolute deviation, scaled to the standard deviation of a normal distribution.
func madSD(y []float64, centre float64) float64 {
	d := make([]float64, len(y))
	for i, v := range y {
		d[i] = math.Abs(v - centre)
	}
	return stats.MADScale * stats.Median(d)
}

// levels returns the variance of what persists for several nights, because of drift or autocorrelation: the component between
// blocks of consecutive nights in a one-way analysis of variance, or 0 if there are too few nights.
func levels(y []float64, s2 float64) float64 {
	blocks := blocksOf(len(y))
	if len(blocks) == len(y) {
		return 0
	}
	between, within, size := 0.0, 0.0, float64(len(y))/float64(len(blocks))
	all := mean(y)
	for _, b := range blocks {
		m := mean(y[b[0]:b[1]])
		between += (m - all) * (m - all) * float64(b[1]-b[0])
		for _, v := range y[b[0]:b[1]] {
			within += (v - m) * (v - m)
		}
	}
	between /= float64(len(blocks) - 1)
	within /= float64(len(y) - len(blocks))
	return min(max(0, (between-within)/size), s2)
}

// blocksOf divides n nights into five blocks of consecutive nights; with fewer than ten, each night is a block. A night is
// predicted from the other blocks, since its neighbours would predict it too well under autocorrelation.
func blocksOf(n int) [][2]int {
	count := n
	if n >= 10 {
		count = 5
	}
	var out [][2]int
	for i := range count {
		out = append(out, [2]int{i * n / count, (i + 1) * n / count})
	}
	return out
}

// verdict is the result of the test.
type verdict struct {
	prediction
	p        float64 // one-sided: chance of so large a value in a run like those before
	surprise float64 // in standard errors of prediction
	mean     float64 // of y before
}

// interval returns the 95 % prediction interval of y.
func (v *verdict) interval() (low, high float64) {
	q := stats.Student{DF: v.df}.Quantile(0.975)
	return v.mean - q*v.se, v.mean + q*v.se
}

// judge tests whether the value of tonight is from the same distribution as the history.
func (s *series) judge(h spread, pr prior) verdict {
	e := predict(s.tonight, h, pr)
	x := (s.tonight.y - h.mean) / e.se
	return verdict{e, stats.Student{DF: e.df}.Survival(x), x, h.mean}
}

// prediction is the standard error of the prediction for a run, that for a run whose tasks are as similar as before, and their
// degrees of freedom.
type prediction struct{ se, alike, df float64 }

// predict returns the error of prediction: v·(1 + 1/n) for the night, plus the same for the level that it is on.
func predict(p point, h spread, pr prior) prediction {
	d := float64(max(h.n-1, 0))
	v := max((d*h.s2+pr.df*pr.ratio*h.w)/(d+pr.df), leastSD*leastSD, p.clock)
	level := h.level * (1 + 1/float64(len(blocksOf(h.n))))
	return prediction{
		se:    math.Sqrt(v*(max(1, p.w/h.w)+1/float64(h.n)) + level + p.sizing),
		alike: math.Sqrt(v*(1+1/float64(h.n)) + level),
		df:    min(mostDF, d+pr.df),
	}
}

// leftOut returns the distance of each run of the history from the prediction by the other blocks, in standard errors; NaN if
// there are too few.
func (s *series) leftOut(pr prior) []float64 {
	out := make([]float64, len(s.history))
	for _, b := range blocksOf(len(s.history)) {
		others := slices.Concat(s.history[:b[0]], s.history[b[1]:])
		h := spreadOf(others)
		for k := b[0]; k < b[1]; k++ {
			out[k] = math.NaN()
			if h.n >= 2 {
				out[k] = (s.history[k].y - h.mean) / predict(s.history[k], h, pr).se
			}
		}
	}
	return out
}

// tail returns the probability of a value of at least x given n observed values: by rank among them, and by a Pareto tail beyond
// the largest. So n values support no p-value much below 1/(n + 1): a thousandth of that requires a value four times the largest.
func tail(x float64, seen []float64) float64 {
	larger, most := 0, float64(leastSurprise)
	for _, s := range seen {
		if s >= x {
			larger++
		}
		most = math.Max(most, s)
	}
	n := float64(len(seen) + 1)
	if larger > 0 || x <= most {
		return min(1, float64(larger+1)/n)
	}
	return math.Pow(most/x, tailIndex) / n
}

// tailIndex is that of Student's t with five degrees of freedom: times of tasks and of runs have heavier tails than a normal
// distribution and lighter than those of index 2, whose variance is infinite. With 4, 93 % instead of 95 % of the changes of
// TestPower are found; nights of index 3, in TestUnlikeNights, raise no more alarms than others.
const tailIndex = 5

// beyond returns the least value that has tail p, the inverse of tail for p below 1/(n + 1).
func beyond(p float64, seen []float64) float64 {
	most := float64(leastSurprise)
	for _, s := range seen {
		most = math.Max(most, s)
	}
	return most * math.Pow(1/(p*float64(len(seen)+1)), 1.0/tailIndex)
}

// leastSurprise is a lower bound of the largest surprise of a normal night, in standard errors: that of a single comparison
// exceeds 2 in one night of forty.
const leastSurprise = 2

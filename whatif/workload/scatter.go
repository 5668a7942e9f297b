package workload

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"straggler/causes/fit"
	"straggler/stats"
)

// SharedScatter is the deviation common to the attempts of some time on all machines: while something else uses their host, or
// disks, a network or a quota that they share, all take longer. The individual scatter of attempts averages out over a phase;
// this does not.
//
//	ln(body_i) = ln(prediction_i · factor) + s̄_i + first_i (b_p + u_p) + ε_i        package causes/fit, but for s̄ and u
//	s(t)  Ornstein-Uhlenbeck process: N(0, SD²), cov(s(t), s(t+ℓ)) = SD² e^(−ℓ/Time); s̄_i its mean from start to end of i
//	u_p   N(0, First²): the first tasks of phase p start together, and load what they need at once
//
// SD and Time are estimates of maximum restricted likelihood (Patterson and Thompson 1971). Its observations are medians of
// ln(body_i / (prediction_i · factor)) over the attempts that started in the same window of a phase, as long as the median
// attempt; the variance of one of n attempts by their own scatter is π/2 σ²/n, σ from deviations within windows. Starts do not
// depend on how long attempts take, so that slow ones are in all windows alike. Attempts of a window that overlap in time agree
// by SD² more than those of windows far apart. Each phase has a level of its own, its work, so that spells which outlast phases
// are not seen: Time is at most the length of the longest. One slow machine moves no median of many. First tasks are in none of
// these windows, nor are those of an executor that has not ended any yet. Windows of three attempts show less own scatter than
// there is, since one of the three deviates by nothing: where three slots had own scatter of 0.1 and nothing in common, SD is
// 0.06.
//
// The zero value means that nothing is shared, or that it cannot be estimated: phases of one window, or with fewer than
// leastOfWindow attempts at a time.
//
// First is estimated from the differences between successive phases of the first tasks' excess over the median of the others:
// 1.4826/√2 times their median absolute value, minus individual scatter, SD, and firstDiffers. The constant part of the excess
// cancels in differences (von Neumann 1941), and so does its slow decrease as processes run.
//
// The log has one draw of s and u, another run a second one: they differ by √2 of each (Pool.Again).
type SharedScatter struct {
	SD    float64 // of ln(time)
	Time  float64 // s
	First float64 // standard deviation of ln(time)
}

// scatterSample is the data of the phases of a pool for the estimate.
type scatterSample struct {
	phases     []scatterPhase // those with two windows or more
	first      []firstExcess
	longest    float64 // s, from the first window of a phase to the last
	scratch    []residual
	values     []float64
	deviations []float64
}

// scatterPhase is a phase in windows of its median attempt's length, of leastOfWindow attempts each at least.
type scatterPhase struct {
	width   float64 // s
	windows []scatterWindow
	shown   float64 // of SD, by the mean over a window, at the correlation time at hand
}

// scatterWindow is the attempts of a phase that started in some seconds.
type scatterWindow struct {
	at               float64 // s
	median, variance float64 // of the residuals, and of that median by each attempt's own scatter
	left             float64 // correlation with the window before, at the correlation time at hand
}

// firstExcess is by how much longer the first tasks of a phase took.
type firstExcess struct {
	at, width        float64 // s
	excess, variance float64
}

// residual is ln(body / prediction) of an attempt.
type residual struct {
	at, took, value float64 // start and duration in s
	first           bool
}

// leastOfWindow is the least number of attempts for a median: with fewer, an outlier may be the median.
const leastOfWindow = 3

// scatter adds the phase that was fitted.
func (f *phaseModel) scatter(sample *scatterSample) {
	g := &f.fit.Regression
	all := sample.scratch[:0]
	for k, a := range f.attempts {
		at := &f.Attempts[a]
		x := f.values(k)
		at.First = x[fit.ByFirst] == 1
		if !at.Ok || at.Dur <= 0 || f.phase.Tasks[k].Cold || f.fit.Body[k] <= 0 {
			continue
		}
		x[fit.ByFirst] = 0
		r := math.Log(f.fit.Body[k] / (g.Predict(&x) * float64(f.Machines[f.machineOf(at)].At(f.start[a]))))
		if !math.IsNaN(r) && !math.IsInf(r, 0) {
			all = append(all, residual{float64(f.start[a]) / 1e6, float64(at.Dur) / 1e6, r, at.First})
		}
	}
	sample.scratch = all
	slices.SortStableFunc(all, func(a, b residual) int {
		if a.first != b.first {
			if a.first {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.at, b.at)
	})
	n := 0
	for n < len(all) && all[n].first {
		n++
	}
	sample.add(all[:n], all[n:])
}

// add adds a phase: its first tasks, and the others in the order of their starts.
func (s *scatterSample) add(first, others []residual) {
	if len(others) < leastOfWindow {
		return
	}
	width := s.median(others, func(r residual) float64 { return r.took })
	if width <= 0 {
		return
	}
	var windows []scatterWindow
	deviations := slices.Grow(s.deviations[:0], len(others))
	used := 0
	for i := 0; i < len(others); {
		j := i + 1
		for j < len(others) && others[j].at < others[i].at+width {
			j++
		}
		if j-i >= leastOfWindow {
			m := s.median(others[i:j], func(r residual) float64 { return r.value })
			for _, r := range others[i:j] {
				deviations = append(deviations, math.Abs(r.value-m))
			}
			used += j - i
			windows = append(windows, scatterWindow{at: others[i].at, median: m, variance: 1 / float64(j-i)})
		}
		i = j
	}
	s.deviations = deviations
	if len(windows) == 0 {
		return
	}
	// degrees of freedom
	own := math.Pow(stats.MADScale*stats.Median(deviations), 2) * float64(used) / float64(used-len(windows))
	if own == 0 {
		return
	}
	ofMedian := math.Pi / 2 * own
	for w := range windows {
		windows[w].variance *= ofMedian
	}
	if len(windows) > 1 {
		s.phases = append(s.phases, scatterPhase{width: width, windows: windows})
		s.longest = max(s.longest, windows[len(windows)-1].at-windows[0].at)
	}
	if len(first) >= leastOfWindow {
		value := func(r residual) float64 { return r.value }
		s.first = append(s.first, firstExcess{first[0].at, width, s.median(first, value) - s.median(others, value),
			ofMedian/float64(len(first)) + ofMedian/float64(len(others))})
	}
}

func (s *scatterSample) median(of []residual, value func(residual) float64) float64 {
	s.values = slices.Grow(s.values[:0], len(of))
	for _, r := range of {
		s.values = append(s.values, value(r))
	}
	return stats.Median(s.values)
}

// estimate estimates the scatter that all machines share.
func (s *scatterSample) estimate() (out SharedScatter) {
	if len(s.phases) > 0 {
		s.ofTime(&out)
	}
	out.First = s.ofFirst(&out)
	return out
}

// ofTime sets SD and Time.
func (s *scatterSample) ofTime(out *SharedScatter) {
	s.values = s.values[:0]
	for _, f := range s.phases {
		s.values = append(s.values, f.width)
	}
	slices.Sort(s.values)
	// The mean of a window shows no shorter spells, and that of a phase takes in what is longer.
	shortest := s.values[len(s.values)/2] / 2
	s.correlate(shortest)
	best := s.likelihood(0)
	none := best
	for time := shortest; time <= max(s.longest, shortest); time *= 2 {
		s.correlate(time)
		for sd, before := 0.01, none; sd < 2; sd *= 1.2 {
			l := s.likelihood(sd)
			if l > best {
				best, out.SD, out.Time = l, sd, time
			}
			if l < before-1 { // it has one maximum
				break
			}
			before = l
		}
	}
}

// correlate computes the correlations between windows for a correlation time, used by all likelihoods with it.
func (s *scatterSample) correlate(time float64) {
	for i := range s.phases {
		f := &s.phases[i]
		f.shown = math.Sqrt(ofMean(f.width / time))
		for n := 1; n < len(f.windows); n++ {
			f.windows[n].left = math.Exp(-(f.windows[n].at - f.windows[n-1].at) / time)
		}
	}
}

// likelihood returns the logarithm of the restricted likelihood, by a Kalman filter over the windows of each phase, whose level
// is not known.
func (s *scatterSample) likelihood(sd float64) float64 {
	sum := 0.0
	for i := range s.phases {
		f := &s.phases[i]
		a := sd * f.shown
		y, one, p := 0.0, 0.0, 1.0 // state of the medians, and of 1 in their place; variance in units of sd²
		var yy, y1, ones float64
		for n := range f.windows {
			w := &f.windows[n]
			if n > 0 {
				r := w.left
				y, one, p = r*y, r*one, r*r*p+1-r*r
			}
			v := a*a*p + w.variance
			dy, d1 := w.median-a*y, 1-a*one
			k := a * p / v
			y, one, p = y+k*dy, one+k*d1, p-k*a*p
			yy, y1, ones = yy+dy*dy/v, y1+dy*d1/v, ones+d1*d1/v
			sum -= math.Log(v) / 2
		}
		sum -= (yy-y1*y1/ones)/2 + math.Log(ones)/2
	}
	return sum
}

// ofMean returns the variance of the mean of an Ornstein-Uhlenbeck process of variance 1 over x correlation times.
func ofMean(x float64) float64 {
	if x < 1e-4 {
		return 1 - x/3
	}
	return 2 * (x - 1 + math.Exp(-x)) / (x * x)
}

// firstDiffers is by how much the excess of first tasks differs between stages in every run. Without it, First is 0.09 (root mean
// square) on the 14 logs of the pairs in testdata/labelled, made on idle cores, in which two runs of a stage differ only by their
// individual scatter. BENCH.md has the effects of half and of twice the value.
const firstDiffers = 0.09

// leastFirst is the least number of differences from which First is estimated: the first phases of processes that load classes
// differ more than all others, and must not determine the median.
const leastFirst = 4

// ofFirst returns the estimate of First, given SD and Time.
func (s *scatterSample) ofFirst(shared *SharedScatter) float64 {
	if len(s.first) <= leastFirst {
		return 0
	}
	slices.SortStableFunc(s.first, func(a, b firstExcess) int { return cmp.Compare(a.at, b.at) })
	s.values = s.values[:0]
	explained := firstDiffers * firstDiffers
	for n := range s.first {
		x := &s.first[n]
		explained += x.variance / float64(len(s.first))
		if shared.SD > 0 {
			explained += shared.SD * shared.SD * ofMean(x.width/shared.Time) / float64(len(s.first))
		}
		if n > 0 {
			s.values = append(s.values, math.Abs(s.first[n].excess-s.first[n-1].excess))
		}
	}
	d := stats.MADScale * stats.Median(s.values)
	return math.Sqrt(max(d*d/2-explained, 0))
}

// mostSteps bounds the steps of a path, of a quarter of the correlation time each; in a longer pool steps are longer.
const mostSteps = 1 << 16

// path is the integral of a draw of s(t) at each step from the origin of the pool, over SD.
type path struct {
	step float64 // µs
	sum  []float64
}

func (p *Pool) path(r *rand.Rand) path {
	till := int64(0)
	for a := range p.Attempts {
		till = max(till, p.Attempts[a].Key+p.Attempts[a].Lag+p.Attempts[a].Dur)
	}
	out := path{step: max(p.Scatter.Time*1e6/4, float64(till)/mostSteps)}
	out.sum = make([]float64, 2+int(float64(till)/out.step))
	x := out.step / (p.Scatter.Time * 1e6)
	rho, sd := math.Exp(-x), math.Sqrt(ofMean(x))
	s := r.NormFloat64()
	for n := 1; n < len(out.sum); n++ {
		out.sum[n] = out.sum[n-1] + s*sd
		s = rho*s + math.Sqrt(1-rho*rho)*r.NormFloat64()
	}
	return out
}

// mean returns the mean of the path over a span of time.
func (w *path) mean(from, till int64) float64 {
	a, b := w.until(float64(from)/w.step), w.until(float64(till)/w.step)
	return (b - a) * w.step / max(float64(till-from), 1)
}

func (w *path) until(x float64) float64 {
	n := min(max(int(x), 0), len(w.sum)-2)
	return w.sum[n] + (x-float64(n))*(w.sum[n+1]-w.sum[n])
}

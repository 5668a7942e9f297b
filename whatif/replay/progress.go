package replay

import (
	"math"
	"slices"

	"straggler/whatif/workload"
)

// score returns the progress after a share x of the duration, interpolated between reports. It starts at 0; a successful attempt
// ends at 1, and an unsuccessful one keeps its last report until its end.
func score(points []workload.Point, x float64, succeeded bool) float64 {
	n, _ := slices.BinarySearchFunc(points, float32(x), func(p workload.Point, x float32) int {
		if p.At <= x {
			return -1
		}
		return 1
	})
	from, to := workload.Point{}, workload.Point{At: 1, Score: 1}
	if n > 0 {
		from = points[n-1]
	}
	switch {
	case n < len(points):
		to = points[n]
	case !succeeded:
		return float64(from.Score)
	}
	if to.At <= from.At {
		return float64(to.Score)
	}
	return min(float64(from.Score)+float64(to.Score-from.Score)*(x-float64(from.At))/float64(to.At-from.At), 1)
}

// shareAt returns the share of the duration after which a score was reached: the inverse of score for a successful attempt.
func shareAt(points []workload.Point, want float64) float64 {
	from := workload.Point{}
	for _, to := range append(slices.Clone(points), workload.Point{At: 1, Score: 1}) {
		if float64(to.Score) >= want {
			if to.Score <= from.Score {
				return float64(from.At)
			}
			return float64(from.At) + float64(to.At-from.At)*(want-float64(from.Score))/float64(to.Score-from.Score)
		}
		from = to
	}
	return 1
}

// synthetic returns the progress of an attempt without reports after a share x of its time: x / (1 + z(1 − x)) with the error
// z, so that elapsed/progress estimates its duration as (1 + z(1 − x)) times what it will be.
func synthetic(x, z float64) float64 { return min(x/(1+z*(1-x)), 1) }

// syntheticShare returns the inverse of synthetic.
func syntheticShare(score, z float64) float64 { return min(score*(1+z)/(1+score*z), 1) }

// progress returns what an attempt reports now.
func (s *Sim) progress(ph int32, a *Running) float64 {
	if s.observed != nil {
		return s.observed.progress(ph, a)
	}
	return s.progressAt(ph, a, s.now)
}

// progressAt returns what an attempt reports at an instant.
func (s *Sim) progressAt(ph int32, a *Running, at int64) float64 {
	elapsed := at - int64(a.Start)
	if elapsed <= 0 {
		return 0
	}
	if s.p.Phases[ph].CopyScore > 0 {
		return s.partProgress(ph, a, at)
	}
	x := min(float64(elapsed)/s.whole(a), 1)
	if s.sharing() {
		x = s.workDone(a, at)
	}
	if a.curve >= 0 {
		return score(s.reported(a.curve), x, a.observed < 0 || s.p.Attempts[a.observed].Ok)
	}
	return synthetic(x, s.noise(ph, a))
}

// reported returns the reports of an attempt of the log.
func (s *Sim) reported(attempt int32) []workload.Point {
	return s.p.Reported(s.p.Attempts[attempt].Reports)
}

// curveOf returns an attempt of the log if it has reports, -1 otherwise.
func (s *Sim) curveOf(attempt int32) int32 {
	if s.p.Attempts[attempt].Reports.N == 0 {
		return -1
	}
	return attempt
}

// whole returns the duration of an attempt from start to end, as far as it is determined by now, in µs.
func (s *Sim) whole(a *Running) float64 {
	end := s.tree.end(a.slot)
	if end == workload.Forever {
		end = max(s.now, int64(a.Start)) + s.takes[a.slot] // it is still waiting for its parents
	}
	return max(float64(end-int64(a.Start)), 1)
}

// noise returns the error of an attempt's synthetic progress, drawn once.
func (s *Sim) noise(ph int32, a *Running) float64 {
	s.out.Drew = true
	if a.noise != a.noise {
		a.noise = errorOf(s.o.Sigma, s.noiseBits(ph, a))
	}
	return float64(a.noise)
}

// noiseAtMost returns a nonnegative upper bound of the error.
func (s *Sim) noiseAtMost(ph int32, a *Running) float64 {
	s.out.Drew = true
	return s.o.Sigma * normalAtMost(s.noiseBits(ph, a)) * (1 + 1e-6) // the error is rounded to 24 bits
}

func (s *Sim) noiseBits(ph int32, a *Running) uint64 {
	return s.phases[ph].errors.draw(a.Task, a.Number)
}

// Reached returns how long after its start a running attempt reported a score; false if it has not yet.
func (v *View) Reached(a *Running, want float64) (Time, bool) {
	if v.Progress(a) < want {
		return 0, false
	}
	x := 0.0
	switch {
	case v.copyScore() > 0:
		return v.reachedInParts(a, want), true
	case v.s.observed != nil: // assuming linear progress
		return min(Time(math.Round(want/v.Progress(a)*float64(v.Elapsed(a)))), v.Elapsed(a)), true
	case a.curve >= 0:
		x = shareAt(v.s.reported(a.curve), want)
	default:
		x = syntheticShare(want, v.s.noise(v.ph, a))
	}
	return min(Time(math.Round(x*v.s.whole(a))), v.Elapsed(a)), true
}

// Spent returns how long an attempt that is done took until it reported a score.
func (v *View) Spent(d *Done, want float64) Time {
	if v.copyScore() > 0 {
		return v.spentInParts(d, want)
	}
	switch {
	case d.curve >= 0:
		want = shareAt(v.s.reported(d.curve), want)
	case want >= 1:
		return d.Took
	}
	return Time(math.Round(want * float64(d.Took)))
}

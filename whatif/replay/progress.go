package replay

import (
	"math"
	"slices"

	"straggler/schema"
)

// Point is a report of progress: after a share of its duration an attempt had the score. Both are 0 … 1.
type Point struct{ At, Score float32 }

// curve is the reports of an attempt, in Pool.points, in order of time.
type curve struct{ first, n int32 }

// Report adds what an attempt had reported at an instant (µs since 1970). Attempts must have been added before, and both
// come in order of their keys; reports of attempts that are not there, or outside of their time, are left out.
func (r *Rows) Report(attempt schema.Key, at int64, score float64) {
	for r.reporting < len(r.Attempts) && r.Attempts[r.reporting].ID < attempt {
		r.reporting++
	}
	if r.reporting == len(r.Attempts) || r.Attempts[r.reporting].ID != attempt {
		return
	}
	a := &r.Attempts[r.reporting]
	if a.Start == NoTime || a.Finish == NoTime || at < a.Start || at > a.Finish || a.Finish == a.Start || !(score >= 0 && score <= 1) {
		return
	}
	p := Point{float32(float64(at-a.Start) / float64(a.Finish-a.Start)), float32(score)}
	if a.reports.n == 0 {
		a.reports.first = int32(len(r.points))
	} else if last := r.points[len(r.points)-1]; p.At < last.At || p.Score < last.Score { // neither time nor progress goes back
		return
	}
	a.reports.n++
	r.points = append(r.points, p)
}

// score is what was reported after a share x of the duration, interpolated between reports. Attempts begin with nothing;
// one that succeeded ends with everything, and of one that did not the last report stands until its end.
func score(points []Point, x float64, succeeded bool) float64 {
	n, _ := slices.BinarySearchFunc(points, float32(x), func(p Point, x float32) int {
		if p.At <= x {
			return -1
		}
		return 1
	})
	from, to := Point{}, Point{1, 1}
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

// shareAt is the share of the duration after which a score was reached: the inverse of score for one that succeeded.
func shareAt(points []Point, want float64) float64 {
	from := Point{}
	for _, to := range append(slices.Clone(points), Point{1, 1}) {
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

// synthetic is the progress of an attempt without reports after a share x of its time: x / (1 + z(1 − x)) with the error
// z, so that elapsed/progress estimates its duration as (1 + z(1 − x)) times what it will be.
func synthetic(x, z float64) float64 { return min(x/(1+z*(1-x)), 1) }

// syntheticShare is its inverse.
func syntheticShare(score, z float64) float64 { return min(score*(1+z)/(1+score*z), 1) }

// progress is what an attempt reports now.
func (s *Sim) progress(ph int32, a *Running) float64 {
	elapsed := s.now - int64(a.Start)
	if elapsed <= 0 {
		return 0
	}
	x := min(float64(elapsed)/s.whole(a), 1)
	if a.reports.n > 0 {
		return score(s.p.reported(a.reports), x, a.observed < 0 || s.p.attempts[a.observed].ok)
	}
	return synthetic(x, s.noise(ph, a))
}

// whole is how long an attempt takes from its start to its end, as far as it is known by now; in µs.
func (s *Sim) whole(a *Running) float64 {
	end := s.tree.end(a.slot)
	if end == forever {
		end = max(s.now, int64(a.Start)) + a.done // it still waits for its parents
	}
	return max(float64(end-int64(a.Start)), 1)
}

// noise is the error of an attempt's synthetic progress, drawn once.
func (s *Sim) noise(ph int32, a *Running) float64 {
	s.out.Drew = true
	if a.noise != a.noise {
		bits := draw(s.o.Seed, s.p.phases[ph].key, a.Task, a.Number, drawProgress)
		a.noise = float32(max(-0.9, s.o.Sigma*normal(bits)))
	}
	return float64(a.noise)
}

func (p *Pool) reported(c curve) []Point { return p.points[c.first : c.first+c.n] }

// Reached is how long after its start a running attempt reported a score; false while it has not.
func (v *View) Reached(a *Running, want float64) (Time, bool) {
	if v.Progress(a) < want {
		return 0, false
	}
	x := 0.0
	if a.reports.n > 0 {
		x = shareAt(v.s.p.reported(a.reports), want)
	} else {
		x = syntheticShare(want, v.s.noise(v.ph, a))
	}
	return min(Time(math.Round(x*v.s.whole(a))), v.Elapsed(a)), true
}

// Spent is how long an attempt that is done took until it reported a score.
func (v *View) Spent(d *Done, want float64) Time {
	x := want
	if d.reports.n > 0 {
		x = shareAt(v.s.p.reported(d.reports), want)
	}
	return Time(math.Round(x * float64(d.Took)))
}

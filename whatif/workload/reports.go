package workload

import "straggler/schema"

// Point is a report of progress: after a share of its duration an attempt had the score. Both are 0 … 1.
type Point struct{ At, Score float32 }

// Curve is the reports of an attempt, in Pool.Points, in order of time.
type Curve struct{ First, N int32 }

// Report adds a progress report of an attempt at an instant (µs since 1970). Attempts must have been added before, and both must
// be in the order of their keys. Reports of unknown attempts, or outside of an attempt's time, are left out.
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
	if a.reports.N == 0 {
		a.reports.First = int32(len(r.points))
	} else if last := r.points[len(r.points)-1]; p.At < last.At || p.Score < last.Score { // neither time nor progress goes back
		return
	}
	a.reports.N++
	r.points = append(r.points, p)
}

// Reported returns the reports of a curve.
func (p *Pool) Reported(c Curve) []Point { return p.Points[c.First : c.First+c.N] }

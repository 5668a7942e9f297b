package live

import (
	"math"

	"straggler/stats"
)

// The reports of an attempt are evidence about its total time T, combined with the prior distribution of T (duration.go) by
// Bayes' theorem. An attempt that works at a steady rate has done the share s/T of its work W after s seconds, and a reported
// share r/W scatters around that like earlier estimates:
//
//	P(r | T, W) ∝ T/W × (Φ((ln to − ln c)/σ) − Φ((ln from − ln c)/σ)),  c = T × r/W
//
// where c is when the attempt would have reported r, which was between two instants. So a report soon after the attempt's
// start, at an imprecisely known instant, has little weight, and a later one much.

// report is what an attempt had reported at a time between two others, in seconds after its start.
type report struct {
	basis    Basis
	from, to float64
	whole    []float64 // W/r: all of its work over the completed part, by quantiles; nil: nothing was reported
	size     []float64 // W over that of the median task; nil: not estimated
}

// leastWindow is the shortest time between the two instants, as a share of the later one: the distance of the points of a
// mixture.
const leastWindow = 0.05

// leastScatter is the least σ, for the same reason.
const leastScatter = 0.05

// progressReport returns the report of a share of work. Hadoop's tasks report every 3 s
// (mapreduce.task.progress-report.interval), so a share is about that at the time it is read.
func progressReport(share, at float64) report {
	if !(share > 0) || !(at > 0) {
		return report{}
	}
	return report{basis: ByProgress, from: at, to: at, whole: []float64{1 / share}}
}

// workSizes is the number of quantiles of what a task will read.
const workSizes = 5

// bytesReport returns the report of bytes read by an attempt of the phase.
func (p *pace) bytesReport(read, from, to float64) report {
	mid := median(p.bytes)
	if !p.all || len(p.bytes) < fewLarger || !(mid > 0) || !(read > 0) || !(to > 0) {
		return report{}
	}
	r := report{basis: ByBytes, from: from, to: to}
	for i := range workSizes {
		w := max(beyond(p.bytes, read, (float64(i)+0.5)/workSizes), read)
		r.whole, r.size = append(r.whole, w/read), append(r.size, w/mid)
	}
	return r
}

// given updates the prior by a report. If the report is hardly possible under the prior, only the report is used.
func (m *mixture) given(r report, elapsed, scatter float64) guess {
	scatter = max(scatter, leastScatter)
	lnFrom, lnTo := math.Log(min(r.from, (1-leastWindow)*r.to)), math.Log(r.to)
	all := 0.0
	for i := range m.points {
		x := &m.points[i]
		likely, size := 0.0, 0.0
		for k, whole := range r.whole {
			lnC := math.Log(x.at / whole)
			l := x.at / whole * (stats.NormalSurvival((lnC-lnTo)/scatter) - stats.NormalSurvival((lnC-lnFrom)/scatter))
			likely += l
			if r.size != nil {
				size += l * r.size[k]
			}
		}
		if x.weight *= likely; likely > 0 {
			x.size = size / likely
		}
		all += x.weight
	}
	if !(all > 1e-12) {
		return r.alone(elapsed, scatter)
	}
	for i := range m.points {
		m.points[i].weight /= all
	}
	g := guess{basis: r.basis}
	for _, x := range m.quantiles() {
		g.total = append(g.total, x.at)
		if r.size != nil {
			g.size = append(g.size, x.size)
		}
	}
	return g
}

// alone returns the estimate from a report without a prior; empty if nothing was reported.
func (r *report) alone(elapsed, scatter float64) guess {
	g := guess{basis: r.basis}
	if r.whole == nil {
		return g
	}
	for i := range quantiles {
		q := (float64(i) + 0.5) / quantiles
		k := int(q * float64(len(r.whole)))
		total := (r.from + q*(r.to-r.from)) * r.whole[k] * math.Exp(scatter*math.Sqrt2*math.Erfinv(2*q-1))
		g.total = append(g.total, max(total, elapsed))
		if r.size != nil {
			g.size = append(g.size, r.size[k])
		}
	}
	return g
}

package workload

import (
	"math"
	"slices"
)

// shares are the parts of a task's time that may grow with its data.
var shares = [...]float64{0, 0.25, 0.5, 0.75, 1}

// phaseWork predicts the duration of each task of a phase from its data, x: bytes or records. The median duration is
// multiplied by 1 − θ + θ · x / median x, with a θ of shares, or by what heavy says; taken is what leaves the least
// absolute logarithmic error. Few tasks (under five) cannot choose; they take bytes in full, as MANTRI and DOLLY do.
func (d *draft) phaseWork(r span, dur []float64) {
	dur = dur[r.from:r.to]
	base := median(known(dur))
	if math.IsNaN(base) {
		base = 0
	}
	for t := r.from; t < r.to; t++ {
		d.Tasks[t].Work = float32(base)
	}
	bytes := make([]float64, r.to-r.from)
	recs := make([]float64, r.to-r.from)
	for t := r.from; t < r.to; t++ {
		bytes[t-r.from], recs[t-r.from] = float64(d.Tasks[t].Bytes), float64(d.Tasks[t].Records)
	}
	best, bestErr := []float64(nil), math.Inf(1)
	take := func(rel []float64) {
		if p, err := predict(rel, dur); err < bestErr*(1-1e-9) {
			best, bestErr = p, err
		}
	}
	for _, x := range [][]float64{bytes, recs} {
		if len(x) < 5 {
			take(growing(x, 1))
			if best != nil {
				break
			}
			continue
		}
		for _, theta := range shares {
			take(growing(x, theta))
		}
		take(heavy(x, dur))
	}
	for n, p := range best {
		d.Tasks[r.from+n].Work = float32(p)
	}
}

// growing is 1 − θ + θ · x / median x; nil where the data of some task is unknown, or the median task has none.
func growing(x []float64, theta float64) []float64 {
	mid := median(slices.Clone(x))
	if theta > 0 && (slices.Min(x) < 0 || !(mid > 0)) {
		return nil
	}
	rel := make([]float64, len(x))
	for n := range x {
		rel[n] = 1
		if theta > 0 {
			rel[n] = max(1-theta+theta*x[n]/mid, 1e-3)
		}
	}
	return rel
}

// Tasks are heavy with twice the data of the median task. So many of them, or one with so much more, tell what data
// costs: a slow task that happens to read a little more than others does not.
const (
	heavyRatio  = 2
	heavyTasks  = 3
	heavyBeyond = 8
)

// heavy is 1 + θ · (x / median x − 1) with the θ that heavy tasks show: the median over them of (duration / median
// duration of the others − 1) / (x / median x − 1). Where most partitions are nearly empty no share fits: a task with ten
// thousand times the median's data may take six times as long. nil where no heavy tasks tell.
func heavy(x, dur []float64) []float64 {
	if slices.Min(x) < 0 {
		return nil
	}
	mid := median(slices.Clone(x))
	isHeavy := func(v float64) bool { return v > 0 && v >= heavyRatio*mid }
	var light []float64
	count, beyond := 0, false
	for n, v := range x {
		switch {
		case !(dur[n] > 0):
		case isHeavy(v):
			count++
			beyond = beyond || v >= heavyBeyond*mid
		default:
			light = append(light, dur[n])
		}
	}
	base := median(light)
	if count < heavyTasks && !beyond || !(base > 0) {
		return nil
	}
	var slopes []float64 // per unit of x: the median may be 0
	for n, v := range x {
		if dur[n] > 0 && isHeavy(v) {
			slopes = append(slopes, (dur[n]/base-1)/(v-mid))
		}
	}
	slope := median(slopes)
	if !(slope > 0) {
		return nil
	}
	rel := make([]float64, len(x))
	for n, v := range x {
		rel[n] = max(1+slope*(v-mid), 1e-3)
	}
	return rel
}

// predict scales relative durations to those of tasks: it gives each task's predicted duration and the mean absolute
// logarithmic error about their common scale; nil where rel is.
func predict(rel, dur []float64) ([]float64, float64) {
	logs := make([]float64, 0, len(rel))
	for n := range rel {
		if dur[n] > 0 {
			logs = append(logs, math.Log(dur[n]/rel[n]))
		}
	}
	if len(logs) == 0 {
		return nil, math.Inf(1)
	}
	mid := median(slices.Clone(logs))
	err := 0.0
	for _, l := range logs {
		err += math.Abs(l - mid)
	}
	p := make([]float64, len(rel))
	for n := range rel {
		p[n] = rel[n] * math.Exp(mid)
	}
	return p, err / float64(len(logs))
}

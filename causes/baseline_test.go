package causes

import (
	"sort"

	"straggler/schema"
)

// The two baselines that TestLabelled scores beside causes. Both use the same outliers, relative to the stage's median.

const slower = 1.5 // an outlier, times the median

// byRules uses thresholds: a later submission is a recomputation; more than twice the median bytes are skew; fetch wait or gc
// above half of the excess is that cause; a machine with a median ratio above 1.5 is bad; the rest is transient.
func byRules(r *labelled) []schema.Cause {
	bytes, ratios := map[string][]float64{}, map[string][]float64{}
	for i := range r.tasks {
		a := &r.tasks[i]
		bytes[a.Stage] = append(bytes[a.Stage], a.Bytes)
		ratios[a.Machine] = append(ratios[a.Machine], a.ratio)
	}
	for _, by := range []map[string][]float64{bytes, ratios} {
		for _, v := range by {
			sort.Float64s(v)
		}
	}
	out := make([]schema.Cause, len(r.tasks))
	for i := range r.tasks {
		switch a := &r.tasks[i]; {
		case a.Again > 0:
			out[i] = schema.Recompute
		case a.ratio <= slower:
		case a.Bytes > 2*middle(bytes[a.Stage]):
			out[i] = schema.DataSkew
		case a.Wait > a.excess/2:
			out[i] = schema.Network
		case a.GC > a.excess/2:
			out[i] = schema.GC
		case middle(ratios[a.Machine]) > slower:
			out[i] = schema.BadMachine
		default:
			out[i] = schema.Transient
		}
	}
	return out
}

// byLeastSquares returns the model of MANTRI §4.2 as published: duration = a + b·input + c·remote bytes by ordinary least
// squares. A task within 20 % of the prediction is explained by the predictor with more of its excess; the rest are stragglers by
// their machine or by chance, which the model does not distinguish: called transient.
func byLeastSquares(r *labelled) []schema.Cause {
	stages := map[string][]int{}
	for i := range r.tasks {
		stages[r.tasks[i].Stage] = append(stages[r.tasks[i].Stage], i)
	}
	out := make([]schema.Cause, len(r.tasks))
	for _, of := range stages {
		a, b, c, mx, mz := plane(r, of)
		for _, i := range of {
			t := &r.tasks[i]
			if t.ratio <= slower {
				continue
			}
			skew, net := b*(t.Bytes-mx), c*(t.Remote-mz)
			predicted := a + skew + net
			switch {
			case t.Duration > 1.2*predicted || t.Duration < 0.8*predicted:
				out[i] = schema.Transient
			case net > skew:
				out[i] = schema.Network
			default:
				out[i] = schema.DataSkew
			}
		}
	}
	return out
}

// plane fits y = a + b·(x − mx) + c·(z − mz) to the tasks of a stage.
func plane(r *labelled, of []int) (a, b, c, mx, mz float64) {
	n := float64(len(of))
	for _, i := range of {
		a += r.tasks[i].Duration / n
		mx += r.tasks[i].Bytes / n
		mz += r.tasks[i].Remote / n
	}
	var xx, xz, zz, xy, zy float64
	for _, i := range of {
		x, z, y := r.tasks[i].Bytes-mx, r.tasks[i].Remote-mz, r.tasks[i].Duration-a
		xx, xz, zz, xy, zy = xx+x*x, xz+x*z, zz+z*z, xy+x*y, zy+z*y
	}
	switch det := xx*zz - xz*xz; {
	case det > 1e-9*xx*zz:
		b, c = (xy*zz-zy*xz)/det, (zy*xx-xy*xz)/det
	case xx > 0:
		b = xy / xx
	case zz > 0:
		c = zy / zz
	}
	return a, b, c, mx, mz
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

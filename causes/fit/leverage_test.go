package fit_test

import (
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
)

// loneLarge fits two hundred phases of 24 tasks of which one alone has a much larger input, relative to the others', and counts
// those in which the elasticity of work, of bytes and records together, is found at all, and within a factor of the true one.
func loneLarge(noise, elasticity, large float64, spoil func(t *fit.Task, body *float64)) (used, near int) {
	for seed := range uint64(200) {
		c := causestest.New(seed, 6)
		c.Noise = noise
		work := func(i int) float64 {
			if i == 2 {
				return large
			}
			return 1 + 0.1*c.Rng.NormFloat64()
		}
		p := c.Phase(24, 2, work, func(t *fit.Task, body *float64) {
			w := t.Bytes / 64e6
			*body *= (1 - elasticity + elasticity*w) / (0.1 + 0.9*w)
			t.Records *= 1 + 0.05*c.Rng.NormFloat64() // bytes and records say nearly the same
			spoil(t, body)
		})
		var f fit.Fitter
		f.FitAlone(p.Tasks)
		g := &f.Regression
		if g.Status[fit.ByBytes] == fit.Used || g.Status[fit.ByRecords] == fit.Used {
			used++
		}
		found := (g.Coef[fit.ByBytes]*g.Mid[fit.ByBytes] + g.Coef[fit.ByRecords]*g.Mid[fit.ByRecords]) / g.Base
		if found > elasticity/1.5 && found < 1.5*elasticity {
			near++
		}
	}
	return used, near
}

// One task with thirteen times the input of the others is all that shows what work costs, and its time is in keeping with it.
// The others, all of one size, say next to nothing, and bytes and records are each uncertain beside the other: neither is a
// reason to say that work has no effect.
func TestLoneLargeTaskShowsTheCoefficient(t *testing.T) {
	for _, elasticity := range []float64{0.4, 0.7, 1} {
		used, near := loneLarge(0.23, elasticity, 13, func(*fit.Task, *float64) {})
		if used < 196 || near < 165 {
			t.Errorf("elasticity %.1f: found in %d of 200 phases, within a factor of 1.5 in %d", elasticity, used, near)
		}
	}
}

// The same task, or its machine as a whole, is slow for another reason too: its time, and it alone, would say that work costs
// three times as much. What is known of work before, and the other tasks, contradict that.
func TestLoneLargeTaskSlowByItself(t *testing.T) {
	for _, c := range []struct {
		name  string
		slow  func(t *fit.Task) bool
		least int
	}{
		{"attempt", func(t *fit.Task) bool { return t.Index == 2 }, 165},
		// that of task 2; a phase alone knows little of machines
		{"machine", func(t *fit.Task) bool { return t.Machine == 2 }, 120},
	} {
		_, near := loneLarge(0.1, 0.9, 3, func(t *fit.Task, body *float64) {
			if c.slow(t) {
				*body *= 4
			}
		})
		if near < c.least {
			t.Errorf("a slow %s: the elasticity is within a factor of 1.5 in %d of 200 phases", c.name, near)
		}
	}
}

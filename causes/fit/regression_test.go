package fit_test

import (
	"math"
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
)

// fitted returns the fit of a phase by itself.
func fitted(t *testing.T, p *fit.Phase) *fit.Regression {
	t.Helper()
	var f fit.Fitter
	if !f.FitAlone(p.Tasks) {
		t.Fatal("the phase cannot be fitted")
	}
	return &f.Regression
}

// time = 0.2 s + 1.8 s × work, with one task in twelve three times as slow: the line must be the one of the others.
func TestFitFindsTheLine(t *testing.T) {
	c := causestest.New(3, 10)
	p := c.Phase(240, 2, func(i int) float64 { return 0.5 + float64(i%16)/8 }, func(task *fit.Task, body *float64) {
		if task.Index%12 == 5 {
			*body *= 3
		}
	})
	f := fitted(t, p)
	if f.Status[fit.ByBytes] != fit.Used || f.Status[fit.ByRecords] != fit.Collinear {
		t.Fatalf("bytes %v, records %v", f.Status[fit.ByBytes], f.Status[fit.ByRecords])
	}
	slope, want := f.Coef[fit.ByBytes], 1.8/64e6
	if math.Abs(slope-want) > 4*f.SE[fit.ByBytes] || f.SE[fit.ByBytes] > 0.1*want {
		t.Errorf("slope %g ± %g, want %g", slope, f.SE[fit.ByBytes], want)
	}
	if f.Sigma < 0.07 || f.Sigma > 0.14 {
		t.Errorf("scatter %.3f, the noise is 0.1", f.Sigma)
	}
}

// One task that hung for a day or a century among tasks of seconds moves the prediction by no more than another outlier.
func TestFitIgnoresWhatHung(t *testing.T) {
	for _, n := range []int{30, 300} {
		for _, longer := range []float64{1e2, 1e5, 1e9, 1e14} {
			f := fitted(t, causestest.New(5, 10).Phase(n, 2, nil, func(task *fit.Task, body *float64) {
				if task.Index == 7 {
					*body *= longer
				}
			}))
			if f.Base < 1.8 || f.Base > 2.3 {
				t.Errorf("%d tasks of 2 s, one %g times as long: %g s are predicted", n, longer, f.Base)
			}
		}
	}
}

// What a predictor must not do: explain where it has no effect, where it does not vary, or by less than three tasks.
func TestFitDrops(t *testing.T) {
	noEffect := causestest.New(4, 10).Phase(100, 2, nil, func(task *fit.Task, body *float64) {
		task.Bytes *= 1 + float64(task.Index%10)/10
		task.Records = math.NaN()
	})
	if f := fitted(t, noEffect); f.Status[fit.ByBytes] != fit.Insignificant {
		t.Errorf("bytes that do not matter: %v, %g ± %g", f.Status[fit.ByBytes], f.Coef[fit.ByBytes], f.SE[fit.ByBytes])
	}
	even := causestest.New(5, 10).Phase(100, 2, nil, nil)
	if f := fitted(t, even); f.Status[fit.ByBytes] != fit.Constant {
		t.Errorf("bytes that do not vary: %v", f.Status[fit.ByBytes])
	}
	lone := causestest.New(6, 10).Phase(100, 2, nil, func(task *fit.Task, body *float64) {
		if task.Index == 7 {
			task.Spill = 1e6 // a megabyte does not take eight seconds
			*body *= 5
		}
	})
	if f := fitted(t, lone); f.Status[fit.BySpill] == fit.Used {
		t.Error("one task that spilled proves that spilling is slow")
	}
	unknown := causestest.New(7, 10).Phase(100, 2, nil, func(task *fit.Task, body *float64) {
		task.Bytes, task.Records, task.Written = math.NaN(), math.NaN(), math.NaN()
	})
	if f := fitted(t, unknown); f.Status[fit.ByBytes] != fit.Absent || f.Status[fit.ByWritten] != fit.Absent {
		t.Errorf("bytes that the log does not have: %v", f.Status[fit.ByBytes])
	}
}

// The scatter of tasks is taken within machines: two generations are no noise.
func TestScatterWithinMachines(t *testing.T) {
	c := causestest.New(9, 8)
	for m := range 4 {
		c.Speed[m] = 1.5
	}
	if f := fitted(t, c.Phase(160, 2, nil, nil)); f.Sigma > 0.14 {
		t.Errorf("scatter %.3f, the noise within machines is 0.1", f.Sigma)
	}
}

// Machine factors that are not finite leave no weights; a phase without predictors that vary has nothing to drop then.
func TestFitWithoutWeights(t *testing.T) {
	even := causestest.New(5, 10).Phase(100, 2, nil, nil)
	var f fit.Fitter
	if !f.FitAlone(even.Tasks) {
		t.Fatal("the phase cannot be fitted")
	}
	known := make([]float64, 64)
	for i := range known {
		known[i] = math.NaN()
	}
	f.Solve(known, fit.Priors{})
}

// Remote bytes that are the same for all tasks of a machine say which machine it is; those that differ within machines have an
// effect.
func TestRemoteBytesOfMachines(t *testing.T) {
	for _, within := range []bool{false, true} {
		p := causestest.New(10, 8).Phase(200, 2, nil, func(task *fit.Task, body *float64) {
			share := task.Machine % 5
			if within {
				share = task.Index / 8 % 5
			}
			task.Remote = float64(share) * 16e6
			*body += 0.3 * float64(share)
		})
		f := fitted(t, p)
		if want := map[bool]fit.Status{false: fit.Collinear, true: fit.Used}[within]; f.Status[fit.ByRemote] != want {
			t.Errorf("within machines %v: %v, want %v", within, f.Status[fit.ByRemote], want)
		}
	}
}

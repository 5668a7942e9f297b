package causes

import (
	"math"
	"testing"
)

// fitted is the fit of a phase by itself.
func fitted(t *testing.T, p *Phase) *fit {
	t.Helper()
	var b bench
	if !b.alone(p) {
		t.Fatal("the phase can not be fitted")
	}
	return &b.fit
}

// time = 0.2 s + 1.8 s × work, with one task in twelve three times as slow: the line must be the one of the others.
func TestFitFindsTheLine(t *testing.T) {
	c := newCluster(3, 10)
	p := c.phase(240, 2, func(i int) float64 { return 0.5 + float64(i%16)/8 }, func(task *Task, body *float64) {
		if task.Index%12 == 5 {
			*body *= 3
		}
	})
	f := fitted(t, p)
	if f.fate[byBytes] != used || f.fate[byRecords] != twin {
		t.Fatalf("bytes %v, records %v", f.fate[byBytes], f.fate[byRecords])
	}
	slope, want := f.coef[byBytes], 1.8/64e6
	if math.Abs(slope-want) > 4*f.se[byBytes] || f.se[byBytes] > 0.1*want {
		t.Errorf("slope %g ± %g, want %g", slope, f.se[byBytes], want)
	}
	if f.sigma < 0.07 || f.sigma > 0.14 {
		t.Errorf("scatter %.3f, the noise is 0.1", f.sigma)
	}
}

// What a predictor must not do: explain where it has no effect, where it does not vary, or by less than three tasks.
func TestFitDrops(t *testing.T) {
	noEffect := newCluster(4, 10).phase(100, 2, nil, func(task *Task, body *float64) {
		task.Bytes *= 1 + float64(task.Index%10)/10
		task.Records = nan
	})
	if f := fitted(t, noEffect); f.fate[byBytes] != nothing {
		t.Errorf("bytes that do not matter: %v, %g ± %g", f.fate[byBytes], f.coef[byBytes], f.se[byBytes])
	}
	even := newCluster(5, 10).phase(100, 2, nil, nil)
	if f := fitted(t, even); f.fate[byBytes] != constant {
		t.Errorf("bytes that do not vary: %v", f.fate[byBytes])
	}
	lone := newCluster(6, 10).phase(100, 2, nil, func(task *Task, body *float64) {
		if task.Index == 7 {
			task.Spill = 1e6 // a megabyte does not take eight seconds
			*body *= 5
		}
	})
	if f := fitted(t, lone); f.fate[bySpill] == used {
		t.Error("one task that spilled proves that spilling is slow")
	}
	unknown := newCluster(7, 10).phase(100, 2, nil, func(task *Task, body *float64) { task.Bytes, task.Records, task.Written = nan, nan, nan })
	if f := fitted(t, unknown); f.fate[byBytes] != absent || f.fate[byWritten] != absent {
		t.Errorf("bytes that the log does not have: %v", f.fate[byBytes])
	}
}

// A single partition with eight times the data stands out from the line by no more than others.
func TestFitBelievesALoneFatTask(t *testing.T) {
	p := newCluster(8, 10).phase(60, 2, func(i int) float64 {
		if i == 20 {
			return 8
		}
		return 1
	}, nil)
	rows := verdicts(attributeAll([]*Phase{p}))
	if v := rows[p.Tasks[20].Attempt]; v.Cause != "data_skew" || v.Share.V < 0.8 {
		t.Errorf("the fat task is %s by %.2f", v.Cause, v.Share.V)
	}
}

// The scatter of tasks is taken within machines: two generations are no noise.
func TestScatterWithinMachines(t *testing.T) {
	c := newCluster(9, 8)
	for m := range 4 {
		c.speed[m] = 1.5
	}
	if f := fitted(t, c.phase(160, 2, nil, nil)); f.sigma > 0.14 {
		t.Errorf("scatter %.3f, the noise within machines is 0.1", f.sigma)
	}
}

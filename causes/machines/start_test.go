package machines

import (
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
)

// Two cold tasks of one machine take three times as long. Whether that is the start of their executor, the machine, or neither,
// is told by the warm tasks there, and by the cold ones elsewhere.
func TestStartOrMachine(t *testing.T) {
	for _, c := range []struct {
		name       string
		cold       int64   // machines whose first two tasks are cold
		warm       float64 // factor of the warm tasks on the machine
		slow       int64   // machines whose cold tasks are slow
		start, bad [2]float64
	}{
		{"the warm ones are as usual", 1, 1, 1, [2]float64{0.9, 1}, [2]float64{0, 0.01}},
		{"the warm ones are as slow", 1, 3, 1, [2]float64{0, 0.1}, [2]float64{0.9, 1}},
		{"cold ones elsewhere are as slow", 5, 1, 5, [2]float64{0.99, 1}, [2]float64{0, 0.01}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := causestest.New(3, 12)
			seen := map[int64]int{}
			p := cluster.Phase(240, 2, nil, func(task *fit.Task, body *float64) {
				seen[task.Machine]++
				task.Cold = task.Machine < c.cold && seen[task.Machine] <= 2
				switch {
				case task.Cold && task.Machine < c.slow:
					*body *= 3
				case task.Machine == 0:
					*body *= c.warm
				}
			})
			var f fit.Fitter
			f.Load(p.Tasks)
			f.Survey()
			f.Outliers = fit.OutlierPrior
			f.SolveAlone()
			var compare Comparer
			for i := range p.Tasks {
				if !p.Tasks[i].Cold || p.Tasks[i].Machine != 0 {
					continue
				}
				h := compare.Compare(&f, int32(i), 0, 0, machinePrior)
				if start, bad := h[WarmingUp].Weight, h[SlowInPhase].Weight; start < c.start[0] || start > c.start[1] || bad < c.bad[0] || bad > c.bad[1] {
					t.Errorf("task %d: its executor was warming up with %.3f, its machine is slow with %.3f", i, start, bad)
				}
			}
		})
	}
}

// Where many executors start in a phase and none of their tasks is slow, a slow one there is hardly the start's.
func TestStartsElsewhere(t *testing.T) {
	var weights []float64
	for _, executors := range []int64{1, 4, 10} {
		cluster := causestest.New(4, 12)
		seen := map[int64]int{}
		p := cluster.Phase(240, 2, nil, func(task *fit.Task, body *float64) {
			seen[task.Machine]++
			task.Cold = task.Machine < executors && seen[task.Machine] <= 1
			if task.Cold && task.Machine == 0 {
				*body *= 3
			}
		})
		var f fit.Fitter
		f.Load(p.Tasks)
		f.Survey()
		f.Outliers = fit.OutlierPrior
		f.SolveAlone()
		var compare Comparer
		h := compare.Compare(&f, 0, 0, 0, machinePrior)
		weights = append(weights, h[WarmingUp].Weight)
	}
	if !(weights[0] > 0.3 && weights[1] < 0.2 && weights[2] < 0.1) {
		t.Errorf("with 1, 4 and 10 executors that start, the start has the weights %.3f", weights)
	}
}

package fit_test

import (
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
)

// Two tasks of a new executor run beside a task of an old one on the same machine, and are slow: they say that it is starting,
// and nothing of how fast the machine is at the time. The tasks before and after it are as usual.
func TestColdTasksSayNothingOfTheirTime(t *testing.T) {
	c := causestest.New(61, 4)
	c.Slots = 3
	var beside int32 = -1
	cold := 0
	p := c.Phase(72, 2, nil, func(task *fit.Task, body *float64) {
		if task.Machine != 2 || task.Index < 36 || task.Index >= 48 {
			return
		}
		if beside < 0 {
			beside = int32(task.Index)
			*body = 8 // so long that the others run beside it
			return
		}
		task.Cold = true
		cold++
		*body *= 4
	})
	var f fit.Fitter
	if !f.FitAlone(p.Tasks) || cold != 2 || !f.Cold(beside+4) {
		t.Fatalf("%d cold tasks", cold)
	}
	near := f.TasksNear(beside)
	for _, o := range near {
		if o.Residual > 0.7 {
			t.Errorf("a task near it has a residual of %.2f", o.Residual)
		}
	}
	if len(near) == 0 {
		t.Error("no tasks are near")
	}
}

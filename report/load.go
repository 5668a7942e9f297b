package report

import (
	"fmt"
	"math"

	"straggler/report/prose"
	"straggler/schema"
)

// Load is how many tasks a run had for its slots, and earlier runs of its program: medians.
type Load struct {
	Tasks      float64 `col:"tasks" doc:"tasks that succeeded, over all stages"`
	Slots      float64 `col:"slots" doc:"slots of its executors, the mean over the time in which its phases ran"`
	UsualTasks float64 `col:"usual_tasks" doc:"median of that over earlier runs"`
	UsualSlots float64 `col:"usual_slots" doc:"median of that over earlier runs"`
}

// loads reads how many tasks the slow runs had for how many slots.
func (b *builder) loads(runs map[schema.Key]int) error {
	return readStore(b, "run_load", func(l *struct {
		ApplicationID schema.Key `col:"application_id"`
		Tasks         float64    `col:"tasks"`
		Slots         float64    `col:"slots"`
		UsualTasks    float64    `col:"usual_tasks"`
		UsualSlots    float64    `col:"usual_slots"`
	}) error {
		b.doc.SlowRuns.Rows[runs[l.ApplicationID]].Load = &Load{l.Tasks, l.Slots, l.UsualTasks, l.UsualSlots}
		return nil
	})
}

// words states that there were more tasks per slot than usual, if by at least a fifth; otherwise it is empty.
func (l *Load) words() string {
	if l == nil || l.Tasks*l.UsualSlots <= 1.2*l.UsualTasks*l.Slots {
		return ""
	}
	n := func(x float64) string { return prose.Count(int64(math.Round(x))) }
	slots := func(x float64) string { // of few, a mean between two whole numbers is no whole number
		if x < 10 && math.Abs(x-math.Round(x)) > 0.05 {
			return fmt.Sprintf("%.2g", x)
		}
		return n(x)
	}
	return fmt.Sprintf("%s tasks had %s slots, usually %s tasks %s: they queued for them, whatever each of them took.", n(l.Tasks),
		slots(l.Slots), n(l.UsualTasks), slots(l.UsualSlots))
}

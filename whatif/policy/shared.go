package policy

import (
	"cmp"
	"slices"

	"straggler/whatif/replay"
)

// inOrder calls do with the tasks in ascending order, which does not depend on what ended before, and empties the list.
func inOrder(tasks *[]int32, do func(task int32)) {
	slices.Sort(*tasks)
	for _, t := range *tasks {
		do(t)
	}
	*tasks = (*tasks)[:0]
}

// tailPhase is the state of a phase for policies that act at its end.
type tailPhase struct {
	took    sample
	counted int
	ages    ages
	over    []aged // for use within a look
}

func tailOf(v *replay.View) *tailPhase {
	t, ok := (*v.Memory()).(*tailPhase)
	if !ok {
		t = &tailPhase{}
		*v.Memory() = t
	}
	return t
}

// queue requests copies of the tasks that started by an instant and were never copied, in their order.
func (t *tailPhase) queue(v *replay.View, do *replay.Actions, start replay.Time) {
	t.over = t.ages.until(v, start, t.over[:0])
	slices.SortFunc(t.over, func(a, b aged) int { return cmp.Compare(a.task, b.task) })
	for _, a := range t.over {
		do.QueueCopy(a.task)
	}
}

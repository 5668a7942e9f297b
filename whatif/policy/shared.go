package policy

import (
	"slices"

	"straggler/whatif/replay"
)

// inOrder calls do with tasks in ascending order, which does not depend on what ended before, and forgets them.
func inOrder(tasks *[]int32, do func(task int32)) {
	slices.Sort(*tasks)
	for _, t := range *tasks {
		do(t)
	}
	*tasks = (*tasks)[:0]
}

// tailPhase is what the policies that act at the end of a phase remember of it.
type tailPhase struct {
	took    sample
	counted int
	queued  map[int32]bool // tasks whose copies were asked for
}

func tailOf(v *replay.View) *tailPhase {
	t, ok := (*v.Memory()).(*tailPhase)
	if !ok {
		t = &tailPhase{}
		*v.Memory() = t
	}
	return t
}

func (t *tailPhase) queue(do *replay.Actions, task int32) {
	if t.queued == nil {
		t.queued = map[int32]bool{}
	}
	t.queued[task] = true
	do.QueueCopy(task)
}

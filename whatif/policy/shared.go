package policy

import (
	"cmp"
	"slices"

	"straggler/whatif/replay"
)

// byTask lists the positions of running attempts in the order of their tasks, which does not depend on what ended before.
func byTask(running []replay.Running) []int {
	out := make([]int, len(running))
	for i := range out {
		out[i] = i
	}
	slices.SortFunc(out, func(a, b int) int {
		return cmp.Or(cmp.Compare(running[a].Task, running[b].Task), cmp.Compare(running[a].Number, running[b].Number))
	})
	return out
}

// tailPhase is what the policies that act at the end of a phase remember of it.
type tailPhase struct {
	took    sample
	counted int
	queued  map[int32]bool
}

func tailOf(v *replay.View) *tailPhase {
	t, ok := (*v.Memory()).(*tailPhase)
	if !ok {
		t = &tailPhase{queued: map[int32]bool{}}
		*v.Memory() = t
	}
	return t
}

func tookSample(v *replay.View) (*sample, *int) {
	t := tailOf(v)
	return &t.took, &t.counted
}

// queuedBefore is whether a copy of the task was asked for before; from now on it was.
func queuedBefore(v *replay.View, task int32) bool {
	t := tailOf(v)
	if t.queued[task] {
		return true
	}
	t.queued[task] = true
	return false
}

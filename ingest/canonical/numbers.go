package canonical

import (
	"encoding/binary"

	"straggler/schema"
)

// maxTasks bounds the tasks that are remembered, at 16 bytes: those with several attempts, and those that do not count up from 0 in their
// phase. Further tasks have no number above 1.
const maxTasks = 2_000_000

// numbers numbers the attempts of each task whose rows have no numbers, in the order of the rows.
type numbers struct {
	below map[schema.Key]int64 // phase → tasks below this one have one attempt, unless next has them
	next  map[schema.Key]int32 // hash of phase and task → number of the next attempt
}

// number gives an attempt the next number of its task.
func (n *numbers) number(a *schema.Attempt) {
	if n.below == nil {
		n.below, n.next = map[schema.Key]int64{}, map[schema.Key]int32{}
	}
	task := taskKey(a)
	next, counted := n.next[task]
	switch {
	case counted:
		a.Number = next
	case a.Task == n.below[a.PhaseID]:
		n.below[a.PhaseID]++
		return
	case a.Task < n.below[a.PhaseID]:
		a.Number = 1
	}
	if counted || len(n.next) < maxTasks {
		n.next[task] = a.Number + 1
	}
}

func taskKey(a *schema.Attempt) schema.Key {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(a.Task))
	return schema.HashKey(a.PhaseID, "number", b[:])
}

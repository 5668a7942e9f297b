package canonical

import (
	"encoding/binary"
	"fmt"

	"straggler/schema"
)

// maxNumbers bounds the attempts whose numbers are remembered, apart from those of tasks that count up from 0 with one attempt each,
// at 16 bytes.
const maxNumbers = 2_000_000

// numbers keeps the numbers of the attempts of a task unique.
type numbers struct {
	below  map[schema.Key]int64 // phase → tasks below this one have an attempt 0
	others map[schema.Key]int32 // hash of phase, task and number; for counted, the number to try next
}

// counted stands for the numbers that attempts of a task got here.
const counted = -1

// number gives an attempt the next number of its task, unless its row has one: then it returns an error if that was there before.
func (n *numbers) number(a *schema.Attempt, given bool) error {
	if n.below == nil {
		n.below, n.others = map[schema.Key]int64{}, map[schema.Key]int32{}
	}
	if given && n.taken(a) {
		return fmt.Errorf("number %d of task %d was there before in its phase; the first row is kept", a.Number, a.Task)
	}
	if !given {
		for a.Number = n.others[attemptKey(a, counted)]; n.taken(a); {
			a.Number++
		}
	}
	switch {
	case a.Number == 0 && a.Task == n.below[a.PhaseID]:
		n.below[a.PhaseID]++
	case len(n.others) < maxNumbers:
		n.others[attemptKey(a, a.Number)] = 0
		if !given {
			n.others[attemptKey(a, counted)] = a.Number + 1
		}
	}
	return nil
}

func (n *numbers) taken(a *schema.Attempt) bool {
	if a.Number == 0 && a.Task < n.below[a.PhaseID] {
		return true
	}
	_, ok := n.others[attemptKey(a, a.Number)]
	return ok
}

func attemptKey(a *schema.Attempt, number int32) schema.Key {
	var b [12]byte
	binary.LittleEndian.PutUint64(b[:], uint64(a.Task))
	binary.LittleEndian.PutUint32(b[8:], uint32(number))
	return schema.HashKey(a.PhaseID, "number", b[:])
}

package timeline

import (
	"fmt"

	"straggler/report/slots"
	"straggler/schema"
	"straggler/serve/catalog"
)

// allocated is the number of attempts up to which slots are assigned from the first attempt on. With more, only those in the
// window are considered, so that an attempt may be in different rows of different windows.
const allocated = 2 << 20

// slots returns the slot of each attempt in the window, from 1: the first that was free. Trace viewers show the same.
func (l *looker) slots() (map[schema.Key]int, error) {
	file := "slots"
	if l.count > allocated {
		file = "slots_in_window"
	}
	at := make(map[schema.Key]int)
	var free slots.Slots
	machine, origin, first := "", int64(0), true
	err := catalog.Each(l.ctx, l.c, l.s.sql(file), func(r *slotRow) error {
		if first || r.Machine != machine {
			free, machine, origin, first = slots.Slots{}, r.Machine, r.Start, false
		}
		slot := free.Take(float64(r.Start-origin)/1e6, float64(max(r.Finish, r.Start)-origin)/1e6)
		if r.Shown {
			at[r.AttemptID] = slot + 1
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("slots: %w", err)
	}
	return at, nil
}

// slotRow is a row of slots.sql and slots_in_window.sql.
type slotRow struct {
	AttemptID schema.Key `col:"attempt_id"`
	Machine   string     `col:"machine"`
	Start     int64      `col:"start_us"`
	Finish    int64      `col:"finish_us"`
	Shown     bool       `col:"shown"`
}

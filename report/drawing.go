package report

import (
	"cmp"
	"slices"

	"straggler/report/prose"
	"straggler/report/slots"
	"straggler/schema"
)

// drawing assigns attempts to the slots of their machines. Attempts come in order of machine and start.
type drawing struct {
	t       *Timeline
	pixel   float64
	drawn   map[schema.Key]markRow // by attempt
	machine string
	lanes   []Lane // of the current machine
	slots   slots.Slots
	left    int64 // attempts without a lane
}

func (d *drawing) add(r *attemptRow) {
	if r.Machine != d.machine || len(d.lanes) == 0 && len(d.t.Lanes) == 0 {
		d.flush()
		d.machine = r.Machine
	}
	from := max(0, r.StartTime.Sub(d.t.StartTime))
	to := d.t.LengthS
	if r.FinishTime.OK {
		to = max(from, r.FinishTime.V.Sub(d.t.StartTime))
	}
	slot := d.slots.Take(from, to)
	if slot >= machineLanes {
		d.left++
		return
	}
	for slot >= len(d.lanes) {
		d.lanes = append(d.lanes, Lane{Machine: r.Machine, Slot: len(d.lanes) + 1})
	}
	lane := &d.lanes[slot]
	m, ok := d.drawn[r.AttemptID]
	if !ok {
		lane.Busy = addBar(lane.Busy, Bar{FromS: from, ToS: to, N: 1}, d.pixel)
		return
	}
	d.t.Drawn++
	lane.Marks = append(lane.Marks, Mark{AttemptID: r.AttemptID, Phase: PhaseShort(m.Phase, m.PhaseAttempt), Task: m.Task, Number: m.Number,
		FromS: from, ToS: to, Open: !r.FinishTime.OK, Status: m.Status, Copy: m.Speculative, Retry: m.Number > 0 && !m.Speculative,
		Recompute: m.Recompute, Cause: m.Cause.V, ExcessS: m.ExcessS})
}

func (d *drawing) flush() {
	d.t.Lanes = append(d.t.Lanes, d.lanes...)
	d.lanes, d.slots = nil, slots.Slots{}
}

// finish sorts the machines in natural order and merges bars until there are few enough.
func (d *drawing) finish() {
	d.flush()
	t := d.t
	if len(t.Lanes) > timelineLanes {
		machines := map[string]bool{}
		for _, l := range t.Lanes[timelineLanes:] {
			machines[l.Machine] = true
		}
		for _, l := range t.Lanes[timelineLanes:] {
			t.Drawn -= int64(len(l.Marks))
			for _, b := range l.Busy {
				d.left += b.N
			}
		}
		t.Lanes = t.Lanes[:timelineLanes]
		for _, l := range t.Lanes {
			delete(machines, l.Machine)
		}
		t.MoreMachines += int64(len(machines))
	}
	slices.SortStableFunc(t.Lanes, func(a, b Lane) int { return cmp.Or(compareNatural(a.Machine, b.Machine), cmp.Compare(a.Slot, b.Slot)) })
	for countBars(t.Lanes) > timelineBars {
		d.pixel *= 2
		for i := range t.Lanes {
			var merged []Bar
			for _, b := range t.Lanes[i].Busy {
				merged = addBar(merged, b, d.pixel)
			}
			t.Lanes[i].Busy = merged
		}
	}
	t.PixelS = d.pixel
	if d.left > 0 {
		t.Note = prose.Plural(d.left, "attempt", "attempts") + " on slots beyond those drawn are left out."
	}
}

// addBar appends a bar, or merges it with the one before when what lies between or one of them is too narrow to see.
func addBar(bars []Bar, b Bar, pixel float64) []Bar {
	if n := len(bars); n > 0 {
		last := &bars[n-1]
		if b.FromS-last.ToS < pixel && (last.ToS-last.FromS < 4*pixel || b.ToS-b.FromS < 4*pixel) {
			last.ToS = max(last.ToS, b.ToS)
			last.N += b.N
			return bars
		}
	}
	return append(bars, b)
}

func countBars(lanes []Lane) int {
	n := 0
	for _, l := range lanes {
		n += len(l.Busy)
	}
	return n
}

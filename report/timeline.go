package report

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"

	"straggler/schema"
	"straggler/store"
)

const (
	timelineMachines = 48   // as timeline.sql takes them
	timelineLanes    = 96   // slots drawn in one timeline
	timelineBars     = 6000 // ordinary bars in one timeline; more are merged further
	timelinePixels   = 1500 // bars narrower than this part of the length are merged with a near neighbour
	machineLanes     = 16   // slots of one machine
)

// timelines draws the jobs that lost most and, where there are several jobs, the application that lost most.
func (b *builder) timelines() error {
	jobs := b.doc.Cost.Jobs.Rows
	for i := range jobs {
		if len(b.doc.Timelines) == topTimelines {
			break
		}
		j := &jobs[i]
		title := upper(jobTitle(j.NativeID))
		if n := named(j.Name); n != "" {
			title += " · " + n
		}
		if app := appOf(b.doc, j.Application); app != "" {
			title += " · " + app
		}
		if err := b.pick("report_picked_jobs", "job_id", []schema.Key{j.JobID}); err != nil {
			return err
		}
		t := Timeline{Title: title, ApplicationID: j.ApplicationID, Application: j.Application, JobID: schema.Some(j.JobID),
			SQL: fmt.Sprintf("SELECT * FROM attempts WHERE job_id = %d ORDER BY machine NULLS LAST, start_time NULLS LAST", j.JobID)}
		if err := b.timeline(t); err != nil {
			return err
		}
	}
	apps := b.doc.Trust.Applications.Rows
	if len(apps) == 0 || len(jobs) < 2 || apps[0].Jobs < 2 {
		return nil
	}
	a := &apps[0]
	if err := b.eng.Materialize(b.ctx, "report_picked_jobs", fmt.Sprintf("SELECT job_id FROM jobs WHERE application_id = %d", a.ApplicationID)); err != nil {
		return err
	}
	return b.timeline(Timeline{Title: "All jobs of " + name(a.NativeID), ApplicationID: a.ApplicationID, Application: a.NativeID,
		SQL: fmt.Sprintf("SELECT * FROM attempts WHERE application_id = %d ORDER BY machine NULLS LAST, start_time NULLS LAST", a.ApplicationID)})
}

// timeline fills t from the jobs in report_picked_jobs.
func (b *builder) timeline(t Timeline) error {
	if err := b.keep("report_timeline_machines", "timeline_machines"); err != nil {
		return err
	}
	if err := b.timelineMachines(&t); err != nil || t.LengthS <= 0 {
		return err
	}
	drawn := map[schema.Key]bool{}
	if err := read(b, "timeline_marks", func(r *struct {
		AttemptID schema.Key `col:"attempt_id"`
	}) error {
		drawn[r.AttemptID] = true
		return nil
	}); err != nil {
		return err
	}
	d := drawing{t: &t, pixel: t.LengthS / timelinePixels, drawn: drawn}
	if err := read(b, "timeline", func(r *attemptRow) error {
		d.add(r)
		return nil
	}); err != nil {
		return err
	}
	d.finish()
	if err := read(b, "timeline_phases", func(r *struct {
		NativeID   string      `col:"native_id"`
		Attempt    int32       `col:"attempt"`
		StartTime  schema.Time `col:"start_time"`
		FinishTime schema.Time `col:"finish_time"`
	}) error {
		from, to := r.StartTime.Sub(t.StartTime), r.FinishTime.Sub(t.StartTime)
		if to >= from && from >= 0 && to <= t.LengthS*1.001 {
			t.Phases = append(t.Phases, Span{Phase: phaseShort(r.NativeID, r.Attempt), FromS: from, ToS: to})
		}
		return nil
	}); err != nil {
		return err
	}
	b.doc.Timelines = append(b.doc.Timelines, t)
	return nil
}

// timelineMachines measures the timeline and counts the machines that it has no room for.
func (b *builder) timelineMachines(t *Timeline) error {
	var end schema.Time
	for r, err := range store.Read[struct {
		Place      int64       `col:"place"`
		Attempts   int64       `col:"attempts"`
		StartTime  schema.Time `col:"start_time"`
		FinishTime schema.Time `col:"finish_time"`
		Marks      int64       `col:"marks"`
	}](b.ctx, b.eng, "SELECT place, attempts, start_time, finish_time, marks FROM report_timeline_machines ORDER BY place NULLS LAST") {
		if err != nil {
			return err
		}
		if t.Attempts == 0 || r.StartTime < t.StartTime {
			t.StartTime = r.StartTime
		}
		if t.Attempts == 0 || r.FinishTime > end {
			end = r.FinishTime
		}
		t.Attempts += r.Attempts
		t.Marks += r.Marks
		if r.Place > timelineMachines {
			t.MoreMachines++
		}
	}
	t.LengthS = end.Sub(t.StartTime)
	return nil
}

// attemptRow is an attempt of a timeline.
type attemptRow struct {
	AttemptID    schema.Key                `col:"attempt_id"`
	Machine      string                    `col:"machine"`
	Task         int64                     `col:"task"`
	Number       int32                     `col:"number"`
	StartTime    schema.Time               `col:"start_time"`
	FinishTime   schema.Null[schema.Time]  `col:"finish_time"`
	Status       schema.AttemptStatus      `col:"status"`
	Speculative  bool                      `col:"speculative"`
	Recompute    bool                      `col:"recompute"`
	Phase        string                    `col:"phase"`
	PhaseAttempt int32                     `col:"phase_attempt"`
	Cause        schema.Null[schema.Cause] `col:"cause"`
	ExcessS      schema.Null[float64]      `col:"excess_s"`
}

// drawing puts attempts on the slots of their machines. Attempts come in order of machine and start.
type drawing struct {
	t       *Timeline
	pixel   float64
	drawn   map[schema.Key]bool
	machine string
	lanes   []Lane // of the machine at hand
	slots   slots
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
	slot := d.slots.take(from, to)
	if slot >= machineLanes {
		d.left++
		return
	}
	for slot >= len(d.lanes) {
		d.lanes = append(d.lanes, Lane{Machine: r.Machine, Slot: len(d.lanes) + 1})
	}
	lane := &d.lanes[slot]
	if !d.drawn[r.AttemptID] {
		lane.Busy = addBar(lane.Busy, Bar{FromS: from, ToS: to, N: 1}, d.pixel)
		return
	}
	d.t.Drawn++
	lane.Marks = append(lane.Marks, Mark{AttemptID: r.AttemptID, Phase: phaseShort(r.Phase, r.PhaseAttempt), Task: r.Task, Number: r.Number,
		FromS: from, ToS: to, Open: !r.FinishTime.OK, Status: r.Status, Copy: r.Speculative, Retry: r.Number > 0 && !r.Speculative,
		Recompute: r.Recompute, Cause: r.Cause.V, ExcessS: r.ExcessS})
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

func (d *drawing) flush() {
	d.t.Lanes = append(d.t.Lanes, d.lanes...)
	d.lanes, d.slots = nil, slots{}
}

// finish sorts the machines as a person would and merges bars until there are few enough.
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
		t.Note = plural(d.left, "attempt", "attempts") + " on slots beyond those drawn are left out."
	}
}

func countBars(lanes []Lane) int {
	n := 0
	for _, l := range lanes {
		n += len(l.Busy)
	}
	return n
}

// slots deals out the slots of a machine: the lowest that is free.
type slots struct {
	busy slotHeap // by when they become free
	free intHeap
	n    int
}

// take gives the slot of an attempt from one time to another; froms must not decrease.
func (s *slots) take(from, to float64) int {
	for len(s.busy) > 0 && s.busy[0].until <= from {
		heap.Push(&s.free, heap.Pop(&s.busy).(busySlot).slot)
	}
	slot := s.n
	if len(s.free) > 0 {
		slot = heap.Pop(&s.free).(int)
	} else {
		s.n++
	}
	heap.Push(&s.busy, busySlot{to, slot})
	return slot
}

type busySlot struct {
	until float64
	slot  int
}

type slotHeap []busySlot

func (h slotHeap) Len() int      { return len(h) }
func (h slotHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h slotHeap) Less(i, j int) bool {
	return h[i].until < h[j].until || h[i].until == h[j].until && h[i].slot < h[j].slot
}
func (h *slotHeap) Push(x any) { *h = append(*h, x.(busySlot)) }
func (h *slotHeap) Pop() any   { x := (*h)[len(*h)-1]; *h = (*h)[:len(*h)-1]; return x }

type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *intHeap) Pop() any          { x := (*h)[len(*h)-1]; *h = (*h)[:len(*h)-1]; return x }

func phaseShort(native string, attempt int32) string {
	if attempt == 0 {
		return clean(native, 40)
	}
	return fmt.Sprintf("%s.%d", clean(native, 40), attempt)
}

// compareNatural orders texts so that m2 stands before m10.
func compareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		dx, dy := digitsOf(x), digitsOf(y)
		if dx != "" && dy != "" {
			tx, ty := strings.TrimLeft(dx, "0"), strings.TrimLeft(dy, "0")
			if c := cmp.Or(cmp.Compare(len(tx), len(ty)), cmp.Compare(tx, ty)); c != 0 {
				return c
			}
			x, y = x[len(dx):], y[len(dy):]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

func digitsOf(s string) string {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i]
}

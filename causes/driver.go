package causes

import (
	"cmp"
	"math"
	"slices"

	"straggler/causes/fit"
	"straggler/schema"
)

// A driver that stops, to collect garbage or without a processor, learns of all tasks that end meanwhile when it goes on: its log has them end at
// the same time, each with the delay from its true end. A link is behind the delays of the machines that use it, and these end one by one.

// together is how far apart, as a share of their delay, the ends are that a driver logs when it goes on.
const together = 0.1

// lateEnds are the ends of the prepared phase's tasks, in order, and their delays beyond the usual.
type lateEnds struct {
	known   bool
	byEnd   []lateEnd
	counted []int32 // by machine: the task that it was last counted for
}

type lateEnd struct {
	end     schema.Time
	delay   float64
	machine int32
}

// driverStopped reports whether the delay of task i beyond the usual is the driver's: for half of it no task of the phase ended, and then those on
// over a third of the other machines, two or more, ended at the same time with half of it or more.
func (a *Attributor) driverStopped(i int32, delay float64) bool {
	b := &a.phase.Fitter
	own := b.Machines.Of[i]
	if own < 0 || !b.Tasks[i].Start.OK || math.IsNaN(b.Tasks[i].Duration) {
		return false
	}
	w := &a.ends
	if !w.known {
		w.load(a)
	}
	end := b.Tasks[i].Start.V.Add(b.Tasks[i].Duration)
	from, until := end.Add(-together*delay), end.Add(together*delay)
	at, _ := slices.BinarySearchFunc(w.byEnd, end.Add(-alike*delay), func(e lateEnd, t schema.Time) int { return cmp.Compare(e.end, t) })
	n := 0
	for ; at < len(w.byEnd) && w.byEnd[at].end <= until; at++ {
		e := &w.byEnd[at]
		switch {
		case e.end < from:
			return false
		case b.Machines.Same(e.machine, own) || e.delay < alike*delay || w.counted[e.machine] == i:
			continue
		}
		w.counted[e.machine] = i
		if n++; n >= 2 && float64(n) > fewCollect*float64(b.Machines.Distinct-1) {
			return true
		}
	}
	return false
}

func (w *lateEnds) load(a *Attributor) {
	b := &a.phase.Fitter
	w.known, w.byEnd, w.counted = true, w.byEnd[:0], w.counted[:0]
	for range b.Machines.Numbers {
		w.counted = append(w.counted, -1)
	}
	for _, i := range b.Rows {
		if t := &b.Tasks[i]; t.Start.OK && b.Machines.Of[i] >= 0 {
			w.byEnd = append(w.byEnd, lateEnd{t.Start.V.Add(t.Duration), b.Part[fit.SchedulerDelay][i] - a.mid[fit.SchedulerDelay], b.Machines.Of[i]})
		}
	}
	slices.SortFunc(w.byEnd, func(x, y lateEnd) int { return cmp.Compare(x.end, y.end) })
}

package causes

import (
	"cmp"
	"math"
	"slices"

	"straggler/causes/fit"
	"straggler/schema"
)

// A driver that pauses, for a garbage collection or for lack of a processor, learns of all tasks that ended meanwhile when it
// resumes: in its log they end at the same time, each delayed from its true end. Delays by a link affect only the machines that
// use it, whose tasks end one by one.

// together is the largest distance, as a share of their delay, between the ends that a driver logs when it resumes.
const together = 0.1

// lateEnds are the ends of the tasks of the prepared phase, with their delays beyond the median.
type lateEnds struct {
	known     bool
	all       []schema.Time // in order
	byMachine []lateEnd     // in order of their machines, and on each of their ends
	first     []int32       // in byMachine, of each machine; and how many there are
}

type lateEnd struct {
	end     schema.Time
	delay   float64
	machine int64
}

// driverStopped reports whether a pause of the driver explains the delay of task i beyond the median: for half of that time no
// task of the phase ended, and then tasks on over a third of the other machines, at least two, ended at the same time, delayed
// by half of it or more. It examines a sample of the machines.
func (a *Attributor) driverStopped(i int32, delay float64) bool {
	b := &a.phase.Fitter
	t := &b.Tasks[i]
	if t.Machine < 0 || !t.Start.OK || math.IsNaN(t.Duration) {
		return false
	}
	w := &a.ends
	if !w.known {
		w.load(b, a.mid[fit.SchedulerDelay])
	}
	end := t.Start.V.Add(t.Duration)
	from, until := end.Add(-together*delay), end.Add(together*delay)
	if at, _ := slices.BinarySearch(w.all, end.Add(-alike*delay)); at < len(w.all) && w.all[at] < from {
		return false
	}
	machines := len(w.first) - 1
	counted, late := 0, 0
	for k := 0; k < machines; k += 1 + machines/examined {
		ends := w.byMachine[w.first[k]:w.first[k+1]]
		if ends[0].machine == t.Machine {
			continue
		}
		counted++
		if endsLate(ends, from, until, alike*delay) {
			late++
		}
	}
	return late >= 2 && float64(late) > fewCollect*float64(counted)
}

// endsLate reports whether one of a machine's tasks ended within a time span with at least this delay.
func endsLate(ends []lateEnd, from, until schema.Time, delay float64) bool {
	const most = 32
	at, _ := slices.BinarySearchFunc(ends, from, func(e lateEnd, t schema.Time) int { return cmp.Compare(e.end, t) })
	for _, e := range ends[at:min(len(ends), at+most)] {
		if e.end > until {
			break
		}
		if e.delay >= delay {
			return true
		}
	}
	return false
}

func (w *lateEnds) load(b *fit.Fitter, usual float64) {
	w.known, w.all, w.byMachine, w.first = true, w.all[:0], w.byMachine[:0], w.first[:0]
	for _, i := range b.Rows {
		if t := &b.Tasks[i]; t.Start.OK && t.Machine >= 0 {
			end := t.Start.V.Add(t.Duration)
			w.all = append(w.all, end)
			w.byMachine = append(w.byMachine, lateEnd{end, b.Part[fit.SchedulerDelay][i] - usual, t.Machine})
		}
	}
	slices.Sort(w.all)
	slices.SortFunc(w.byMachine, func(x, y lateEnd) int { return cmp.Or(cmp.Compare(x.machine, y.machine), cmp.Compare(x.end, y.end)) })
	for k := range w.byMachine {
		if k == 0 || w.byMachine[k].machine != w.byMachine[k-1].machine {
			w.first = append(w.first, int32(k))
		}
	}
	w.first = append(w.first, int32(len(w.byMachine)))
}

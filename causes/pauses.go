package causes

import (
	"cmp"
	"math"
	"slices"

	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/schema"
	"straggler/stats"
)

// A garbage collection that stops a process also stops it from serving blocks and starting tasks: tasks on other machines wait
// for its blocks, and tasks launched on it start late. Logs record for each task how long its process collected while the task
// ran, so waits are compared with the collections of other machines at the same time (MODEL.md, section 7).

const (
	// nearCollections is the number of collecting tasks examined before and after the start of a task.
	nearCollections = 64
	// shareOfPause is the least share of a wait that the collections must cover; blocks queued meanwhile still arrive
	// afterwards.
	shareOfPause = 0.5
	// fewCollect is the largest share of the phase's machines that may collect as long at the same time: if all collect, the
	// wait of a task cannot be attributed to one of them.
	fewCollect = 1. / 3
	// sample is the number of tasks of a phase that are examined.
	sample = 1024
)

// pauses holds the tasks with longer collections than the median of the prepared phase, both in the phase and in concurrent
// phases of the application, and how the waits and delays of the phase coincide with them.
type pauses struct {
	loaded  bool
	order   []pause // by start
	numbers []int64 // machine numbers: those of the phase by local number, and others on which tasks of other phases collected

	waited, delayed     []float64 // seconds that coincide with the collections of a machine
	unpaused, undelayed float64   // seconds that coincide with none
	idle                []float64 // share of the tasks elsewhere that did not wait although the machine collected as long

	during  []float64 // scratch of collectedDuring, by machine
	touched []int32
	tmp     []float64
	local   map[machineInWindow]int32 // scratch of addOthers
}

// pause is the collection of one task.
type pause struct {
	task       int32 // of the phase; -1: of another
	machine    int32 // among the numbers
	start, end schema.Time
	seconds    float64

	waited   bool        // by tasks that ran
	from, to schema.Time // in this part of its time

	// tasks elsewhere that began at least half a long wait before its end, and those of them that waited as long
	began, beganWaiting int
}

type machineInWindow struct{ machine, window int64 }

// pausedBy finds the machine whose collections task i waited for. ok is false if there is none, or if it cannot be determined:
// when most waits of the phase coincide with no collection, when the machine collects all the time and most tasks that begin
// during the collection do not wait, or when its own tasks wait too.
func (a *Attributor) pausedBy(i int) (machine int32, ok bool) {
	w := &a.pauses
	if !w.loaded {
		w.load(a)
	}
	k, ok := w.server(a, int32(i))
	if !ok || w.waited[k] < w.unpaused || w.idle[k] > fewCollect && !w.mostWaited(a, int32(i), k) {
		return 0, false
	}
	return k, !a.waitsAnyway(i, k) && (int(k) >= len(a.phase.Machines.Numbers) || !a.serverWaits(i, k))
}

// serverWaits reports whether the tasks of machine k waited about as long at that time, beyond its own collections; then its
// blocks are not the reason.
func (a *Attributor) serverWaits(i int, k int32) bool {
	b := &a.phase.Fitter
	wait := b.Part[fit.FetchWait][i]
	j, ok := b.ConcurrentTask(int32(i), k, wait)
	return ok && b.Part[fit.FetchWait][j]-b.Part[fit.GC][j] >= a.mid[fit.FetchWait]+machines.ShareOfIt*(wait-a.mid[fit.FetchWait])
}

// waitsAnyway reports whether other tasks on the machine of task i wait about as long when machine k does not collect; then
// their link is the reason.
func (a *Attributor) waitsAnyway(i int, k int32) bool {
	b := &a.phase.Fitter
	own := b.Machines.Of[i]
	if own < 0 {
		return false
	}
	bar := a.mid[fit.FetchWait] + machines.ShareOfIt*(b.Part[fit.FetchWait][i]-a.mid[fit.FetchWait])
	n, wait := 0, 0
	for _, j := range b.Machines.Tasks(own) {
		if j == int32(i) || !b.Succeeded(j) || a.pauses.collected(b, j, k) > 0 {
			continue
		}
		if n++; b.Part[fit.FetchWait][j] >= bar {
			wait++
		}
		if n == examined {
			break
		}
	}
	return n >= 2 && 2*wait >= n
}

// launchedIntoPause reports whether task i was launched while its own machine collected: other tasks that ran there during the
// delay collected for at least half of it, and the same holds for most delays of the phase. A delay that exceeds the median by
// less than leastCollection counts as a late message: it is the difference of five figures that logs round to milliseconds, and
// collections that short are not kept.
func (a *Attributor) launchedIntoPause(i int, delay float64) bool {
	b := &a.phase.Fitter
	own := b.Machines.Of[i]
	if own < 0 || !b.Tasks[i].Start.OK {
		return false
	}
	w := &a.pauses
	if !w.loaded {
		w.load(a)
	}
	return delay >= leastCollection && w.launched(b, int32(i), delay) && w.delayed[own] >= w.undelayed
}

func (w *pauses) launched(b *fit.Fitter, i int32, delay float64) bool {
	t := &b.Tasks[i]
	own := b.Machines.Of[i]
	if own < 0 || !t.Start.OK {
		return false
	}
	w.collectedDuring(i, t.Start.V, t.Start.V.Add(b.Part[fit.SchedulerDelay][i]))
	return w.during[own] >= shareOfPause*delay
}

// load makes one pass over the phase: which of the long waits and delays coincide with collections, and how many tasks without
// a wait ran during collections of the same length.
func (w *pauses) load(a *Attributor) {
	b := &a.phase.Fitter
	w.loaded, w.unpaused, w.undelayed = true, 0, 0
	w.order, w.touched, w.tmp = w.order[:0], w.touched[:0], w.tmp[:0]
	w.waited, w.delayed, w.idle, w.during = w.waited[:0], w.delayed[:0], w.idle[:0], w.during[:0]
	bar := func(part int) float64 { return a.mid[part] + 2*a.partSD[part] }
	for i := range b.Tasks {
		t := &b.Tasks[i]
		if t.Start.OK && b.Machines.Of[i] >= 0 && b.Part[fit.GC][i] > bar(fit.GC) && !math.IsNaN(t.Duration) {
			w.order = append(w.order,
				pause{task: int32(i), machine: b.Machines.Of[i], start: t.Start.V, end: t.Start.V.Add(t.Duration), seconds: b.Part[fit.GC][i]})
		}
	}
	w.numbers = append(w.numbers[:0], b.Machines.Numbers...)
	w.addOthers(a, bar(fit.GC))
	for range w.numbers {
		w.waited, w.delayed, w.idle, w.during = append(w.waited, 0), append(w.delayed, 0), append(w.idle, 0), append(w.during, 0)
	}
	if len(w.order) == 0 {
		return
	}
	slices.SortStableFunc(w.order, func(x, y pause) int { return cmp.Compare(x.start, y.start) })
	long := w.longWait(a, bar(fit.FetchWait))
	for _, i := range b.Rows {
		if delay := b.Part[fit.SchedulerDelay][i]; delay > bar(fit.SchedulerDelay) {
			if delay -= a.mid[fit.SchedulerDelay]; w.launched(b, i, delay) {
				w.delayed[b.Machines.Of[i]] += delay
			} else {
				w.undelayed += delay
			}
		}
		over, ok := a.longFetchWait(i, bar(fit.FetchWait))
		if !ok {
			continue
		}
		if k, ok := w.server(a, i); ok {
			w.waited[k] += over
			if over >= shareOfPause*long {
				w.narrowTimes(b, i, k, over)
			}
		} else {
			w.unpaused += over
		}
	}
	if len(w.tmp) > 0 {
		w.countIdle(a, stats.Median(w.tmp), bar(fit.FetchWait))
		w.countBegan(a, long)
	}
}

// longFetchWait returns the wait of task i beyond the median, if it exceeds a threshold and is long enough to be due to a
// link.
func (a *Attributor) longFetchWait(i int32, bar float64) (over float64, ok bool) {
	wait := a.phase.Part[fit.FetchWait][i]
	over = wait - a.mid[fit.FetchWait]
	return over, wait > bar && a.materialWait(int(i), over)
}

// longWait collects the long waits in tmp and returns their median weighted by seconds: half of the waiting time is in waits of
// that length or longer, regardless of the number of short waits.
func (w *pauses) longWait(a *Attributor, bar float64) (long float64) {
	w.tmp = w.tmp[:0]
	var rest float64
	for _, i := range a.phase.Rows {
		if over, ok := a.longFetchWait(i, bar); ok {
			w.tmp, rest = append(w.tmp, over), rest+over/2
		}
	}
	slices.Sort(w.tmp)
	for k := 0; k < len(w.tmp) && rest > 0; k++ {
		long = w.tmp[k]
		rest -= long
	}
	return long
}

// countBegan counts, in a sample, the tasks that began during each collection. Most tasks request their blocks when they begin,
// so a task that began earlier may already have received them.
func (w *pauses) countBegan(a *Attributor, wait float64) {
	b := &a.phase.Fitter
	for at := 0; at < len(b.Rows); at += 1 + len(b.Rows)/sample {
		i := b.Rows[at]
		t := &b.Tasks[i]
		if !t.Start.OK {
			continue
		}
		near := w.near(t.Start.V)
		for k := range near {
			p := &near[k]
			if p.left(t.Start.V, t.Start.V.Add(t.Duration)) < shareOfPause*wait || w.runsOn(b, i, p.machine) {
				continue
			}
			p.began++
			if b.Part[fit.FetchWait][i]-a.mid[fit.FetchWait] >= shareOfPause*wait {
				p.beganWaiting++
			}
		}
	}
}

// mostWaited reports whether, for a collection of machine k that task i may have waited for, two thirds of the tasks that began
// during it waited too, at least three: one or two may wait by chance.
func (w *pauses) mostWaited(a *Attributor, i, k int32) bool {
	b := &a.phase.Fitter
	start, over := b.Tasks[i].Start.V, b.Part[fit.FetchWait][i]-a.mid[fit.FetchWait]
	near := w.near(start)
	for j := range near {
		p := &near[j]
		if p.machine == k && p.seen(start, start.Add(b.Tasks[i].Duration)) >= shareOfPause*over &&
			p.beganWaiting >= 3 && float64(p.began-p.beganWaiting) <= fewCollect*float64(p.began) {
			return true
		}
	}
	return false
}

// addOthers adds the collections over a threshold of other phases of the application while this one ran.
func (w *pauses) addOthers(a *Attributor, bar float64) {
	b := &a.phase.Fitter
	phase := b.Tasks[0].Phase
	if _, ok := a.collections.application[phase]; !ok {
		return
	}
	var from, to schema.Time
	known := false
	for i := range b.Tasks {
		if t := &b.Tasks[i]; t.Start.OK && !math.IsNaN(t.Duration) {
			if start, end := t.Start.V, t.Start.V.Add(t.Duration); known {
				from, to = min(from, start), max(to, end)
			} else {
				from, to, known = start, end, true
			}
		}
	}
	if w.local == nil {
		w.local = map[machineInWindow]int32{}
	}
	clear(w.local)
	for k, machine := range b.Machines.Numbers {
		first := b.Tasks[b.Machines.Tasks(int32(k))[0]].Start
		w.local[machineInWindow{machine, fit.WindowOf(first, b.WindowS)}] = int32(k)
	}
	for c := range a.collections.meanwhile(phase, from, to) {
		if c.Seconds <= bar {
			continue
		}
		at := machineInWindow{c.Machine, fit.WindowOf(schema.Some(c.Start), b.WindowS)}
		k, ok := w.local[at]
		if !ok {
			k = int32(len(w.numbers))
			w.local[at] = k
			w.numbers = append(w.numbers, c.Machine)
		}
		w.order = append(w.order, pause{task: -1, machine: k, start: c.Start, end: c.end(), seconds: c.Seconds})
	}
}

// narrowTimes narrows the times of the collections of machine k that task i waited for. Logs do not record when within a task
// its process collected; it must have been while the waiting tasks ran.
func (w *pauses) narrowTimes(b *fit.Fitter, i, k int32, over float64) {
	start := b.Tasks[i].Start.V
	end := start.Add(b.Tasks[i].Duration)
	near := w.near(start)
	for j := range near {
		p := &near[j]
		if p.machine != k || p.within(start, end) < shareOfPause*over {
			continue
		}
		from, to := max(p.start, start), min(p.end, end)
		if p.waited {
			from, to = min(p.from, from), max(p.to, to)
		}
		p.waited, p.from, p.to = true, from, to
	}
}

// countIdle fills idle from a sample: the share of the tasks that waited for less than a threshold although another machine
// collected for half a typical wait while they ran.
func (w *pauses) countIdle(a *Attributor, wait, bar float64) {
	b := &a.phase.Fitter
	n := 0.0
	for at := 0; at < len(b.Rows); at += 1 + len(b.Rows)/sample {
		i := b.Rows[at]
		t := &b.Tasks[i]
		if b.Part[fit.FetchWait][i] > bar || !t.Start.OK {
			continue
		}
		n++
		w.collecting(i, t.Start.V, t.Start.V.Add(t.Duration), (*pause).seen)
		for _, k := range w.touched {
			if !w.runsOn(b, i, k) && w.during[k] >= shareOfPause*wait {
				w.idle[k]++
			}
		}
	}
	for k := range w.idle {
		w.idle[k] /= max(1, n)
	}
}

// server returns the other machine that collected longest while task i ran, for at least half of the task's wait, provided that
// few machines did so.
func (w *pauses) server(a *Attributor, i int32) (machine int32, ok bool) {
	b := &a.phase.Fitter
	t := &b.Tasks[i]
	over := b.Part[fit.FetchWait][i] - a.mid[fit.FetchWait]
	if over <= 0 || len(w.order) == 0 || !t.Start.OK {
		return 0, false
	}
	w.collectedDuring(i, t.Start.V, t.Start.V.Add(t.Duration))
	most, many := 0.0, 0
	for _, k := range w.touched {
		if w.runsOn(b, i, k) || w.during[k] < shareOfPause*over {
			continue
		}
		many++
		if w.during[k] > most || w.during[k] == most && k < machine {
			machine, most = k, w.during[k]
		}
	}
	return machine, many == 1 || many > 0 && float64(many) <= fewCollect*float64(len(w.numbers))
}

// runsOn reports whether task i runs on machine k, in any window of time.
func (w *pauses) runsOn(b *fit.Fitter, i, k int32) bool {
	own := b.Machines.Of[i]
	return own >= 0 && w.numbers[own] == w.numbers[k]
}

// collectedDuring fills during: for each machine, the longest collection within a time span by any of its tasks except task i.
func (w *pauses) collectedDuring(i int32, from, to schema.Time) {
	w.collecting(i, from, to, (*pause).within)
}

func (w *pauses) collecting(i int32, from, to schema.Time, of func(p *pause, from, to schema.Time) float64) {
	for _, k := range w.touched {
		w.during[k] = 0
	}
	w.touched = w.touched[:0]
	near := w.near(from)
	for k := range near {
		p := &near[k]
		s := of(p, from, to)
		if p.task == i || s <= 0 {
			continue
		}
		if w.during[p.machine] == 0 {
			w.touched = append(w.touched, p.machine)
		}
		w.during[p.machine] = max(w.during[p.machine], s)
	}
}

// near returns the collections that began nearest to a time.
func (w *pauses) near(t schema.Time) []pause {
	at, _ := slices.BinarySearchFunc(w.order, t, func(p pause, v schema.Time) int { return cmp.Compare(p.start, v) })
	return w.order[max(0, at-nearCollections):min(len(w.order), at+nearCollections)]
}

// collected returns the longest possible collection by a task on machine k while task i ran.
func (w *pauses) collected(b *fit.Fitter, i, k int32) float64 {
	t := &b.Tasks[i]
	if !t.Start.OK {
		return 0
	}
	w.collectedDuring(i, t.Start.V, t.Start.V.Add(t.Duration))
	return w.during[k]
}

// within returns the longest possible collection by the task within a time span.
func (p *pause) within(from, to schema.Time) float64 {
	start, end := max(p.start, from), min(p.end, to)
	if end <= start {
		return 0
	}
	return min(p.seconds, end.Sub(start))
}

// seen is like within, using the times narrowed by narrowTimes.
func (p *pause) seen(from, to schema.Time) float64 {
	if p.waited {
		from, to = max(p.from, from), min(p.to, to)
	}
	return p.within(from, to)
}

// left returns how much of the collection remained for a task that began during it, using the times narrowed by narrowTimes.
func (p *pause) left(from, to schema.Time) float64 {
	if !p.waited || from < p.from {
		return 0
	}
	return p.within(from, min(p.to, to))
}

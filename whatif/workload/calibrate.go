package workload

import (
	"cmp"
	"math"
	"slices"
)

// gate marks the attempts that began before all parents of their phase were over and ended after them, as reduces do that start
// early. They keep the time that they still ran after their parents ended.
func (d *draft) gate() {
	opened := make([]int64, len(d.Phases))
	for q := range d.Phases {
		for _, i := range d.Phases[q].Gates {
			opened[i] = max(opened[i], d.phaseEnd[q])
		}
	}
	for a := range d.Attempts {
		at := &d.Attempts[a]
		at.Dur = d.end[a] - d.start[a]
		i := d.Tasks[at.Task].Phase
		if g := opened[i]; d.start[a] < g && d.end[a] > g {
			at.Gated, at.Dur = true, d.end[a]-g
			d.notes.Gated++
		}
	}
}

// order sorts the attempts of each phase by their claims, solo ones last.
func (d *draft) order() {
	perm := make([]int32, len(d.Attempts))
	for a := range perm {
		perm[a] = int32(a)
	}
	for i := range d.Phases {
		p := &d.Phases[i]
		part := perm[p.First:d.attemptsUpTo(i)]
		slices.SortFunc(part, func(a, b int32) int {
			return cmp.Or(cmp.Compare(d.rank(a), d.rank(b)), cmp.Compare(d.claim[a], d.claim[b]),
				cmp.Compare(d.start[a], d.start[b]), cmp.Compare(a, b))
		})
		for _, a := range part {
			if d.rank(a) == 0 {
				p.Launches++
			}
		}
	}
	d.permute(perm)
	for a := range d.Attempts {
		at := &d.Attempts[a]
		at.Key, at.Lag = d.claim[a], d.start[a]-d.claim[a]
		if at.Slot < 0 {
			at.Slot = int32(len(d.Slots) + d.Direct)
			d.Direct++
			if at.Solo < 0 {
				p := &d.Phases[d.Tasks[at.Task].Phase]
				p.SoloAtRelease = append(p.SoloAtRelease, int32(a))
			}
		}
	}
}

// rank returns 0 for an attempt that waits in the queue of its phase.
func (d *draft) rank(a int32) int {
	if d.Attempts[a].Solo >= 0 || d.Attempts[a].Slot < 0 {
		return 1
	}
	return 0
}

func (d *draft) permute(perm []int32) {
	to := make([]int32, len(perm))
	for n, a := range perm {
		to[a] = int32(n)
	}
	move := func(a int32) int32 {
		if a < 0 {
			return -1
		}
		return to[a]
	}
	d.Attempts, d.start, d.end = pick(d.Attempts, perm), pick(d.start, perm), pick(d.end, perm)
	d.claim, d.prev, d.attemptRow = pick(d.claim, perm), pick(d.prev, perm), pick(d.attemptRow, perm)
	for a := range d.Attempts {
		at := &d.Attempts[a]
		at.Next, at.AfterOK, at.Fork = move(at.Next), move(at.AfterOK), move(at.Fork)
		d.prev[a] = move(d.prev[a])
	}
}

func pick[T any](from []T, perm []int32) []T {
	out := make([]T, len(perm))
	for n, a := range perm {
		out[n] = from[a]
	}
	return out
}

// calibrate finds how long each launch waited at the head of its queue, and the largest number of idle slots during that wait.
// The replay of an unchanged log then claims every slot when the log did: not earlier, because there are never more idle slots
// than that number, and not later, because the wait is over.
func (d *draft) calibrate() {
	h := &holds{draft: d}
	var idle []int32
	h.times, idle = d.idleSeries()
	h.tree = newMaxTree(idle)
	h.busy()
	for i := range d.Phases {
		p := &d.Phases[i]
		head := d.released[i]
		for k := range p.Launches {
			a := p.First + k
			h.hold(a, head)
			head = max(head, d.claim[a])
		}
	}
	for a := range d.Attempts {
		if d.Attempts[a].Solo >= 0 && int(d.Attempts[a].Slot) < len(d.Slots) {
			h.hold(int32(a), min(d.readyAt(int32(a)), d.claim[a]))
		}
	}
}

// holds finds the idle slots that launches left unused while they waited.
type holds struct {
	*draft
	times []int64 // instants at which the number of idle slots changed
	tree  *maxTree
	full  [][]span64 // by job: when it ran as many tasks as it may
}

type span64 struct{ from, till int64 }

// busy finds when each job with a limit was at its limit.
func (h *holds) busy() {
	type change struct {
		at int64
		by int32
	}
	h.full = make([][]span64, len(h.Jobs))
	byJob := make([][]change, len(h.Jobs))
	for a := range h.Attempts {
		j := h.Phases[h.Tasks[h.Attempts[a].Task].Phase].Job
		if h.Jobs[j].Limit < math.MaxInt32 && int(h.Attempts[a].Slot) < len(h.Slots) {
			byJob[j] = append(byJob[j], change{h.claim[a], 1}, change{max(h.end[a], h.start[a]), -1})
		}
	}
	for j, changes := range byJob {
		slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
		now, since := int32(0), int64(-1)
		for n, c := range changes {
			now += c.by
			if n+1 < len(changes) && changes[n+1].at == c.at {
				continue
			}
			if full := now >= h.Jobs[j].Limit; full && since < 0 {
				since = c.at
			} else if !full && since >= 0 {
				h.full[j] = append(h.full[j], span64{since, c.at})
				since = -1
			}
		}
	}
}

// hold records how long attempt a waited at the head of its queue, and the most idle slots that it left unused while its job
// was below its limit.
func (h *holds) hold(a int32, head int64) {
	at := &h.Attempts[a]
	at.Wait = h.claim[a] - head
	if at.Wait <= 0 {
		at.Wait = 0
		return
	}
	full := h.full[h.Phases[h.Tasks[at.Task].Phase].Job]
	n, _ := slices.BinarySearchFunc(full, head, func(s span64, t int64) int { return cmp.Compare(s.till, t+1) })
	from := head
	for ; n < len(full) && full[n].from < h.claim[a]; n++ {
		at.Held = max(at.Held, h.idle(from, full[n].from))
		from = full[n].till
	}
	at.Held = max(at.Held, h.idle(from, h.claim[a]))
}

// idle returns the largest number of idle slots in a half-open time span, or 0 if the span is empty.
func (h *holds) idle(from, till int64) int32 {
	if from >= till {
		return 0
	}
	n, found := slices.BinarySearch(h.times, from)
	if !found {
		n = max(n-1, 0)
	}
	m, _ := slices.BinarySearch(h.times, till)
	return max(h.tree.max(n, m), 0)
}

// idleSeries returns the number of idle slots at the end of every instant at which it changed.
func (d *draft) idleSeries() (times []int64, idle []int32) {
	type change struct {
		at         int64
		free, busy int32
	}
	var changes []change
	gone := make([]bool, len(d.Slots)) // taken when it was removed
	for a := range d.Attempts {
		s := d.Attempts[a].Slot
		if int(s) >= len(d.Slots) {
			continue
		}
		c, e := d.claim[a], max(d.end[a], d.start[a])
		changes = append(changes, change{c, -1, 1})
		if d.Slots[s].Till > e {
			changes = append(changes, change{e, 1, -1})
		} else {
			changes = append(changes, change{e, 0, -1})
			if c < d.Slots[s].Till {
				gone[s] = true
			}
		}
	}
	start := int32(0)
	for s := range d.Slots {
		if d.Slots[s].From > 0 {
			changes = append(changes, change{d.Slots[s].From, 1, 0})
		} else {
			start++
		}
		if d.Slots[s].Till < Forever && !gone[s] {
			changes = append(changes, change{d.Slots[s].Till, -1, 0})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	free, busy := start, int32(0)
	times, idle = append(times, -Forever), append(idle, min(free, int32(d.Limit)))
	for n, c := range changes {
		free, busy = free+c.free, busy+c.busy
		if n+1 == len(changes) || changes[n+1].at != c.at {
			times, idle = append(times, c.at), append(idle, min(free, int32(d.Limit)-busy))
		}
	}
	return times, idle
}

// maxTree finds the maximum of a range in logarithmic time.
type maxTree struct {
	n    int
	node []int32
}

func newMaxTree(v []int32) *maxTree {
	t := &maxTree{n: len(v), node: make([]int32, 2*len(v))}
	copy(t.node[t.n:], v)
	for i := t.n - 1; i > 0; i-- {
		t.node[i] = max(t.node[2*i], t.node[2*i+1])
	}
	return t
}

// max returns the maximum of v[from:till], the smallest integer where that is empty.
func (t *maxTree) max(from, till int) int32 {
	best := int32(-1 << 31)
	for l, r := from+t.n, till+t.n; l < r; l, r = l/2, r/2 {
		if l&1 == 1 {
			best = max(best, t.node[l])
			l++
		}
		if r&1 == 1 {
			r--
			best = max(best, t.node[r])
		}
	}
	return best
}

package replay

import (
	"cmp"
	"math"
	"slices"
)

// gate marks the attempts that began before all parents of their phase were over and ended after them, as reduces do
// that start early. What they still had to do once the parents were over is what they keep.
func (d *draft) gate() {
	opened := make([]int64, len(d.phases))
	for q := range d.phases {
		for _, i := range d.phases[q].gates {
			opened[i] = max(opened[i], d.phaseEnd[q])
		}
	}
	for a := range d.attempts {
		at := &d.attempts[a]
		at.dur = d.end[a] - d.start[a]
		i := d.tasks[at.task].phase
		if g := opened[i]; d.start[a] < g && d.end[a] > g {
			at.gated, at.dur = true, d.end[a]-g
			d.notes.Gated++
		}
	}
}

// order puts the attempts of each phase in the order of their claims, solo ones behind.
func (d *draft) order() {
	perm := make([]int32, len(d.attempts))
	for a := range perm {
		perm[a] = int32(a)
	}
	for i := range d.phases {
		p := &d.phases[i]
		part := perm[p.first:d.attemptsUpTo(i)]
		slices.SortFunc(part, func(a, b int32) int {
			return cmp.Or(cmp.Compare(d.rank(a), d.rank(b)), cmp.Compare(d.claim[a], d.claim[b]),
				cmp.Compare(d.start[a], d.start[b]), cmp.Compare(a, b))
		})
		for _, a := range part {
			if d.rank(a) == 0 {
				p.launches++
			}
		}
	}
	d.permute(perm)
	for a := range d.attempts {
		at := &d.attempts[a]
		at.key, at.lag = d.claim[a], d.start[a]-d.claim[a]
		if at.slot < 0 {
			at.slot = int32(len(d.slots) + d.direct)
			d.direct++
			if at.solo < 0 {
				p := &d.phases[d.tasks[at.task].phase]
				p.soloAtRelease = append(p.soloAtRelease, int32(a))
			}
		}
	}
}

func (d *draft) attemptsUpTo(phase int) int32 {
	if phase+1 < len(d.phases) {
		return d.phases[phase+1].first
	}
	return int32(len(d.attempts))
}

// rank is 0 for an attempt that waits in the queue of its phase.
func (d *draft) rank(a int32) int {
	if d.attempts[a].solo >= 0 || d.attempts[a].slot < 0 {
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
	d.attempts, d.start, d.end = pick(d.attempts, perm), pick(d.start, perm), pick(d.end, perm)
	d.claim, d.prev, d.attemptRow = pick(d.claim, perm), pick(d.prev, perm), pick(d.attemptRow, perm)
	for a := range d.attempts {
		at := &d.attempts[a]
		at.next, at.afterOK, at.fork = move(at.next), move(at.afterOK), move(at.fork)
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

// calibrate finds how long each launch waited at the head of its queue, and the most slots that were left idle
// meanwhile. The replay of an unchanged log then claims every slot when the log did: not sooner, because no more slots
// are ever idle than the most that were, and not later, because the wait is over.
func (d *draft) calibrate() {
	h := &holds{draft: d}
	var idle []int32
	h.times, idle = d.idleSeries()
	h.tree = newMaxTree(idle)
	h.busy()
	for i := range d.phases {
		p := &d.phases[i]
		head := d.released[i]
		for k := range p.launches {
			a := p.first + k
			h.hold(a, head)
			head = max(head, d.claim[a])
		}
	}
	for a := range d.attempts {
		if d.attempts[a].solo >= 0 && int(d.attempts[a].slot) < len(d.slots) {
			h.hold(int32(a), min(d.readyAt(int32(a)), d.claim[a]))
		}
	}
}

// holds finds out what launches let pass while they waited.
type holds struct {
	*draft
	times []int64 // instants at which the number of idle slots changed
	tree  *maxTree
	full  [][]span64 // by job: when it ran as many tasks as it may
}

type span64 struct{ from, till int64 }

// busy finds when each job that has a limit was at it.
func (h *holds) busy() {
	type change struct {
		at int64
		by int32
	}
	h.full = make([][]span64, len(h.jobs))
	byJob := make([][]change, len(h.jobs))
	for a := range h.attempts {
		j := h.phases[h.tasks[h.attempts[a].task].phase].job
		if h.jobs[j].limit < math.MaxInt32 && int(h.attempts[a].slot) < len(h.slots) {
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
			if full := now >= h.jobs[j].limit; full && since < 0 {
				since = c.at
			} else if !full && since >= 0 {
				h.full[j] = append(h.full[j], span64{since, c.at})
				since = -1
			}
		}
	}
}

// hold keeps how long attempt a waited at the head of its queue and the most idle slots that it let pass, while its job
// was not at its limit.
func (h *holds) hold(a int32, head int64) {
	at := &h.attempts[a]
	at.wait = h.claim[a] - head
	if at.wait <= 0 {
		at.wait = 0
		return
	}
	full := h.full[h.phases[h.tasks[at.task].phase].job]
	n, _ := slices.BinarySearchFunc(full, head, func(s span64, t int64) int { return cmp.Compare(s.till, t+1) })
	from := head
	for ; n < len(full) && full[n].from < h.claim[a]; n++ {
		at.held = max(at.held, h.idle(from, full[n].from))
		from = full[n].till
	}
	at.held = max(at.held, h.idle(from, h.claim[a]))
}

// idle is the most idle slots from an instant until before another, 0 where there is nothing between them.
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

// idleSeries is the number of idle slots at the end of every instant at which it changed.
func (d *draft) idleSeries() (times []int64, idle []int32) {
	type change struct {
		at         int64
		free, busy int32
	}
	var changes []change
	gone := make([]bool, len(d.slots)) // taken when it was removed
	for a := range d.attempts {
		s := d.attempts[a].slot
		if int(s) >= len(d.slots) {
			continue
		}
		c, e := d.claim[a], max(d.end[a], d.start[a])
		changes = append(changes, change{c, -1, 1})
		if d.slots[s].till > e {
			changes = append(changes, change{e, 1, -1})
		} else {
			changes = append(changes, change{e, 0, -1})
			if c < d.slots[s].till {
				gone[s] = true
			}
		}
	}
	start := int32(0)
	for s := range d.slots {
		if d.slots[s].from > 0 {
			changes = append(changes, change{d.slots[s].from, 1, 0})
		} else {
			start++
		}
		if d.slots[s].till < forever && !gone[s] {
			changes = append(changes, change{d.slots[s].till, -1, 0})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	free, busy := start, int32(0)
	times, idle = append(times, -forever), append(idle, min(free, int32(d.limit)))
	for n, c := range changes {
		free, busy = free+c.free, busy+c.busy
		if n+1 == len(changes) || changes[n+1].at != c.at {
			times, idle = append(times, c.at), append(idle, min(free, int32(d.limit)-busy))
		}
	}
	return times, idle
}

// maxTree answers for the maximum of a range in logarithmic time.
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

// max is the maximum of v[from:till], the smallest integer where that is empty.
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

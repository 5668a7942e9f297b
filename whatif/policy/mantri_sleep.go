package policy

import (
	"cmp"
	"slices"

	"straggler/whatif/replay"
)

// Most attempts can be seen early never to be restarted or duplicated: what a steady attempt is estimated to need only falls, and
// so stays under its greatest value from now on. Such an attempt is put to sleep, which is written into it in place of its
// average: Last is −1, and Note is that value. It is weighed again when what it would take to act on it has fallen below that,
// with the average that the reports in between give.

const sleeping = -1.0

func asleep(a *replay.Running) bool { return a.Last == sleeping }

// harmless is a t_rem with which an attempt is neither restarted nor duplicated, given what t_new is on average and what it stays
// under with δ: at most two copies run of what may be duplicated, so that t_rem · c/(c+1) is at most two thirds.
func (m *mantri) harmless(mean, likely, delta float64) float64 { return min(mean+delta, 1.5*likely) }

// sleep puts an attempt to sleep whose t_rem is well under what is harmless: a hundredth, so that it is not woken at once.
func (m *mantri) sleep(v *replay.View, p *mantriPhase, a *replay.Running, left, harmless float64) {
	if p.all || !(left <= 0.99*harmless) || !v.Steady(a) {
		return
	}
	elapsed := v.Elapsed(a).Seconds()
	if most := max(left, elapsed/a.Last-elapsed) * (1 + 1e-9); most <= 0.99*harmless {
		a.Note, a.Last = most, sleeping
	}
}

// wake gives an attempt the average that it would have, had it been weighed each time.
func (m *mantri) wake(v *replay.View, p *mantriPhase, a *replay.Running) {
	a.Note, a.Last = 0, 0
	first, _ := slices.BinarySearchFunc(p.weighed, a.Start, func(w weighing, start replay.Time) int { return cmp.Compare(w.at, start) })
	for _, w := range p.weighed[first:] {
		if elapsed := (w.at - a.Start).Seconds(); elapsed >= w.delta {
			if score := v.Reported(a, w.at); score > 0 {
				averaged(a, elapsed/score-elapsed, score, w.delta)
			}
		}
	}
}

// wakeAll wakes all attempts, for good: where t_wrapup counts, or not all are weighed at a look, nothing is known in advance.
func (m *mantri) wakeAll(v *replay.View, p *mantriPhase) {
	if p.all {
		return
	}
	running := v.Running()
	for i := range running {
		if a := &running[i]; asleep(a) {
			m.wake(v, p, a)
		}
	}
	p.all, p.weighed = true, nil
}

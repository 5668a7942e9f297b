package policy

import (
	"cmp"
	"slices"

	"straggler/whatif/replay"
)

// Most attempts can be seen early never to be restarted or duplicated: what a steady attempt is estimated to need only falls,
// and so stays under its greatest value from now on. Such an attempt is put to sleep (View.Sleep), and Note is a bound of that
// value in place of its average. What t_rem is harmless rises with each number of a target, so that
// those that sleep need not be visited as long as none of these falls below a floor for which all their bounds are harmless.
// Otherwise the floor is lowered, and those are weighed again whose bounds are not, with the average that the reports in
// between give.

// target is what the t_rem of an attempt is held against.
type target struct {
	paces
	far   float64 // location factor
	lag   float64 // s
	delta float64 // Δ, s
}

// harmless is a t_rem with which an attempt is neither restarted nor duplicated: at most two copies run of what may be
// duplicated, so that t_rem · c/(c+1) is at most two thirds.
func (t *target) harmless(v *replay.View, a *replay.Running) float64 {
	scale := t.work(v, a) * t.far
	return min(t.mean*scale+t.lag+t.delta, 1.5*(t.likely*scale+t.lag))
}

// lower wakes those that sleep for whom a target is under the floor.
func (m *mantri) lower(v *replay.View, p *mantriPhase, t target) {
	if p.all || !p.floor.goUnder(t) {
		return
	}
	running := v.Running()
	for i := range running {
		if a := &running[i]; v.Asleep(i) && a.Note > p.floor.harmless(v, a) {
			m.wake(v, p, i)
		}
	}
}

// goUnder brings a floor under a target: by a hundredth, so that it need not follow each time. It is whether the floor was
// lowered; what is harmless with it is so with a higher one.
func (t *target) goUnder(u target) bool {
	if u.bytes != t.bytes || u.far < t.far || u.lag < t.lag || u.mean < t.mean || u.likely < t.likely || u.delta < t.delta {
		*t = target{paces{0.99 * u.mean, 0.99 * u.likely, u.bytes}, u.far, u.lag, 0.99 * u.delta}
		return true
	}
	t.mean, t.likely, t.delta = max(t.mean, 0.99*u.mean), max(t.likely, 0.99*u.likely), max(t.delta, 0.99*u.delta)
	t.far, t.lag = max(t.far, u.far), max(t.lag, u.lag)
	return false
}

// sleep puts the i-th attempt to sleep if its t_rem is harmless.
func (m *mantri) sleep(v *replay.View, p *mantriPhase, i int, left float64) {
	a := &v.Running()[i]
	harmless := p.floor.harmless(v, a)
	if p.all || !(left <= harmless) || !v.Steady(a) {
		return
	}
	elapsed := v.Elapsed(a).Seconds()
	if most := max(left, elapsed/a.Last-elapsed) * (1 + 1e-9); most <= harmless {
		a.Note = most
		v.Sleep(i)
	}
}

// dozes puts the i-th attempt to sleep if it was never weighed, where that is harmless whatever it reports.
func (m *mantri) dozes(v *replay.View, p *mantriPhase, i int) bool {
	a := &v.Running()[i]
	if p.all || a.Last != 0 || a.Note != 0 || !v.Steady(a) {
		return false
	}
	most := (v.Bound(a) - v.Elapsed(a).Seconds()) * (1 + 1e-9)
	if !(most <= p.floor.harmless(v, a)) {
		return false
	}
	a.Note = most
	v.Sleep(i)
	return true
}

// wake gives the i-th attempt the average that it would have, had it been weighed each time.
func (m *mantri) wake(v *replay.View, p *mantriPhase, i int) {
	a := &v.Running()[i]
	v.Wake(i)
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
	for i := range v.Running() {
		if v.Asleep(i) {
			m.wake(v, p, i)
		}
	}
	p.all, p.weighed = true, nil
}

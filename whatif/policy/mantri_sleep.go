package policy

import (
	"cmp"
	"slices"

	"straggler/whatif/replay"
)

// Most attempts can be seen early never to be restarted or duplicated: the estimated time left of a steady attempt only
// decreases, and so stays below its present maximum. Such an attempt is put to sleep (View.Sleep), with a bound of that maximum
// in Note instead of its average.
//
// The t_rem that is harmless rises with every number of a target. So attempts that sleep need not be visited while no number of
// the target falls below those of a floor for which all their bounds are harmless. If one does, the floor is lowered, and the
// attempts whose bounds are not harmless with it wake up, with the average that the reports in the meantime give.

// target has the numbers that the t_rem of an attempt is compared with.
type target struct {
	paces
	far   float64 // location factor
	lag   float64 // s
	delta float64 // Δ, s
}

// harmless returns a t_rem with which an attempt is neither restarted nor duplicated. A task that may be duplicated has at most
// two copies, so that t_rem · c/(c+1) is at most two thirds of t_rem.
func (t *target) harmless(v *replay.View, a *replay.Running) float64 {
	scale := t.work(v, a) * t.far
	return min(t.mean*scale+t.lag+t.delta, 1.5*(t.likely*scale+t.lag))
}

// lower lowers the floor if a target is below it, and wakes the attempts whose bounds are not harmless any more.
func (l *mantriLook) lower(t target) {
	v, p := l.v, l.p
	if p.all || !p.floor.goUnder(t) {
		return
	}
	running := v.Running()
	for i := range running {
		if a := &running[i]; v.Asleep(i) && a.Note > p.floor.harmless(v, a) {
			l.wake(i)
		}
	}
}

// goUnder lowers a floor to a target if that is below it, by a hundredth more than needed, so that this is rare. It reports
// whether it lowered the floor; otherwise it may raise it, with which a harmless t_rem stays harmless.
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
func (l *mantriLook) sleep(i int, elapsed, left float64) {
	v, p := l.v, l.p
	a := &v.Running()[i]
	harmless := p.floor.harmless(v, a)
	if p.all || !(left <= harmless) || !v.Steady(a) {
		return
	}
	if most := max(left, elapsed/a.Last-elapsed) * (1 + 1e-9); most <= harmless {
		a.Note = most
		v.Sleep(i)
	}
}

// sleepUnweighed puts the i-th attempt to sleep if it was never weighed, and its t_rem will be harmless whatever it reports. It
// reports whether it did.
func (l *mantriLook) sleepUnweighed(i int, elapsed float64) bool {
	v, p := l.v, l.p
	a := &v.Running()[i]
	if p.all || a.Last != 0 || a.Note != 0 || !v.Steady(a) {
		return false
	}
	most := (v.Bound(a) - elapsed) * (1 + 1e-9)
	if !(most <= p.floor.harmless(v, a)) {
		return false
	}
	a.Note = most
	v.Sleep(i)
	return true
}

// wake gives the i-th attempt the average that it would have, had it been weighed each time.
func (l *mantriLook) wake(i int) {
	v, p := l.v, l.p
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

// wakeAll wakes all attempts for good, if t_wrapup counts or not all attempts are weighed at a look: then t_rem has no known
// bound.
func (l *mantriLook) wakeAll() {
	p := l.p
	if p.all {
		return
	}
	for i := range l.v.Running() {
		if l.v.Asleep(i) {
			l.wake(i)
		}
	}
	p.all, p.weighed = true, nil
}

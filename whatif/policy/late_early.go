package policy

import (
	"math"

	"straggler/whatif/heap"
	"straggler/whatif/replay"
)

// longest finds the attempts with the longest time left, of those of a phase that LATE may copy, without estimating the time left of all at
// every look. The time left of a steady attempt only falls: attempts wait in a heap by a bound of it, which is known when they start and is
// better after each estimate, and only those are estimated whose bound is above the time left of the last one wanted.
type longest struct {
	seen   int // of View.Started
	young  heap.Nearly[young]
	old    heap.Heap[bounded] // that have reached the age; some are over
	limit  int                // of old, at which those that are over are forgotten
	aside  []bounded          // of tasks that run in several attempts and were not copied by the policy: the log's own copies
	now    heap.Heap[candidate]
	back   []bounded
	slow   float64   // a rate that is likely to be slow
	count  slowCount // of that rate
	varied bool      // an attempt is not steady: all are estimated at every look
	scans  int       // looks at which all are estimated, as bounds told too little
}

// bounded is an attempt and a bound of its time left once it has the age.
type bounded struct {
	most float64
	over replay.Time // it has ended by then, as its line says; never: unknown. It only tells what to forget
	aged
}

func (b bounded) Before(c bounded) bool {
	return b.most > c.most || b.most == c.most && b.aged.Before(c.aged)
}

// young is an attempt that has not reached the age. The first is the one that started first.
type young struct{ bounded }

func (y young) Before(z young) bool { return y.aged.Before(z.aged) }

// most is a little more than a time left, since estimates are rounded.
func most(left, elapsed float64) float64 { return left + 1e-9*(left+elapsed+1) }

// update takes in what has started, and what has reached the age.
func (g *longest) update(v *replay.View, l *late) {
	started := v.Started()
	for _, task := range started[min(g.seen, len(started)):] {
		if v.Launched(task) > 0 {
			continue
		}
		for a := range v.Attempts(task) {
			g.young.Push(young{g.bound(v, l, a)})
		}
	}
	g.seen = len(started)
	rest := g.aside[:0]
	for _, e := range g.aside {
		if v.Copies(e.task) > 1 {
			rest = append(rest, e)
		} else {
			g.young.Push(young{e})
		}
	}
	g.aside = rest
	for g.young.Len() > 0 && (v.Now()-g.young.First().start).Seconds() >= l.Age {
		g.old.Push(g.young.Pop().bounded)
	}
	if len(g.old) > max(g.limit, 2*len(v.Running())+64) {
		live := g.old[:0]
		for _, e := range g.old {
			if e.over > v.Now() && (e.over < never || g.find(v, e) != nil) {
				live = append(live, e)
			}
		}
		g.old, g.limit = heap.Of(live), 2*len(live)
	}
}

// bound is an attempt that has just started with its bound: what its line says at the age.
func (g *longest) bound(v *replay.View, l *late, a *replay.Running) bounded {
	e := bounded{math.Inf(1), never, aged{a.Start, a.Task}}
	if !v.Steady(a) {
		g.varied = true
		return e
	}
	start, slope := line(v, a)
	e.most = most(start+slope*l.Age-l.Age, l.Age)
	if whole := start / (1 - slope) * (1 + 1e-9); whole < 1e12 {
		e.over = a.Start + replay.Seconds(whole) + 1
	}
	return e
}

// find is the attempt if it still runs, alone and never copied; nil otherwise.
func (g *longest) find(v *replay.View, e bounded) *replay.Running {
	if e.over < v.Now() || v.Launched(e.task) > 0 {
		return nil
	}
	for a := range v.Attempts(e.task) {
		if a.Start == e.start {
			if v.Copies(e.task) > 1 {
				g.aside = append(g.aside, e)
				return nil
			}
			return a
		}
	}
	return nil
}

// until says when the oldest attempt without a copy has the age, unless it has.
func (g *longest) until(v *replay.View, age float64) (replay.Again, bool) {
	for len(g.old) > 0 {
		if g.find(v, g.old[0]) != nil {
			return replay.Again{}, false
		}
		g.old.Pop()
	}
	for g.young.Len() > 0 {
		if e := g.young.First().bounded; g.find(v, e) != nil {
			return replay.Again{At: e.start + replay.Seconds(age)}, true
		}
		g.young.Pop()
	}
	return replay.Again{End: true}, true
}

// first are the n attempts that may be copied with the longest time left, in order; false where bounds tell too little.
func (g *longest) first(v *replay.View, l *late, phase *latePhase, n int) ([]candidate, bool) {
	slow := slowness{l: l, v: v, phase: phase, from: math.Inf(1)}
	g.now, g.back = g.now[:0], g.back[:0]
	out := l.found[:0]
	enough := true
	for len(out) < n {
		switch {
		case len(g.now) > 0 && (len(g.old) == 0 || g.now[0].left > g.old[0].most):
			c := g.now.Pop()
			if (len(out) == 0 || out[len(out)-1].task != c.task) && slow.is(c.rate) {
				out = append(out, c)
			}
			continue
		case len(g.old) == 0:
			n = 0
			continue
		case len(g.back) > 4*n+len(v.Running())/8:
			enough, n = false, 0
			continue
		}
		e := g.old.Pop()
		a := g.find(v, e)
		if a == nil {
			continue
		}
		elapsed, score := v.Elapsed(a).Seconds(), v.Progress(a)
		left := TimeLeft(score, elapsed)
		g.back = append(g.back, bounded{most(left, elapsed), e.over, e.aged})
		if elapsed > 0 {
			g.now.Push(candidate{a.Task, a.Machine, left, score / elapsed})
		}
	}
	for _, e := range g.back {
		g.old.Push(e)
	}
	l.found = out
	return out, enough
}

// slowness is whether a rate is under the percentile of the rates of a phase, found in steps that cost more and tell more: what the finished
// attempts alone say, then how many of those that run are slower than a rate that was slow before, then the percentile.
type slowness struct {
	l           *late
	v           *replay.View
	phase       *latePhase
	steps       int
	below, from float64 // a rate below the one is slow, and from the other it is not
}

func (s *slowness) is(rate float64) bool {
	if s.l.SlowTask >= 1 {
		return true
	}
	for rate < s.from {
		if s.steps > 0 && rate < s.below {
			return true
		}
		switch s.steps++; s.steps {
		case 1:
			s.byFinished()
		case 2:
			s.byCount()
		case 3:
			near := s.l.slowRateAbout(s.v, s.phase)
			s.below, s.from = near*(1-1e-9), near*(1+1e-9)
			s.phase.longest.slow = near * 0.99 // it moves little from look to look
		default:
			return rate < s.l.slowRate(s.v, s.phase)
		}
	}
	return false
}

// byFinished uses that the attempts that run, of which some may not have begun, move the percentile of those that are done by as many ranks
// at most as they are.
func (s *slowness) byFinished() {
	done, running := &s.phase.rates, len(s.v.Running())
	if done.n() == 0 {
		return
	}
	if r := rankOf(done.n(), s.l.SlowTask) - running; r >= 0 {
		s.below = done.at(r)
	}
	if r := rankOf(done.n()+running, s.l.SlowTask); r < done.n() {
		s.from = done.at(r)
	}
}

// slowCount is how many of the attempts that ran when they were counted are up to a rate then or until an instant.
type slowCount struct {
	rate    float64
	till    replay.Time
	slower  int // those that had not begun among them
	waiting int // had not begun
	started int // of View.Started
}

// byCount counts the rates up to one: it is slow if they are no more than the percentile's rank. What has started since the attempts were
// counted may all be as slow; they are counted again where that is too many.
func (s *slowness) byCount() {
	g := &s.phase.longest
	if g.slow <= s.below || g.slow >= s.from {
		return
	}
	known := g.count.rate == g.slow && g.count.till >= s.v.Now()
	if known && s.few(&g.count) {
		s.below = g.slow
		return
	}
	if g.count = s.countSlow(g.slow); s.few(&g.count) {
		s.below = g.slow
	}
}

// few is whether those up to a rate are no more than the percentile's rank, by a count.
func (s *slowness) few(c *slowCount) bool {
	since := len(s.v.Started()) - c.started
	begun := max(len(s.v.Running())-c.waiting-since, 0)
	return s.phase.rates.upTo(c.rate)+c.slower+since <= rankOf(s.phase.rates.n()+begun, s.l.SlowTask)
}

// countSlow counts the attempts that run and are up to a rate at some instant of the next thirty looks: their lines are straight, so at the
// first or at the last.
func (s *slowness) countSlow(rate float64) slowCount {
	span := replay.Seconds(30 * s.l.Heartbeat)
	c := slowCount{rate: rate, till: s.v.Now() + span, started: len(s.v.Started())}
	least := 1 / (rate * (1 + 1e-9))
	running := s.v.Running()
	for i := range running {
		a := &running[i]
		e := s.v.Elapsed(a).Seconds()
		start, slope := line(s.v, a)
		switch {
		case e <= 0:
			c.waiting++
			c.slower++
		case max(start+slope*e, start+slope*(e+span.Seconds())) >= least:
			c.slower++
		}
	}
	return c
}

// slowRateAbout is slowRate of steady attempts but for rounding.
func (l *late) slowRateAbout(v *replay.View, phase *latePhase) float64 {
	running := v.Running()
	l.rates = l.rates[:0]
	for i := range running {
		a := &running[i]
		if e := v.Elapsed(a).Seconds(); e > 0 {
			start, slope := line(v, a)
			l.rates = append(l.rates, 1/(start+slope*e))
		}
	}
	return phase.rates.quantileWith(l.rates, l.SlowTask)
}

// line is View.Line of a steady attempt, which is kept with it.
func line(v *replay.View, a *replay.Running) (start, slope float64) {
	if a.Note == 0 {
		a.Note, a.Last = v.Line(a)
	}
	return a.Note, a.Last
}

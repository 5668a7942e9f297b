package policy

import (
	"math"
	"slices"

	"straggler/whatif/heap"
	"straggler/whatif/replay"
)

// longest finds the attempts of a phase with the longest time left that LATE may copy, without estimating all of them at every
// look. The time left of a steady attempt only decreases: attempts are in a queue by an upper bound, which is known when they
// start and improves with each estimate, and only those are estimated whose bound exceeds the time left of the last one wanted.
// Most attempts are never slow enough to be copied and are not in the queue.
type longest struct {
	seen   int // of View.Started
	young  heap.Nearly[young]
	old    bounds    // that have reached the age; some are over
	quick  []bounded // the same, of those that are estimated to take no longer than short
	short  float64   // s; an attempt that takes no longer is not slow
	limit  int       // of both, at which attempts that are over are removed
	aside  []bounded // of tasks that a copy was asked for, or that run in several attempts: the log's own copies
	now    heap.Heap[estimated]
	back   []bounded
	taken  []bounded // for use within a look
	slow   float64   // a rate that is likely to be slow
	count  slowCount // of that rate
	varied bool      // an attempt is not steady: all are estimated at every look
	scans  int       // looks at which all are estimated because bounds do not decide
}

// bounded is an attempt with upper bounds of its estimated time left and total time once it has reached the age, in seconds.
type bounded struct {
	left, total float64
	start       replay.Time
	onSlot
}

// onSlot is the task and the slot of an attempt. They are one field of bounded because the compiler keeps structs of more than
// four fields in memory, and not in registers.
type onSlot struct{ task, slot int32 }

// over reports whether the attempt has certainly ended. It is used only to free memory.
func (b bounded) over(v *replay.View) bool { return (v.Now() - b.start).Seconds() > b.total }

// young is an attempt that has not reached the age. The first is the one that started first.
type young struct{ bounded }

func (y young) Before(z young) bool {
	return y.start < z.start || y.start == z.start && y.task < z.task
}

// estimated is a candidate with its bounds.
type estimated struct {
	candidate
	bounded bounded
}

func (e estimated) Before(f estimated) bool { return e.candidate.Before(f.candidate) }

// most returns a little more than a time, to allow for rounding of estimates.
func most(left, elapsed float64) float64 { return left + 1e-9*(left+elapsed+1) }

// update adds what has started, and what has reached the age.
func (g *longest) update(v *replay.View, l *late) {
	started := v.Started()
	for _, task := range started[min(g.seen, len(started)):] {
		launched := v.Launched(task) > 0
		for a := range v.Attempts(task) {
			g.varied = g.varied || !v.Steady(a)
			if !g.varied && g.count.till >= v.Now() {
				g.count.add(v, a)
			}
			if !launched {
				g.young.Push(young{g.bound(v, l, a)})
			}
		}
	}
	g.seen = len(started)
	rest := g.aside[:0]
	for _, e := range g.aside {
		switch {
		case v.Launched(e.task) > 0: // never again
		case v.Copies(e.task) > 1:
			rest = append(rest, e)
		default:
			g.young.Push(young{e})
		}
	}
	g.aside = rest
	for g.young.Len() > 0 && (v.Now()-g.young.First().start).Seconds() >= l.Age {
		g.reached(g.young.Pop().bounded)
	}
	if g.old.n+len(g.quick) > max(g.limit, 2*len(v.Running())+64) {
		g.old.only(func(e bounded) bool { return g.find(v, e) != nil })
		g.quick = slices.DeleteFunc(g.quick, func(e bounded) bool { return e.over(v) })
		g.limit = 2 * (g.old.n + len(g.quick))
	}
}

// bound returns an attempt that has just started, with its bounds, which hold from the age on.
func (g *longest) bound(v *replay.View, l *late, a *replay.Running) bounded {
	e := bounded{left: math.Inf(1), total: math.Inf(1), start: a.Start, onSlot: onSlot{a.Task, v.Slot(a)}}
	if !g.varied {
		start, slope := line(v, a)
		total, end := start+slope*l.Age, start/(1-slope)
		e.left, e.total = most(total-l.Age, l.Age), most(max(total, end), 0)
	}
	return e
}

// reached adds an attempt that has reached the age.
func (g *longest) reached(e bounded) {
	if e.total <= g.short {
		g.quick = append(g.quick, e)
	} else {
		g.old.push(e)
	}
}

// shorten sets the time up to which an attempt is not slow. Quick attempts that may be slow now go into the queue; short stays a
// hundredth below the time, so that this is rare.
func (g *longest) shorten(v *replay.View, short float64) {
	if g.short <= short {
		g.short = max(g.short, 0.99*short)
		return
	}
	g.short = 0.99 * short
	quick := g.quick
	g.quick = g.quick[:0]
	for _, e := range quick {
		g.reached(e)
	}
}

// find returns the attempt if it still runs, alone and never copied; nil otherwise.
func (g *longest) find(v *replay.View, e bounded) *replay.Running {
	if e.over(v) {
		return nil
	}
	a := v.On(e.slot)
	if a == nil || a.Task != e.task || a.Start != e.start || v.Launched(e.task) > 0 {
		return nil
	}
	if v.CopiesOf(a) > 1 {
		g.aside = append(g.aside, e)
		return nil
	}
	return a
}

// until returns when the oldest attempt without a copy reaches the age; false if it has.
func (g *longest) until(v *replay.View, age float64) (replay.Again, bool) {
	for g.old.n > 0 {
		if g.find(v, g.old.any()) != nil {
			return replay.Again{}, false
		}
		g.old.drop()
	}
	for last := len(g.quick) - 1; last >= 0; last-- {
		if g.find(v, g.quick[last]) != nil {
			return replay.Again{}, false
		}
		g.quick = g.quick[:last]
	}
	for g.young.Len() > 0 {
		if e := g.young.First().bounded; g.find(v, e) != nil {
			return replay.Again{At: e.start + replay.Seconds(age)}, true
		}
		g.young.Pop()
	}
	return replay.Again{At: v.Now() + replay.Seconds(age), End: true}, true // nothing that starts later reaches the age sooner
}

// first returns the n attempts that may be copied with the longest time left, in order; false if the bounds do not decide.
func (g *longest) first(v *replay.View, l *late, phase *latePhase, n int) ([]candidate, bool) {
	slow := slownessOf(v, l, phase)
	g.shorten(v, 1/slow.from)
	out, estimates := l.found[:0], 4*n+len(v.Running())/8
	for len(out) < n && estimates >= 0 && len(g.now)+g.old.n > 0 {
		if g.old.n > 0 && (len(g.now) == 0 || g.now[0].left <= g.old.most()) {
			estimates -= g.estimateAll(v)
			continue
		}
		e := g.now.Pop()
		if (len(out) == 0 || out[len(out)-1].task != e.task) && slow.is(e.rate) {
			out, g.aside = append(out, e.candidate), append(g.aside, e.bounded)
		} else {
			g.back = append(g.back, e.bounded)
		}
	}
	for _, e := range g.now {
		g.old.push(e.bounded)
	}
	for _, e := range g.back {
		g.old.push(e)
	}
	g.now, g.back = g.now[:0], g.back[:0]
	l.found = out
	return out, estimates >= 0
}

// estimateAll estimates the attempts whose bounds are no shorter than the longest estimate so far, or the one with the longest
// bound, and returns how many these are.
func (g *longest) estimateAll(v *replay.View) (n int) {
	from := g.old.most()
	if len(g.now) > 0 {
		from = g.now[0].left
	}
	g.taken = g.old.take(from, g.taken[:0])
	for _, e := range g.taken {
		if a := g.find(v, e); a != nil {
			g.estimate(v, a, e)
			n++
		}
	}
	return n
}

// estimate computes the time left of an attempt.
func (g *longest) estimate(v *replay.View, a *replay.Running, e bounded) {
	elapsed, score := v.Elapsed(a).Seconds(), v.Progress(a)
	left := TimeLeft(score, elapsed)
	e.left = most(left, elapsed)
	if elapsed > 0 {
		g.now.Push(estimated{candidate{a.Task, a.Machine, left, score / elapsed}, e})
	} else {
		g.back = append(g.back, e)
	}
}

// slowness decides whether a rate is below the percentile of the rates of a phase, in steps of increasing cost: from the
// finished attempts alone, then from the number of running ones that are slower than an earlier slow rate, then from the
// percentile itself.
type slowness struct {
	l           *late
	v           *replay.View
	phase       *latePhase
	steps       int
	below, from float64 // a rate below the one is slow, and from the other it is not
}

// slownessOf takes the first step. It uses that the running attempts, some of which may not have begun, move the percentile of
// the finished ones by at most as many ranks as there are of them.
func slownessOf(v *replay.View, l *late, phase *latePhase) slowness {
	s := slowness{l: l, v: v, phase: phase, from: math.Inf(1)}
	if l.SlowTask >= 1 {
		s.below = math.Inf(1)
		return s
	}
	done, running := &phase.rates, len(v.Running())
	if r := rankOf(done.n(), l.SlowTask) - running; done.n() > 0 && r >= 0 {
		s.below = done.at(r)
	}
	if r := rankOf(done.n()+running, l.SlowTask); r < done.n() {
		s.from = done.at(r)
	}
	return s
}

func (s *slowness) is(rate float64) bool {
	for rate >= s.below && rate < s.from {
		switch s.steps++; s.steps {
		case 1:
			s.byCount()
		case 2:
			near := s.l.slowRateAbout(s.v, s.phase)
			s.below, s.from = near*(1-1e-9), near*(1+1e-9)
			s.phase.longest.slow = near * 0.99 // it moves little from look to look
		default:
			return rate < s.l.slowRate(s.v, s.phase)
		}
	}
	return rate < s.below
}

// slowCount is an upper bound of the number of running attempts whose rate is at most a given one, at any instant up to another.
type slowCount struct {
	rate    float64
	till    replay.Time
	slower  int // those that had not begun among them
	waiting int // had not begun
}

// byCount decides by counting the rates up to the given one: it is slow if they are no more than the percentile's rank. They are
// counted again if the attempts that have ended since make them too many.
func (s *slowness) byCount() {
	g := &s.phase.longest
	if g.slow <= s.below || g.slow >= s.from {
		return
	}
	if g.count.rate != g.slow || g.count.till < s.v.Now() || !s.few(&g.count) {
		g.count = s.countSlow(g.slow)
	}
	if s.few(&g.count) {
		s.below = g.slow
	}
}

// few reports whether the rates up to the given one are no more than the percentile's rank, by a count.
func (s *slowness) few(c *slowCount) bool {
	begun := max(len(s.v.Running())-c.waiting, 0)
	return s.phase.rates.upTo(c.rate)+c.slower <= rankOf(s.phase.rates.n()+begun, s.l.SlowTask)
}

// countSlow counts the running attempts whose rate is at most the given one at some instant of the next thirty looks.
func (s *slowness) countSlow(rate float64) slowCount {
	c := slowCount{rate: rate, till: s.v.Now() + replay.Seconds(30*s.l.Heartbeat)}
	running := s.v.Running()
	for i := range running {
		c.add(s.v, &running[i])
	}
	return c
}

// add counts an attempt. Its elapsed/progress is linear, so that its rate is least at the first or the last instant: at the first
// if the line falls.
func (c *slowCount) add(v *replay.View, a *replay.Running) {
	if v.Now() <= a.Start {
		c.waiting++
		c.slower++
		return
	}
	start, slope := line(v, a)
	at := v.Now()
	if slope > 0 {
		at = c.till
	}
	if (start+slope*(at-a.Start).Seconds())*c.rate*(1+1e-9) >= 1 {
		c.slower++
	}
}

// slowRateAbout returns slowRate, up to rounding, for steady attempts.
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

// line returns View.Line of a steady attempt, which it stores in the attempt.
func line(v *replay.View, a *replay.Running) (start, slope float64) {
	if a.Note == 0 {
		a.Note, a.Last = v.Line(a)
	}
	return a.Note, a.Last
}

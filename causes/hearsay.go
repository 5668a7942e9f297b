package causes

import (
	"cmp"
	"math"
	"slices"

	"straggler/schema"
)

// What the other tasks of a phase on a task's machine say about it: residuals beyond what was known of the machine
// before. Three stories are compared: the machine is as known, give or take; it is slow in this phase; it was slow for a
// while, and only what ran at the same time shows it. In all of them, any of the tasks may be slow by itself.

// story is one of them: ln(factor) of the machine beyond what was known, its variance, and how likely it is.
type story struct {
	at, variance float64
	weight       float64
	heard        int // tasks that speak for it
}

const (
	asKnown = iota
	inPhase
	forAWhile
	stories
)

// shortSpell is how likely a machine is to be slow for a while within a phase.
const shortSpell = 0.004

// hearsay compares the stories by all tasks on the machine but task i itself. With many others the task itself makes no
// difference, and the first two are told once.
func (b *bench) hearsay(i int32, known float64, p twoGroup) (s [stories]story) {
	k := b.local.of[i]
	const many = 64
	switch {
	case len(b.local.tasks(k)) <= many:
		b.gather(k, i)
		s[asKnown], s[inPhase] = b.wholePhase(known, p)
	default:
		for len(b.heard) < len(b.local.names) {
			b.heard = append(b.heard, hearing{})
		}
		if h := &b.heard[k]; !h.ok {
			b.gather(k, -1)
			h.known, h.slow = b.wholePhase(known, p)
			h.ok = true
		}
		s[asKnown], s[inPhase] = b.heard[k].known, b.heard[k].slow
	}
	if len(b.local.names) == 1 {
		// Nothing in the phase ran elsewhere: what all of its tasks have in common may be the phase's as well as the machine's.
		s[asKnown].weight, s[inPhase] = 1, story{}
	}
	s[forAWhile] = b.spell(i, s[asKnown], known, p)
	s[asKnown].weight -= shortSpell * s[asKnown].weight
	return s
}

// hearing is what all tasks of a machine say, once they are so many that one makes no difference.
type hearing struct {
	known, slow story
	ok          bool
}

// wholePhase compares the first two stories for the residuals in tmp. Their weights sum to 1.
func (b *bench) wholePhase(known float64, p twoGroup) (is, slow story) {
	n := len(b.tmp)
	if n == 0 {
		return story{0, known + p.spike, 1, 0}, story{}
	}
	s2 := b.fit.sigma * b.fit.sigma
	as, va, l0 := b.settle(b.tmp, 0, s2, p.spike+known)
	at, vt, l1 := b.settle(b.tmp, center(b.tmp, b.fit.sigma), s2, p.slab)
	odds := 1 / (1 + (1-p.slabShare)/p.slabShare*math.Exp(min(700, l0-l1)))
	return story{as, va, 1 - odds, n}, story{at, vt, odds, n}
}

// spell is the third story, weighed against the first: only what ran beside the task counts, for half the time of the
// shorter one or more.
func (b *bench) spell(i int32, is story, known float64, p twoGroup) story {
	b.beside(i)
	n := len(b.tmp)
	if n < 2 { // one other may be chance
		return story{}
	}
	s2 := b.fit.sigma * b.fit.sigma
	_, _, l0 := b.settle(b.tmp, is.at, s2, p.spike+known)
	at, v, l := b.settle(b.tmp, center(b.tmp, b.fit.sigma), s2, p.slab)
	return story{at, v, is.weight * shortSpell * math.Exp(min(50, l-l0)), n}
}

// beside puts the residuals of the tasks that ran on the machine of task i at the same time into tmp: at most 64, those
// that started nearest to it.
func (b *bench) beside(i int32) {
	b.tmp = b.tmp[:0]
	t := &b.tasks[i]
	if !t.Start.OK || math.IsNaN(t.Duration) {
		return
	}
	order := b.byStart(b.local.of[i])
	at, _ := slices.BinarySearchFunc(order, t.Start.V, func(j int32, v schema.Time) int { return cmp.Compare(b.tasks[j].Start.V, v) })
	const most = 32
	for _, j := range order[max(0, at-most):min(len(order), at+most)] {
		o := &b.tasks[j]
		if j == i || b.rowOf[j] < 0 {
			continue
		}
		from, to := max(o.Start.V, t.Start.V), min(o.Start.V.Add(o.Duration), t.Start.V.Add(t.Duration))
		if to.Sub(from) >= 0.5*min(o.Duration, t.Duration) {
			b.tmp = append(b.tmp, b.r[b.rowOf[j]])
		}
	}
}

// byStart lists the tasks on a machine in order of their start, those without one left out.
func (b *bench) byStart(k int32) []int32 {
	for len(b.started) < len(b.local.names) {
		b.started = append(b.started, nil)
	}
	if len(b.started[k]) > 0 {
		return b.started[k]
	}
	order := b.started[k][:0]
	for _, j := range b.local.tasks(k) {
		if b.tasks[j].Start.OK && !math.IsNaN(b.tasks[j].Duration) {
			order = append(order, j)
		}
	}
	slices.SortFunc(order, func(x, y int32) int {
		return cmp.Or(cmp.Compare(b.tasks[x].Start.V, b.tasks[y].Start.V), cmp.Compare(x, y))
	})
	b.started[k] = order
	return order
}

// told is the story that fits the task's own residual r, beyond what was known, best, and the probability that one is
// true that says something else of the machine.
func (b *bench) told(s *[stories]story, r float64) (best int, doubt float64) {
	s2 := b.fit.sigma * b.fit.sigma
	var l [stories]float64
	top := math.Inf(-1)
	for k := range s {
		if s[k].weight <= 0 {
			l[k] = math.Inf(-1)
			continue
		}
		d, v := r-s[k].at, s2+s[k].variance
		l[k] = math.Log(s[k].weight) + math.Log(max(1e-300, b.own.ordinary(d, v)+b.own.density(d, v)))
		if l[k] > top {
			top, best = l[k], k
		}
	}
	const alike = 0.2 // ln(factor)
	var sum, other float64
	for k := range l {
		w := math.Exp(l[k] - top)
		sum += w
		if math.Abs(s[k].at-s[best].at) > alike {
			other += w
		}
	}
	return best, other / sum
}

// settle finds where residuals lie when their place is 0 with variance prior and any of them may be slow by itself: from
// a first guess, by weighing each with the probability that it is an ordinary one. l is the logarithm of the evidence
// for all that (Laplace's approximation).
func (b *bench) settle(r []float64, guess, s2, prior float64) (at, variance, l float64) {
	at = guess
	for range 4 {
		w := 0.0
		sum := 0.0
		for _, x := range r {
			own, usual := b.own.density(x-at, s2), b.own.ordinary(x-at, s2)
			q := usual / (usual + own)
			w += q
			sum += q * x
		}
		variance = 1 / (w/s2 + 1/prior)
		at = sum / s2 * variance
	}
	return at, variance, b.likelihood(r, at, s2) + gauss(at, prior) + 0.5*math.Log(2*math.Pi*variance)
}

// likelihood is the logarithm of the density of residuals around at, when some attempts are slow by themselves.
func (b *bench) likelihood(r []float64, at, s2 float64) (sum float64) {
	for _, x := range r {
		sum += math.Log(max(1e-300, b.own.ordinary(x-at, s2)+b.own.density(x-at, s2)))
	}
	return sum
}

func normal(x, v float64) float64 { return math.Exp(-0.5*x*x/v) / math.Sqrt(2*math.Pi*v) }

func gauss(x, v float64) float64 { return -0.5*x*x/v - 0.5*math.Log(2*math.Pi*v) }

package network

import "math"

// Progressive filling: the rates of all flows grow together from 0. Where a link is full, its flows stay as they are, and
// the others grow on. What results is max-min fair: every flow goes through a full link on which no flow is faster.
//
// A change of a flow whose rate is x, with it or without it, changes nothing below x: until the rates have grown to x the
// fill is the same, except that there is more or less room on links that are not full yet. So a fill starts where the
// slowest flow that has changed stood, and reaches only links that are connected by flows at least as fast as that.

// filling is what a fill works with.
type filling struct {
	dirty []int32  // links whose flows have changed since the last fill
	floor float64  // the slowest rate that a changed class had
	links []int32  // links that take part
	order linkHeap // the same, until they are full
	epoch int32
	level float64 // that the fill has reached
}

// weigh changes how many flows a class has.
func (f *Fluid) weigh(c int32, by float64) {
	x, h := &f.fill, &f.hops[c]
	if len(x.dirty) == 0 {
		x.floor = math.Inf(1)
	}
	x.floor = min(x.floor, f.rates[c])
	f.weights[c] += by
	for _, i := range h.links[:h.n] {
		l := &f.links[i]
		l.weight += by
		if !l.dirty {
			l.dirty = true
			x.dirty = append(x.dirty, i)
		}
	}
	if cl := &f.classes[c]; cl.own >= 0 {
		f.links[cl.own].capacity = cl.key.most * f.weights[c]
	}
	if f.weights[c] == 0 {
		f.drop(c)
	}
}

// refill gives every flow its rate, if any has started or ended since the last time.
func (f *Fluid) refill() {
	x := &f.fill
	if len(x.dirty) == 0 {
		return
	}
	x.level = f.lowest() * (1 - 1e-9) // rates that rounding has put a little below are not settled
	x.epoch++
	x.links, x.order = x.links[:0], x.order[:0]
	for _, i := range x.dirty {
		f.links[i].dirty = false
		f.take(i)
	}
	x.dirty = x.dirty[:0]
	for n := 0; n < len(x.links); n++ {
		f.spread(x.links[n], x.level)
	}
	x.order.init()
	for len(x.order) > 0 {
		f.freeze()
	}
}

// lowest is the level at which the fill first differs from the last one: the slowest rate of a class that has changed,
// or that at which a link with a change is full now.
func (f *Fluid) lowest() float64 {
	floor := f.fill.floor
	for _, i := range f.fill.dirty {
		floor = min(floor, f.fullAt(&f.links[i], floor))
	}
	return floor
}

// fullAt is the level at which a link is full when all that is slower keeps its rate; some level above limit when that
// is above limit.
func (f *Fluid) fullAt(l *link, limit float64) float64 {
	if l.weight == 0 {
		return math.Inf(1)
	}
	level := l.capacity / l.weight
	for level < limit {
		left, open := l.capacity, l.weight
		for _, s := range l.seats {
			c := s.class()
			if rate := f.rates[c]; rate < level {
				left -= rate * f.weights[c]
				open -= f.weights[c]
			}
		}
		if open <= 0 {
			return math.Inf(1)
		}
		next := left / open
		if next <= level {
			break
		}
		level = next
	}
	return level
}

// take makes a link take part in the fill.
func (f *Fluid) take(i int32) {
	if l := &f.links[i]; l.seen != f.fill.epoch {
		l.seen = f.fill.epoch
		f.fill.links = append(f.fill.links, i)
	}
}

// spread finds what of a link is settled, and takes the other links of the flows that are not.
func (f *Fluid) spread(i int32, floor float64) {
	x, l := &f.fill, &f.links[i]
	l.carried += l.load * (f.now - l.since)
	l.since = f.now
	load, open, settled := 0.0, 0.0, int32(0)
	for n, s := range l.seats {
		c := s.class()
		rate, weight := f.rates[c], f.weights[c]
		if rate < floor { // nearly all of them come first
			load += rate * weight
			if int32(n) != settled {
				f.sit(l, l.seats[settled], int32(n))
				f.sit(l, s, settled)
			}
			settled++
			continue
		}
		open += weight
		h := &f.hops[c]
		for _, k := range h.links[:h.n] {
			f.take(k)
		}
	}
	l.load, l.open, l.left, l.settled = load, open, max(l.capacity-load, 0), settled
	if open > 0 {
		x.order = append(x.order, share{l.left / open, i})
	}
}

// freeze settles the flows of the link that is full next. As the rates grow a link's share of what is left only grows
// too, so that a share computed earlier is a lower bound: the first of the heap is computed anew until it stays first.
func (f *Fluid) freeze() {
	x := &f.fill
	i := x.order[0].link
	l := &f.links[i]
	if l.open <= 0 {
		x.order.pop()
		return
	}
	rate := max(l.left/l.open, x.level) // rounding must not make it less
	if x.order[0].rate = rate; x.order.down(0) {
		return
	}
	x.level = rate
	again := 1 / rate
	for _, s := range l.seats[l.settled:] {
		c := s.class()
		weight, h := f.weights[c], &f.hops[c]
		used := rate * weight
		for n, k := range h.links[:h.n] {
			if k == i {
				continue
			}
			m := &f.links[k]
			m.open -= weight
			m.left = max(m.left-used, 0)
			m.load += used
			at := h.at[n]
			f.sit(m, m.seats[m.settled], at)
			f.sit(m, seat(c<<3|int32(n)), m.settled)
			m.settled++
		}
		l.load += used
		if f.rates[c] != rate {
			f.settle(c)
			f.rates[c] = rate
			cl := &f.classes[c]
			f.nexts.set(c, f.now+(cl.marks[0].at-cl.moved)*again)
		}
	}
	l.open, l.settled = 0, int32(len(l.seats))
	x.order.pop()
}

// expect notes when the next flow of a class ends at its present rate.
func (f *Fluid) expect(c int32) {
	cl, rate := &f.classes[c], f.rates[c]
	if f.weights[c] == 0 || math.IsInf(rate, 1) {
		f.nexts.set(c, math.Inf(1))
		return
	}
	f.nexts.set(c, f.now+(cl.marks[0].at-cl.moved)/rate)
}

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
	dirty []int32 // links whose flows have changed since the last fill
	floor float64 // the slowest rate that a changed class had
	links []int32 // links that take part: a heap by key
	open  []int32 // by class: epoch in which its rate is not settled
	epoch int32
	level float64 // that the fill has reached
}

// weigh changes how many flows a class has.
func (f *Fluid) weigh(c int32, by float64) {
	cl := &f.classes[c]
	if len(f.fill.dirty) == 0 {
		f.fill.floor = math.Inf(1)
	}
	f.fill.floor = min(f.fill.floor, cl.rate)
	cl.weight += by
	for n := range cl.n {
		i := cl.links[n]
		l := &f.links[i]
		l.weight += by
		if !l.dirty {
			l.dirty = true
			f.fill.dirty = append(f.fill.dirty, i)
		}
	}
	if cl.own >= 0 {
		f.links[cl.own].capacity = cl.key.most * cl.weight
	}
	if cl.weight == 0 {
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
	x.links = x.links[:0]
	for _, i := range x.dirty {
		f.links[i].dirty = false
		f.take(i)
	}
	x.dirty = x.dirty[:0]
	for n := 0; n < len(x.links); n++ {
		f.spread(x.links[n], x.level)
	}
	f.heapify()
	for len(x.links) > 0 {
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

// fullAt is the level at which a link is full when all that is slower keeps its rate; +Inf when that is above limit.
func (f *Fluid) fullAt(l *link, limit float64) float64 {
	if l.weight == 0 {
		return math.Inf(1)
	}
	level := l.capacity / l.weight
	for {
		left, open := l.capacity, l.weight
		for _, c := range l.classes {
			if cl := &f.classes[c]; cl.rate < level {
				left -= cl.rate * cl.weight
				open -= cl.weight
			}
		}
		if open <= 0 {
			return math.Inf(1)
		}
		next := left / open
		if next <= level || next >= limit {
			return max(next, level)
		}
		level = next
	}
}

// take makes a link take part in the fill.
func (f *Fluid) take(i int32) {
	l := &f.links[i]
	if l.seen == f.fill.epoch {
		return
	}
	l.seen = f.fill.epoch
	f.fill.links = append(f.fill.links, i)
}

// spread finds what of a link is settled, and takes the other links of the flows that are not.
func (f *Fluid) spread(i int32, floor float64) {
	l := &f.links[i]
	l.carried += l.load * (f.now - l.since)
	l.since = f.now
	l.open, l.load = 0, 0
	for _, c := range l.classes {
		cl := &f.classes[c]
		if cl.rate < floor {
			l.load += cl.rate * cl.weight
			continue
		}
		l.open += cl.weight
		if f.fill.open[c] == f.fill.epoch {
			continue
		}
		f.fill.open[c] = f.fill.epoch
		for n := range cl.n {
			f.take(cl.links[n])
		}
	}
	l.left = max(l.capacity-l.load, 0)
	l.key = math.Inf(1)
	if l.open > 0 {
		l.key = l.left / l.open
	}
}

// freeze settles the flows of the link that is full next. As the rates grow a link's share of what is left only grows
// too, so that a share computed earlier is a lower bound: the first of the heap is computed anew until it stays first.
func (f *Fluid) freeze() {
	x := &f.fill
	i := x.links[0]
	l := &f.links[i]
	if l.open <= 0 {
		f.popLink()
		return
	}
	share := max(l.left/l.open, x.level) // rounding must not make it less
	if l.key = share; !f.firstLink() {
		f.down(0)
		return
	}
	x.level = share
	again := 1 / share
	for _, c := range l.classes {
		if x.open[c] != x.epoch {
			continue
		}
		x.open[c] = 0
		cl := &f.classes[c]
		used := share * cl.weight
		for n := range cl.n {
			m := &f.links[cl.links[n]]
			m.open -= cl.weight
			m.left = max(m.left-used, 0)
			m.load += used
		}
		if cl.rate != share {
			f.settle(cl)
			cl.rate = share
			f.nexts.set(c, f.now+(cl.marks[0].at-cl.moved)*again)
		}
	}
	f.popLink()
}

// expect notes when the next flow of a class ends at its present rate.
func (f *Fluid) expect(c int32) {
	cl := &f.classes[c]
	if cl.weight == 0 || math.IsInf(cl.rate, 1) {
		f.nexts.set(c, math.Inf(1))
		return
	}
	f.nexts.set(c, f.now+(cl.marks[0].at-cl.moved)/cl.rate)
}

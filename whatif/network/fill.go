package network

import "math"

// Progressive filling: the rates of all flows grow together from 0. When a link is full, its flows keep their rates, and the
// others continue to grow. The result is max-min fair: every flow passes through a full link on which no flow is faster.
//
// After a change only a part is filled again. The links of the changed flows take part, and the flows that such a link limits
// become unsettled: their other links take part too, and so on. All others keep their rates, unless one turns out to be faster
// than a link of it that is now full; then the link that limits it takes part from there on. In the end, every flow again has a
// full link on which none is faster, and there is only one such set of rates.

// filling is the working memory of a fill.
type filling struct {
	dirty     []int32 // links whose flows have changed since the last fill
	links     []int32 // links that take part
	spread    int     // number of these links that have unsettled the flows that they limit
	growing   []int32 // those of the links with unsettled flows
	fullAt    minima  // of these: the rate at which it is full if all its unsettled flows continue to grow
	others    []int32
	faster    []int32 // classes that a full link takes over
	epoch     int32
	level     float64 // reached by the fill
	unsettled int     // classes
}

// weigh changes the number of flows of a class. A class without flows is dropped.
func (f *Fluid) weigh(c, by int32) {
	x, s := &f.fill, &f.shares[c]
	rate := 0.0
	if h := f.holders[c]; h > 0 {
		rate = f.links[h].level
	}
	s.weight += by
	f.ledgers[f.holders[c]].held[f.places[c]].what.weight = s.weight
	for _, i := range s.links[:s.n] {
		l, k := &f.ledgers[i], &f.links[i]
		if f.bring(i); !l.dirty {
			l.dirty = true
			x.dirty = append(x.dirty, i)
		}
		k.load += rate * float64(by)
		if l.weight += float64(by); l.weight == 0 {
			k.load = 0 // removes what rounding left
		}
	}
	if own := f.classes[c].own; own > 0 {
		f.links[own].capacity = f.classes[c].key.most * float64(s.weight)
	}
	if s.weight == 0 {
		f.drop(c)
	}
}

// refill computes the rate of every flow, if any has started or ended since the last call.
func (f *Fluid) refill() {
	x := &f.fill
	if len(x.dirty) == 0 {
		return
	}
	x.epoch++
	x.growing = x.growing[:0]
	x.fullAt.reset()
	x.links, x.spread, x.level, x.unsettled = x.links[:0], 0, 0, 0
	f.take(0)
	for _, i := range x.dirty {
		f.ledgers[i].dirty = false
		f.take(i)
	}
	x.dirty = x.dirty[:0]
	f.spread()
	for _, i := range x.links {
		f.grow(i)
	}
	for x.unsettled > 0 {
		f.freeze()
	}
	for _, i := range x.links {
		f.expect(i)
	}
}

// take includes a link in the fill.
func (f *Fluid) take(i int32) {
	if l := &f.links[i]; l.epoch != f.fill.epoch {
		l.epoch, l.slot = f.fill.epoch, -1
		f.bring(i)
		f.fill.links = append(f.fill.links, i)
	}
}

// spread unsettles the flows limited by the links newly included, and includes all links that this affects.
func (f *Fluid) spread() {
	x := &f.fill
	for ; x.spread < len(x.links); x.spread++ {
		i := x.links[x.spread]
		held := f.ledgers[i].held
		if len(held) == 0 {
			f.links[i].level = math.Inf(1)
			continue
		}
		rate, all := f.links[i].level, 0.0
		if i == 0 {
			rate = 0
		}
		f.links[i].level = math.Inf(1)
		x.unsettled += len(held)
		for n := range held {
			d := &held[n]
			weight := float64(d.what.weight)
			all += weight
			if d.what.other > 0 {
				f.unsettle(d.what.other, rate, weight)
				continue
			}
			for _, k := range f.others(d, i) {
				f.unsettle(k, rate, weight)
			}
		}
		if i > 0 {
			f.links[i].load -= rate * all
			f.links[i].open += all
		}
	}
}

// others returns the links of a class except one of them. The slice must not be kept.
func (f *Fluid) others(d *due[pull], but int32) []int32 {
	x, s := &f.fill, &f.shares[d.id]
	x.others = x.others[:0]
	for _, k := range s.links[:s.n] {
		if k != but {
			x.others = append(x.others, k)
		}
	}
	return x.others
}

// unsettle removes flows that had a rate from a link.
func (f *Fluid) unsettle(i int32, rate, weight float64) {
	f.take(i)
	l := &f.links[i]
	l.load -= rate * weight
	l.open += weight
}

// grow records when a link is full if all its unsettled flows continue to grow.
func (f *Fluid) grow(i int32) {
	x, l := &f.fill, &f.links[i]
	switch {
	case l.open > 0 && l.slot >= 0:
		x.fullAt.set(l.slot, max(l.capacity-l.load, 0)/l.open)
	case l.open > 0:
		l.slot = int32(len(x.growing))
		x.growing = append(x.growing, i)
		x.fullAt.add(max(l.capacity-l.load, 0) / l.open)
	case l.slot >= 0:
		last := x.growing[len(x.growing)-1]
		f.links[last].slot = l.slot
		x.growing[l.slot] = last
		x.growing = x.growing[:len(x.growing)-1]
		x.fullAt.remove(l.slot)
		l.slot = -1
	}
}

// freeze settles the flows of the link that becomes full next.
func (f *Fluid) freeze() {
	x := &f.fill
	slot, rate := x.fullAt.least()
	rate = max(rate, x.level) // rounding must not reduce it
	i := x.growing[slot]
	l := &f.links[i]
	l.level = rate
	if !f.fastest(i) {
		l.level = math.Inf(1)
		f.draw()
		return
	}
	x.level = rate
	for _, c := range x.faster {
		f.hold(c, i)
	}
	held := f.ledgers[i].held
	for n := range held {
		d := &held[n]
		weight := float64(d.what.weight)
		if d.what.other > 0 {
			f.pour(d.what.other, rate, weight)
			continue
		}
		for _, k := range f.others(d, i) {
			f.pour(k, rate, weight)
		}
	}
	x.unsettled -= len(held)
	l.load, l.open = l.capacity, 0
	f.grow(i)
}

// fastest lists the classes of a link that are faster than its level, which it is to take over, unless one of them does not
// take part.
func (f *Fluid) fastest(i int32) bool {
	x := &f.fill
	x.faster = x.faster[:0]
	limit, inside := f.links[i].level*(1+1e-12), true // a difference due to rounding is not faster
	for _, c := range f.ledgers[i].seats {
		if h := &f.links[f.holders[c]]; h.level > limit {
			x.faster = append(x.faster, c)
			inside = inside && h.epoch == x.epoch
		}
	}
	return inside
}

// draw includes the links that limit the faster classes.
func (f *Fluid) draw() {
	x := &f.fill
	for _, c := range x.faster {
		f.take(f.holders[c])
	}
	from := x.spread
	f.spread()
	for _, i := range x.links[from:] {
		for _, d := range f.ledgers[i].held {
			s := &f.shares[d.id]
			for _, k := range s.links[:s.n] {
				f.grow(k)
			}
		}
	}
}

// pour settles flows of a link at a rate.
func (f *Fluid) pour(i int32, rate, weight float64) {
	l := &f.links[i]
	l.open -= weight
	l.load += rate * weight
	f.grow(i)
}

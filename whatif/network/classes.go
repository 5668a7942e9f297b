package network

import "math"

// Flows with the same path and limit always have the same rate: they form a class. All classes limited by the same link have
// the same rate, the level at which that link is full. So an event changes the level of some links, and the limiting link of a
// few classes, but nothing in the flows: each ends when the bytes moved by its class reach its mark, and these follow from the
// reach of the limiting link, a clock that counts bytes.

// key is what flows that always have the same rate have in common.
type key struct {
	path Path
	most float64
}

// class is the set of flows of a key.
type class struct {
	offset float64         // each flow has moved this plus the reach of its holder since the class began
	ends   dues[struct{}]  // flows, by the bytes that the class has moved when they end
	own    int32           // link that represents key.most, 0: none
	at     [maxLinks]int32 // its seat at each link
	key    key
}

// share is the part of a class that fills read: its number of flows, and its links.
type share struct {
	weight int32
	n      int32
	links  [maxLinks]int32
}

// link is the part of a link that fills read.
type link struct {
	capacity float64
	load     float64 // bytes/s
	open     float64 // while filling: flows that are not settled
	level    float64 // rate of the flows that it limits; +Inf: it is not full
	epoch    int32   // of the last fill in which it took part
	slot     int32   // while filling: its position among the growing ones, -1: none
}

// pull is what fills need of a class that a link limits, stored together: its number of flows, and its other link, 0 if it has
// none and -1 if it has several.
type pull struct{ weight, other int32 }

// pull returns that of a class on one of its links, or on link 0, which has no classes.
func (s *share) pull(link int32) pull {
	other := int32(-1)
	switch {
	case s.n == 1:
		other = 0
	case s.n == 2 && link > 0:
		other = s.links[0] + s.links[1] - link
	}
	return pull{s.weight, other}
}

// ledger is the remaining state of a link.
type ledger struct {
	seats   []int32    // classes with flows on it
	weight  float64    // flows on it
	held    dues[pull] // classes that it limits, by its reach when their next flow ends
	reach   float64    // bytes that a flow limited by it all the time has moved until since
	carried float64    // bytes carried until since
	since   float64
	dirty   bool
}

// moved returns the bytes that each flow of a class has moved since the class began.
func (f *Fluid) moved(c int32) float64 {
	cl, i := &f.classes[c], f.holders[c]
	if i == 0 {
		return cl.offset
	}
	l := &f.ledgers[i]
	return cl.offset + l.reach + f.links[i].level*(f.now-l.since)
}

// bring advances the clocks of a link to the current instant.
func (f *Fluid) bring(i int32) {
	l, k := &f.ledgers[i], &f.links[i]
	l.carried += k.load * (f.now - l.since)
	if i > 0 && len(l.held) > 0 {
		l.reach += k.level * (f.now - l.since)
	} else {
		l.reach = 0
	}
	l.since = f.now
}

// expect records when the next of the flows that a link limits ends. Its clocks must be at the current instant.
func (f *Fluid) expect(i int32) {
	l := &f.ledgers[i]
	if i == 0 || len(l.held) == 0 {
		f.nexts.set(i, math.Inf(1))
		return
	}
	f.nexts.set(i, max(f.now+(l.held[0].at-l.reach)/f.links[i].level, f.now))
}

// rank restores the order among the classes that a link limits after the next end of one may have changed.
func (f *Fluid) rank(c int32) {
	if s := &f.shares[c]; s.weight > 0 {
		cl := &f.classes[c]
		f.ledgers[f.holders[c]].held.move(f.places[c], cl.ends[0].at-cl.offset, f.places)
	}
}

// hold makes a link the one that limits a class. The clocks of this link and of the previous one must be at the current
// instant.
func (f *Fluid) hold(c, i int32) {
	cl, l := &f.classes[c], &f.ledgers[i]
	old := &f.ledgers[f.holders[c]]
	old.held.remove(f.places[c], f.places)
	cl.offset += old.reach - l.reach
	l.held.push(due[pull]{cl.ends[0].at - cl.offset, c, f.shares[c].pull(i)}, f.places)
	f.holders[c] = i
}

// classOf finds or creates the class of a key.
func (f *Fluid) classOf(k key) int32 {
	if c, ok := f.byKey[k]; ok {
		return c
	}
	c := int32(len(f.classes))
	if n := len(f.unused); n > 0 {
		c = f.unused[n-1]
		f.unused = f.unused[:n-1]
	} else {
		f.classes, f.shares = append(f.classes, class{}), append(f.shares, share{})
		f.holders, f.places = append(f.holders, 0), append(f.places, 0)
	}
	cl, s := &f.classes[c], &f.shares[c]
	*cl = class{key: k, ends: cl.ends[:0]}
	*s = share{n: int32(k.path.len())}
	f.holders[c] = 0
	copy(s.links[:], k.path[:])
	if k.most > 0 {
		cl.own = f.ownLink()
		s.links[s.n] = cl.own
		s.n++
	}
	for n, i := range s.links[:s.n] {
		l := &f.ledgers[i]
		cl.at[n] = int32(len(l.seats))
		l.seats = append(l.seats, c)
	}
	f.ledgers[0].held.push(due[pull]{id: c, what: s.pull(0)}, f.places)
	f.byKey[k] = c
	return c
}

// drop deletes a class without flows.
func (f *Fluid) drop(c int32) {
	cl, s := &f.classes[c], &f.shares[c]
	for n, i := range s.links[:s.n] {
		l := &f.ledgers[i]
		last := l.seats[len(l.seats)-1]
		l.seats = l.seats[:len(l.seats)-1]
		if last != c {
			l.seats[cl.at[n]] = last
			f.sits(last, i, cl.at[n])
		}
	}
	f.ledgers[f.holders[c]].held.remove(f.places[c], f.places)
	delete(f.byKey, cl.key)
	if cl.own > 0 {
		f.spare = append(f.spare, cl.own)
	}
	f.unused = append(f.unused, c)
}

// sits records the seat of a class at a link.
func (f *Fluid) sits(c, link, at int32) {
	s := &f.shares[c]
	for n, i := range s.links[:s.n] {
		if i == link {
			f.classes[c].at[n] = at
		}
	}
}

// newLink adds a link without flows.
func (f *Fluid) newLink() int32 {
	f.links = append(f.links, link{level: math.Inf(1)})
	f.ledgers = append(f.ledgers, ledger{since: f.now})
	f.nexts.add(math.Inf(1))
	return int32(len(f.links) - 1)
}

// ownLink returns a link for the limit of a class.
func (f *Fluid) ownLink() int32 {
	n := len(f.spare)
	if n == 0 {
		return f.newLink()
	}
	i := f.spare[n-1]
	f.spare = f.spare[:n-1]
	f.links[i].load = 0
	l := &f.ledgers[i]
	l.reach, l.carried, l.since = 0, 0, f.now
	return i
}

package network

import "math"

// Flows with the same path and limit always have the same rate: they are a class. And all classes that the same link
// holds back have the same rate, the level at which that link is full. So an event changes the level of some links and
// which link holds back a few classes, but nothing of the flows: each ends when what its class has moved reaches its mark,
// and what the class has moved follows from the reach of the link that holds it back, a clock that runs in bytes.

// key is what flows have in common that always have the same rate.
type key struct {
	path Path
	most float64
}

// class is the flows of a key.
type class struct {
	offset float64         // each has moved this and the reach of its holder since the class began
	ends   dues[struct{}]  // flows, by what the class has moved when they end
	own    int32           // link that stands for key.most, 0: none
	at     [maxLinks]int32 // its seat at each link
	key    key
}

// share is what fills look at of a class: how many flows it has, and its links.
type share struct {
	weight int32
	n      int32
	links  [maxLinks]int32
}

// link is what fills look at of a link.
type link struct {
	capacity float64
	load     float64 // bytes/s
	open     float64 // while filling: flows that are not settled
	level    float64 // rate of the flows that it holds back; +Inf: it is not full
	epoch    int32   // of the last fill in which it took part
	slot     int32   // while filling: its place among the growing ones, -1: none
}

// pull is what fills need of a class that a link holds back, in one piece: how many flows it has, and its other link, 0
// where it has none and -1 where it has several.
type pull struct{ weight, other int32 }

// pull is that of a class on one of its links, or on link 0, of which it is not.
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

// ledger is the rest of a link.
type ledger struct {
	seats   []int32    // classes with flows on it
	weight  float64    // flows on it
	held    dues[pull] // classes that it holds back, by its reach when their next flow ends
	reach   float64    // bytes that a flow that it always held back has moved until since
	carried float64    // bytes until since
	since   float64
	dirty   bool
}

// moved is what a flow of a class has moved since the class began.
func (f *Fluid) moved(c int32) float64 {
	cl, i := &f.classes[c], f.holders[c]
	if i == 0 {
		return cl.offset
	}
	l := &f.ledgers[i]
	return cl.offset + l.reach + f.links[i].level*(f.now-l.since)
}

// bring brings the clocks of a link to the instant.
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

// expect notes when the next of the flows that a link holds back ends. Its clocks must be at the instant.
func (f *Fluid) expect(i int32) {
	l := &f.ledgers[i]
	if i == 0 || len(l.held) == 0 {
		f.nexts.set(i, math.Inf(1))
		return
	}
	f.nexts.set(i, max(f.now+(l.held[0].at-l.reach)/f.links[i].level, f.now))
}

// rank puts a class, whose next end may have changed, where it belongs among those that its link holds back.
func (f *Fluid) rank(c int32) {
	if s := &f.shares[c]; s.weight > 0 {
		cl := &f.classes[c]
		f.ledgers[f.holders[c]].held.move(f.places[c], cl.ends[0].at-cl.offset, f.places)
	}
}

// hold makes a link the one that holds back a class. The clocks of it and of the one before must be at the instant.
func (f *Fluid) hold(c, i int32) {
	cl, l := &f.classes[c], &f.ledgers[i]
	old := &f.ledgers[f.holders[c]]
	old.held.remove(f.places[c], f.places)
	cl.offset += old.reach - l.reach
	l.held.push(due[pull]{cl.ends[0].at - cl.offset, c, f.shares[c].pull(i)}, f.places)
	f.holders[c] = i
}

// classOf finds the class of a key, or makes it.
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

// drop forgets a class without flows.
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

// sits notes the seat of a class at a link.
func (f *Fluid) sits(c, link, at int32) {
	s := &f.shares[c]
	for n, i := range s.links[:s.n] {
		if i == link {
			f.classes[c].at[n] = at
		}
	}
}

// newLink adds a link that carries nothing.
func (f *Fluid) newLink() int32 {
	f.links = append(f.links, link{level: math.Inf(1)})
	f.ledgers = append(f.ledgers, ledger{since: f.now})
	f.nexts.add(math.Inf(1))
	return int32(len(f.links) - 1)
}

// ownLink is a link for the limit of a class.
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

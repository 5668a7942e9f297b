package network

import (
	"math"
	"slices"
)

// maxLinks is how many links a flow can go through: a disk, two interfaces, an uplink, a downlink, and its own limit.
const maxLinks = 6

// Path is the links that a flow goes through, as number + 1, the rest 0; each link stands in it once. The zero Path has
// no links, and what takes it arrives at once.
type Path [maxLinks - 1]int32

// path is a path of one link; -1 is none.
func path(link int32) Path { return Path{}.via(link) }

func (p Path) via(link int32) Path {
	if link >= 0 {
		p[p.len()] = link + 1
	}
	return p
}

func (p Path) len() int {
	n := 0
	for n < len(p) && p[n] != 0 {
		n++
	}
	return n
}

// PathOf is the path through some links, at most five.
func PathOf(links ...int32) Path {
	var p Path
	for _, l := range links {
		p = p.via(l)
	}
	return p
}

// Flow is a transfer: Count equal ones, of Bytes each, that start together and therefore end together.
type Flow struct {
	Path  Path
	Bytes float64
	Most  float64 // bytes/s that each gets at most; 0: what the links give
	Count int32   // 0 is 1
	Tag   int32   // the caller's own
}

// ID names a flow until it has ended.
type ID int32

// Ended is a flow that has ended.
type Ended struct {
	ID  ID
	Tag int32
	At  float64 // seconds
	seq int64
}

// Fluid is links with flows on them at an instant.
type Fluid struct {
	now     float64
	links   []link
	spare   []int32 // links of classes that are gone
	classes []class
	rates   []float64 // bytes/s of each flow of a class; +Inf until first filled
	weights []float64 // flows of a class
	hops    []hops    // links of a class
	unused  []int32   // classes that are gone
	byKey   map[key]int32
	flows   []flow
	freed   []ID
	seq     int64
	nexts   nexts
	fill    filling
	ended   []Ended
	instant []Ended // flows that take no time
}

// link is a link, and what it carries.
type link struct {
	left, open float64 // while filling: capacity and flows that are not settled
	load       float64 // bytes/s
	settled    int32   // while filling: how many of the seats are
	seen       int32
	seats      []seat // classes with flows on it, the slower ones first but for those that came since the last fill
	capacity   float64
	weight     float64 // flows on it
	carried    float64 // bytes until since
	since      float64
	dirty      bool
}

// seat is a class and which of the class's links it stands at: class·8 + hop.
type seat int32

func (s seat) class() int32 { return int32(s >> 3) }
func (s seat) hop() int32   { return int32(s & 7) }

// key is what flows have in common that always have the same rate.
type key struct {
	path Path
	most float64
}

// hops are the links of a class; what fills look at most often is kept apart from the rest.
type hops struct {
	n     int32
	links [maxLinks]int32
	at    [maxLinks]int32 // its seat at each
}

// class is the flows of a key. What one of them has moved since the class began is the same for all: each ends when that
// has reached its mark.
type class struct {
	moved float64 // by each until since
	since float64
	marks []mark // a heap
	own   int32  // link that stands for key.most, -1: none
	key   key
}

// mark is when a flow ends, in bytes moved by its class.
type mark struct {
	at float64
	id ID
}

type flow struct {
	class, place, tag, count int32
	begin                    float64 // moved by its class when it began
	seq                      int64
}

// NewFluid gives links of so many bytes/s, each above 0, without flows, at instant 0.
func NewFluid(capacity []float64) *Fluid {
	f := &Fluid{links: make([]link, len(capacity)), byKey: map[key]int32{}}
	for i, c := range capacity {
		f.links[i].capacity = c
	}
	return f
}

// Now is the instant.
func (f *Fluid) Now() float64 { return f.now }

// Start starts a flow at the instant.
func (f *Fluid) Start(x Flow) ID {
	count := max(x.Count, 1)
	id := f.name(flow{tag: x.Tag, count: count, class: -1})
	if !(x.Bytes > 0) || x.Path == (Path{}) && !(x.Most > 0) {
		f.instant = append(f.instant, Ended{ID: id, Tag: x.Tag, At: f.now, seq: f.flows[id].seq})
		return id
	}
	c := f.classOf(key{x.Path, max(x.Most, 0)})
	f.settle(c)
	cl := &f.classes[c]
	f.flows[id].class, f.flows[id].begin = c, cl.moved
	f.weigh(c, float64(count))
	f.push(cl, mark{cl.moved + x.Bytes, id})
	f.expect(c)
	return id
}

func (f *Fluid) name(x flow) ID {
	f.seq++
	x.seq = f.seq
	if n := len(f.freed); n > 0 {
		id := f.freed[n-1]
		f.freed = f.freed[:n-1]
		f.flows[id] = x
		return id
	}
	f.flows = append(f.flows, x)
	return ID(len(f.flows) - 1)
}

// Cancel ends a flow before its time and gives the bytes that each of its transfers has moved.
func (f *Fluid) Cancel(id ID) float64 {
	fl := &f.flows[id]
	if fl.class < 0 { // it took no time and would have been told of by the next Advance
		f.instant = slices.DeleteFunc(f.instant, func(e Ended) bool { return e.ID == id })
		f.freed = append(f.freed, id)
		return 0
	}
	c := fl.class
	cl := &f.classes[c]
	f.settle(c)
	moved := cl.moved - fl.begin
	f.remove(cl, fl.place)
	f.freed = append(f.freed, id)
	f.weigh(c, -float64(fl.count))
	f.expect(c)
	return moved
}

// Next is when the next flow ends, if no other starts before.
func (f *Fluid) Next() (at float64, ok bool) {
	if len(f.instant) > 0 {
		return f.now, true
	}
	f.refill()
	at = f.nexts.min()
	return at, !math.IsInf(at, 1)
}

// Advance moves the instant and gives the flows that have ended until then, in the order in which they did; those that
// end together in the order in which they started. The slice is valid until the next call.
func (f *Fluid) Advance(to float64) []Ended {
	f.ended = append(f.ended[:0], f.instant...)
	f.instant = f.instant[:0]
	for _, e := range f.ended {
		f.freed = append(f.freed, e.ID)
	}
	for {
		f.refill()
		at := f.nexts.min()
		if at > to {
			break
		}
		f.now = max(f.now, at)
		f.end(f.now * (1 + 1e-12)) // what rounding has torn apart ends together
	}
	f.now = max(f.now, to)
	return f.ended
}

// end ends the flows that end until an instant.
func (f *Fluid) end(until float64) {
	from := len(f.ended)
	for c := f.nexts.first(until); c >= 0; c = f.nexts.first(until) {
		cl := &f.classes[c]
		cl.moved, cl.since = cl.marks[0].at, f.now
		gone := 0.0
		for len(cl.marks) > 0 && cl.marks[0].at <= cl.moved {
			id := cl.marks[0].id
			fl := &f.flows[id]
			f.remove(cl, 0)
			f.ended = append(f.ended, Ended{ID: id, Tag: fl.tag, At: f.now, seq: fl.seq})
			f.freed = append(f.freed, id)
			gone += float64(fl.count)
		}
		f.weigh(c, -gone)
		f.expect(c)
	}
	slices.SortFunc(f.ended[from:], func(a, b Ended) int { return int(a.seq - b.seq) })
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
		f.classes = append(f.classes, class{})
		f.rates, f.weights, f.hops = append(f.rates, 0), append(f.weights, 0), append(f.hops, hops{})
		f.nexts.grow()
	}
	cl, h := &f.classes[c], &f.hops[c]
	*cl = class{key: k, own: -1, since: f.now, marks: cl.marks[:0]}
	*h = hops{}
	f.rates[c] = math.Inf(1)
	for n := range k.path.len() {
		h.links[n] = k.path[n] - 1
		h.n++
	}
	if k.most > 0 {
		cl.own = f.ownLink()
		h.links[h.n] = cl.own
		h.n++
	}
	for n := range h.n {
		l := &f.links[h.links[n]]
		h.at[n] = int32(len(l.seats))
		l.seats = append(l.seats, seat(c<<3|n))
	}
	f.byKey[k] = c
	return c
}

func (f *Fluid) ownLink() int32 {
	if n := len(f.spare); n > 0 {
		l := f.spare[n-1]
		f.spare = f.spare[:n-1]
		f.links[l] = link{seats: f.links[l].seats[:0], since: f.now}
		return l
	}
	f.links = append(f.links, link{since: f.now})
	return int32(len(f.links) - 1)
}

// drop forgets a class without flows.
func (f *Fluid) drop(c int32) {
	cl, h := &f.classes[c], &f.hops[c]
	for n := range h.n {
		l := &f.links[h.links[n]]
		last := l.seats[len(l.seats)-1]
		l.seats = l.seats[:len(l.seats)-1]
		if last.class() != c {
			f.sit(l, last, h.at[n])
		}
	}
	delete(f.byKey, cl.key)
	if cl.own >= 0 {
		f.spare = append(f.spare, cl.own)
	}
	f.rates[c] = 0
	f.unused = append(f.unused, c)
}

// sit gives a class a seat at a link.
func (f *Fluid) sit(l *link, s seat, at int32) {
	l.seats[at] = s
	f.hops[s.class()].at[s.hop()] = at
}

// settle counts what a class has moved until now.
func (f *Fluid) settle(c int32) {
	cl := &f.classes[c]
	if f.weights[c] > 0 && f.now > cl.since {
		cl.moved += f.rates[c] * (f.now - cl.since)
	}
	cl.since = f.now
}

// Rate is the rate of each transfer of a flow, bytes/s.
func (f *Fluid) Rate(id ID) float64 {
	f.refill()
	if c := f.flows[id].class; c >= 0 {
		return f.rates[c]
	}
	return math.Inf(1)
}

// Capacity and Load are what a link can carry and carries, bytes/s.
func (f *Fluid) Capacity(link int32) float64 { return f.links[link].capacity }
func (f *Fluid) Load(link int32) float64     { f.refill(); return f.links[link].load }

// Flows is how many transfers a link carries.
func (f *Fluid) Flows(link int32) float64 { return f.links[link].weight }

// Carried is the bytes that a link has carried so far.
func (f *Fluid) Carried(link int32) float64 {
	f.refill()
	l := &f.links[link]
	return l.carried + l.load*(f.now-l.since)
}

package network

import (
	"math"
	"slices"
)

// maxLinks is the largest number of links of a flow: a disk, two interfaces, an uplink, a downlink, and its own limit.
const maxLinks = 6

// Path holds the links of a flow, as number + 1, the rest 0; each link occurs once. The zero Path has no links, and its flows
// arrive at once.
type Path [maxLinks - 1]int32

// path returns a path of one link; -1 is none.
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

// Flow is a transfer: Count equal ones, of Bytes each, that start together and therefore end together.
type Flow struct {
	Path  Path
	Bytes float64
	Most  float64 // limit of each in bytes/s; 0: none beside the links
	Count int32   // 0 is 1
	Tag   int32   // the caller's own
}

// ID identifies a flow until it has ended.
type ID int32

// Ended is a flow that has ended.
type Ended struct {
	ID  ID
	Tag int32
	At  float64 // seconds
	seq int64
}

// Fluid is a set of links with flows on them at an instant. Links, classes and flows are numbers; link 0 stands for none, so
// the numbers are those of a Path.
type Fluid struct {
	now     float64
	links   []link
	ledgers []ledger // of the links
	spare   []int32  // links of classes that are gone
	shares  []share  // of the classes
	holders []int32  // of the classes: the limiting link, 0 until first filled
	classes []class
	places  []int32 // of the classes, among those limited by the same link
	unused  []int32 // classes that are gone
	byKey   map[key]int32
	flows   []flow
	marks   []int32 // of the flows: their positions in the class
	freed   []ID
	seq     int64
	nexts   minima // when the next of the flows limited by each link ends
	fill    filling
	ended   []Ended
	instant []Ended // flows that take no time
}

type flow struct {
	class, tag, count int32
	begin             float64 // moved by its class when it began
	seq               int64
}

// NewFluid returns links with the given bytes/s, each above 0, without flows, at instant 0.
func NewFluid(capacity []float64) *Fluid {
	f := &Fluid{byKey: map[key]int32{}}
	for n := range len(capacity) + 1 {
		f.newLink()
		if n > 0 {
			f.links[n].capacity = capacity[n-1]
		}
	}
	return f
}

// Start starts a flow at the current instant.
func (f *Fluid) Start(x Flow) ID {
	count := max(x.Count, 1)
	id := f.name(flow{tag: x.Tag, count: count, class: -1})
	if !(x.Bytes > 0) || x.Path == (Path{}) && !(x.Most > 0) {
		f.instant = append(f.instant, Ended{ID: id, Tag: x.Tag, At: f.now, seq: f.flows[id].seq})
		return id
	}
	c := f.classOf(key{x.Path, max(x.Most, 0)})
	cl := &f.classes[c]
	begin := f.moved(c)
	f.flows[id].class, f.flows[id].begin = c, begin
	cl.ends.push(due[struct{}]{at: begin + x.Bytes, id: int32(id)}, f.marks)
	f.weigh(c, count)
	f.rank(c)
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
	f.flows, f.marks = append(f.flows, x), append(f.marks, 0)
	return ID(len(f.flows) - 1)
}

// Cancel ends a flow early and returns the bytes that each of its transfers has moved.
func (f *Fluid) Cancel(id ID) float64 {
	fl := &f.flows[id]
	if fl.class < 0 { // it took no time, and the next Advance would have reported it
		f.instant = slices.DeleteFunc(f.instant, func(e Ended) bool { return e.ID == id })
		f.freed = append(f.freed, id)
		return 0
	}
	c := fl.class
	moved := f.moved(c) - fl.begin
	f.classes[c].ends.remove(f.marks[id], f.marks)
	f.freed = append(f.freed, id)
	f.weigh(c, -fl.count)
	f.rank(c)
	return moved
}

// Next returns when the next flow ends, if no other starts before.
func (f *Fluid) Next() (at float64, ok bool) {
	if len(f.instant) > 0 {
		return f.now, true
	}
	f.refill()
	_, at = f.nexts.least()
	return at, !math.IsInf(at, 1)
}

// Advance moves to an instant and returns the flows that ended until then, in the order of their ends; those that end together
// are in the order of their starts. The slice is valid until the next call.
func (f *Fluid) Advance(to float64) []Ended {
	f.ended = append(f.ended[:0], f.instant...)
	f.instant = f.instant[:0]
	for _, e := range f.ended {
		f.freed = append(f.freed, e.ID)
	}
	for {
		f.refill()
		_, at := f.nexts.least()
		if at > to {
			break
		}
		f.now = max(f.now, at)
		f.end(f.now * (1 + 1e-12)) // flows whose ends differ by rounding only end together
		if f.now >= to {
			break // the rates from here on depend on the flows that start at this instant
		}
	}
	f.now = max(f.now, to)
	return f.ended
}

// end ends the flows that finish until an instant.
func (f *Fluid) end(until float64) {
	from := len(f.ended)
	for i, at := f.nexts.least(); at <= until; i, at = f.nexts.least() {
		f.bring(i)
		l := &f.ledgers[i]
		l.reach = l.held[0].at
		for len(l.held) > 0 && l.held[0].at <= l.reach {
			f.endOf(l.held[0].id, l.reach)
		}
		f.expect(i)
	}
	slices.SortFunc(f.ended[from:], func(a, b Ended) int { return int(a.seq - b.seq) })
}

// endOf ends the flows of a class that finish when the link that limits it has the given reach.
func (f *Fluid) endOf(c int32, reach float64) {
	cl, gone := &f.classes[c], int32(0)
	for len(cl.ends) > 0 && cl.ends[0].at-cl.offset <= reach {
		id := ID(cl.ends[0].id)
		fl := &f.flows[id]
		cl.ends.remove(0, f.marks)
		f.ended = append(f.ended, Ended{ID: id, Tag: fl.tag, At: f.now, seq: fl.seq})
		f.freed = append(f.freed, id)
		gone += fl.count
	}
	f.weigh(c, -gone)
	f.rank(c)
}

// Capacity and Load are what a link can carry and what it carries now, bytes/s.
func (f *Fluid) Capacity(link int32) float64 { return f.links[link+1].capacity }
func (f *Fluid) Load(link int32) float64     { f.refill(); return f.links[link+1].load }

package network

import "math"

// Accessors for tests.

// Rate returns the rate of each transfer of a flow, bytes/s.
func (f *Fluid) Rate(id ID) float64 {
	f.refill()
	if c := f.flows[id].class; c >= 0 {
		return f.links[f.holders[c]].level
	}
	return math.Inf(1)
}

// Carried returns the bytes that a link has carried so far.
func (f *Fluid) Carried(link int32) float64 {
	f.refill()
	l := &f.ledgers[link+1]
	return l.carried + f.links[link+1].load*(f.now-l.since)
}

// PathOf returns the path through some links, at most five.
func PathOf(links ...int32) Path {
	var p Path
	for _, l := range links {
		p = p.via(l)
	}
	return p
}

package live

import (
	"time"

	"straggler/schema"
)

// Executors report of all of their tasks at once, at an interval (Spark's Heartbeater, which goes by a fixed rate): between two
// states a report has come at an instant that is known only to lie there, but the next ones come whole intervals later. So what
// each new report tells of the instants is kept, and they are soon known to a fraction of the time between two states.

// heartbeat is an instant at which an executor reported, which lies between two others; zero: not known yet.
type heartbeat struct{ from, to schema.Time }

// exact is as well as the instant can be known: a report that an executor has made takes that long until a driver shows it.
const exact = 200_000 // microseconds

// last narrows the time in which an executor has reported last, between two instants, and learns from it.
func (h *heartbeat) last(from, to schema.Time, interval time.Duration) (schema.Time, schema.Time) {
	every := schema.Time(interval.Microseconds())
	fresh := heartbeat{from, to}
	switch {
	case every <= 0 || from >= to:
		return from, to
	case *h == heartbeat{}:
		if to-from < every {
			*h = fresh
		}
		return from, to
	}
	later := (to - h.from) / every * every
	at := heartbeat{h.from + later, h.to + later}
	if at.from > to { // to lies before what is known
		at.from, at.to = at.from-every, at.to-every
	}
	switch before := at.to - every; {
	case at.to > to && before >= from: // it may have been this one or the one before
		return max(from, at.from-every), to
	case at.to < from: // the instants have moved
		*h = heartbeat{}
		if to-from < every {
			*h = fresh
		}
		return from, to
	}
	at.from, at.to = max(at.from, from), min(at.to, to)
	if at.to-at.from >= exact {
		*h = at
	}
	return max(from, at.to-max(at.to-at.from, exact)), at.to
}

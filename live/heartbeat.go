package live

import (
	"time"

	"straggler/schema"
)

// Executors report on all of their tasks at once, at a fixed rate (Spark's Heartbeater). A single report is only known to lie
// between two polls, but subsequent ones follow at whole intervals. So each report narrows the phase of the heartbeat, which is
// soon known to a fraction of the time between two polls.

// heartbeat is an instant at which an executor reported, bounded by two others; zero: not known yet.
type heartbeat struct{ from, to schema.Time }

// exact is the best precision of the instant: the time until a driver shows a report of an executor.
const exact = 200_000 // microseconds

// last narrows the bounds of an executor's last report, and learns from it.
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

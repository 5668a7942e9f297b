package replay

// patience is how many looks at a phase come as soon as a policy wants them. Spark looks every 100 ms, Hadoop and LATE every
// few seconds, so that looks at a phase of under an hour and a half always do.
const patience = 50_000

// soonest is the first instant at which a phase may be looked at again. Of a log with an attempt that ends a century late, a
// policy that looks every second would look three billion times; so after many looks at a phase each further one waits for a
// part of the time that the phase has taken. There are only patience · ln(time) of them, then, and no decision is later by more
// than 1/patience of that time: 0.7 s after ten hours.
func soonest(now, released int64, looks int) int64 {
	if looks < patience {
		return now + 1
	}
	return now + max((now-released)/patience, 1)
}

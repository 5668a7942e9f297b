package replay

// patience is the number of looks at a phase that take place exactly when the policy requests them. Spark looks every 100 ms,
// Hadoop and LATE every few seconds, so this covers all looks at a phase of up to an hour and a half.
const patience = 50_000

// soonest returns the earliest instant of the next look at a phase. On a log with an attempt that ends a century late, a policy
// that looks every second would look three billion times; so after many looks at a phase, further ones are spaced in proportion
// to its age. That bounds their number by patience · ln(time), and delays decisions by at most 1/patience of that age: 0.7 s
// after ten hours.
func soonest(now, released int64, looks int) int64 {
	if looks < patience {
		return now + 1
	}
	return now + max((now-released)/patience, 1)
}

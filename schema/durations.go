package schema

// LongestS is the longest valid duration in seconds: 32 million years, beyond which a double cannot resolve eighths of a
// second. A longer one, a negative one and NaN are damage in a log. The .sql files write the limit as BETWEEN 0 AND 1e15.
const LongestS = 1e15

// IsDuration reports whether a duration in seconds is valid.
func IsDuration(s float64) bool { return s >= 0 && s <= LongestS }

// PartTolerance is how much longer than its attempt a measured part of it may be, in seconds: logs round each part, and the
// attempt's start and end, to the millisecond separately.
const PartTolerance = 0.002 + 1e-9

// MostCores is an estimate of more cores than a machine has: an attempt cannot have used more.
const MostCores = 1000

// DropLongParts makes those measured parts of an attempt unknown that are longer than the attempt, and processor time of more than
// MostCores: the log is damaged, or counts something else, as a JVM does that adds the whole time of a concurrent collection to
// its counter when the collection ends.
func (a *Attempt) DropLongParts() {
	most := a.DurationS.V + PartTolerance
	drop := func(part *Null[float64], most float64) {
		if part.OK && a.DurationS.OK && part.V > most {
			*part = Null[float64]{}
			a.Quality |= TimeRepaired
		}
	}
	for _, part := range []*Null[float64]{&a.GCS, &a.FetchWaitS, &a.SchedulerDelayS, &a.DeserializeS, &a.ResultS} {
		drop(part, most)
	}
	drop(&a.CPUS, MostCores*most)
}

// DropLateQueue makes the queued time unknown if it is after the start or the end: another machine's clock measured it. It reports
// whether it was.
func (a *Attempt) DropLateQueue() (late bool) {
	for _, t := range []Null[Time]{a.StartTime, a.FinishTime} {
		if a.QueuedTime.OK && t.OK && a.QueuedTime.V > t.V {
			a.QueuedTime, late = Null[Time]{}, true
		}
	}
	return late
}

// OutlierRatio is the ratio of an attempt's duration to the median of its phase, or to its usual duration, above which it is
// an outlier (MANTRI §4.1). The .sql files repeat the number.
const OutlierRatio = 1.5

package schema

// LongestS is the longest valid duration in seconds: 32 million years, beyond which a double cannot resolve eighths of a
// second. A longer one, a negative one and NaN are damage in a log. The .sql files write the limit as BETWEEN 0 AND 1e15.
const LongestS = 1e15

// IsDuration reports whether a duration in seconds is valid.
func IsDuration(s float64) bool { return s >= 0 && s <= LongestS }

// OutlierRatio is the ratio of an attempt's duration to the median of its phase, or to its usual duration, above which it is
// an outlier (MANTRI §4.1). The .sql files repeat the number.
const OutlierRatio = 1.5

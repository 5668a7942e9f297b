package schema

// LongestS is the longest duration that figures count, in seconds: 32 million years, beyond which a double no longer tells
// eighths of a second apart. A longer one, a negative one and NaN are damage of a log. The .sql files write it out, as
// BETWEEN 0 AND 1e15.
const LongestS = 1e15

// IsDuration says that a duration, in seconds, is one that figures count.
func IsDuration(s float64) bool { return s >= 0 && s <= LongestS }

// OutlierRatio is how many times as long as the median of its phase, or as usual, an attempt must take to be an outlier
// (MANTRI §4.1). The .sql files write it out.
const OutlierRatio = 1.5

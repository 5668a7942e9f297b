package read

import (
	"strconv"
	"time"

	"straggler/schema"
)

// maxMillis is the end of the year 9999. Logs write 0, -1 and 2^63-1 for times that they do not know, and nothing else
// is so late.
const maxMillis = 253_402_300_799_999

// Millis is a time in milliseconds since 1970; NULL where it is none.
func Millis(ms int64) schema.Null[schema.Time] {
	if ms <= 0 || ms > maxMillis {
		return schema.Null[schema.Time]{}
	}
	return schema.Some(schema.FromMillis(ms))
}

// MillisText is Millis of a number as text.
func MillisText(ms string) schema.Null[schema.Time] {
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return schema.Null[schema.Time]{}
	}
	return Millis(n)
}

// Micros is a time in microseconds since 1970; NULL where it is none.
func Micros(us int64) schema.Null[schema.Time] {
	if us <= 0 || us > maxMillis*1000+999 {
		return schema.Null[schema.Time]{}
	}
	return schema.Some(schema.Time(us))
}

// RoundMicros is Micros of a number that may have a fraction.
func RoundMicros(us float64) schema.Null[schema.Time] {
	if !(us > 0 && us < maxMillis*1000) { // nor one that no integer can be
		return schema.Null[schema.Time]{}
	}
	return Micros(int64(us + 0.5))
}

// ParseTime reads a time as text of one of the layouts; NULL where it is none, or not of the years 1970 to 9999. A
// layout without a zone reads UTC.
func ParseTime(text string, layouts ...string) schema.Null[schema.Time] {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil && t.Year() >= 1970 && t.Year() < 10000 {
			return schema.Some(schema.Time(t.UnixMicro()))
		}
	}
	return schema.Null[schema.Time]{}
}

// Widen makes the window from start to finish reach from the one time to the other.
func Widen(start, finish *schema.Null[schema.Time], from, to schema.Null[schema.Time]) {
	if from.OK && (!start.OK || from.V < start.V) {
		*start = from
	}
	if to.OK && (!finish.OK || to.V > finish.V) {
		*finish = to
	}
}

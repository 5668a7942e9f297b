package read

import (
	"strconv"
	"time"

	"straggler/schema"
)

// maxMillis is the end of the year 9999. Logs write 0, -1 and 2^63-1 for unknown times; no real time is that late.
const maxMillis = 253_402_300_799_999

// Millis converts milliseconds since 1970 to a time; NULL if invalid.
func Millis(ms int64) schema.Null[schema.Time] {
	if ms <= 0 || ms > maxMillis {
		return schema.Null[schema.Time]{}
	}
	return schema.Some(schema.FromMillis(ms))
}

// MillisText is Millis for a number as text.
func MillisText(ms string) schema.Null[schema.Time] {
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return schema.Null[schema.Time]{}
	}
	return Millis(n)
}

// Micros converts microseconds since 1970 to a time; NULL if invalid.
func Micros(us int64) schema.Null[schema.Time] {
	if us <= 0 || us > maxMillis*1000+999 {
		return schema.Null[schema.Time]{}
	}
	return schema.Some(schema.Time(us))
}

// RoundMicros is Micros for a number that may have a fraction.
func RoundMicros(us float64) schema.Null[schema.Time] {
	if !(us > 0 && us < maxMillis*1000) { // nor beyond all integers
		return schema.Null[schema.Time]{}
	}
	return Micros(int64(us + 0.5))
}

// ParseTime parses a time in one of the layouts; NULL if it is invalid, or outside the years 1970 to 9999. A layout without a
// zone means UTC.
func ParseTime(text string, layouts ...string) schema.Null[schema.Time] {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil && t.Year() >= 1970 && t.Year() < 10000 {
			return schema.Some(schema.Time(t.UnixMicro()))
		}
	}
	return schema.Null[schema.Time]{}
}

// Widen extends the window from start to finish to include both times.
func Widen(start, finish *schema.Null[schema.Time], from, to schema.Null[schema.Time]) {
	if from.OK && (!start.OK || from.V < start.V) {
		*start = from
	}
	if to.OK && (!finish.OK || to.V > finish.V) {
		*finish = to
	}
}

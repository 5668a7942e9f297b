package canonical

import (
	"strconv"
	"strings"
	"time"

	"straggler/schema"
)

// instant reads the ways in which databases write times; without a zone they are UTC.
func instant(text string) (schema.Time, bool) {
	if t, ok := plainInstant(text); ok {
		return t, true
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return schema.Time(n), n > -6e16 && n < 253402300800000000
	}
	text = strings.Replace(text, " ", "T", 1)
	for _, layout := range []string{
		"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999-07", "2006-01-02T15:04:05.999999999-0700",
		"2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05.999999999 UTC", "2006-01-02",
	} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() >= 1 && t.Year() < 10000 {
			return schema.Time(t.UnixMicro()), true
		}
	}
	return 0, false
}

// plainInstant reads 2026-01-02 03:04:05.678+00, with a T or without a fraction, and a zone of +00, Z, or none.
func plainInstant(text string) (schema.Time, bool) {
	const layout = "dddd-dd-ddTdd:dd:dd"
	if len(text) < len(layout) || text[4] != '-' || text[7] != '-' || text[10] != ' ' && text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return 0, false
	}
	var bad bool
	number := func(from, to int) (n int) {
		for _, c := range []byte(text[from:to]) {
			c -= '0'
			bad = bad || c > 9
			n = n*10 + int(c)
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second := number(11, 13), number(14, 16), number(17, 19)
	rest, micros := text[19:], 0
	if rest != "" && rest[0] == '.' {
		scale := 100_000
		rest = rest[1:]
		for rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			micros += scale * int(rest[0]-'0')
			scale /= 10
			rest = rest[1:]
		}
	}
	if bad || rest != "" && rest != "Z" && rest != "+00" && rest != "+00:00" && rest != " UTC" ||
		year < 1 || month < 1 || month > 12 || day < 1 || day > 28 || hour > 23 || minute > 59 || second > 59 {
		return 0, false // or a day that not every month has, which is for the others to say
	}
	seconds := ((days(year, month, day)*24+hour)*60+minute)*60 + second
	return schema.Time(int64(seconds)*1e6 + int64(micros)), true
}

// days is how many days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March, so that the day that a
// leap year has more is its last one, and 153 days are five months from then on.
func days(year, month, day int) int {
	if month < 3 {
		year, month = year-1, month+12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 719469
}

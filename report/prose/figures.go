package prose

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"straggler/schema"
)

// Figures are written with three significant digits and a unit; a no-break space stands between the two.
const (
	NBSP   = "\u00a0"
	Dash   = "–"
	digits = 3
)

// Bytes writes a size in binary units.
func Bytes(v float64) string {
	if !Finite(v) {
		return Dash
	}
	sign := ""
	if v < 0 {
		sign, v = "−", -v
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	i := 0
	for v >= 1023.5 && i < len(units)-1 {
		v /= 1024
		i++
	}
	if i == 0 {
		return sign + strconv.FormatFloat(v, 'f', 0, 64) + NBSP + "B"
	}
	return sign + round3(v) + NBSP + units[i]
}

// Plural writes n things.
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1" + NBSP + one
	}
	return Count(n) + NBSP + many
}

// Times writes a ratio.
func Times(v float64) string {
	switch {
	case !Finite(v):
		return Dash
	case v >= 9999.5:
		return "> 9999×"
	case v < 0:
		return "−" + ratio(-v) + "×"
	}
	return ratio(v) + "×"
}

// ratio writes v ≥ 0 with at most two decimals: ratios are compared with 1.
func ratio(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// Percent writes a fraction.
func Percent(v float64) string {
	sign, v, text := magnitude(v, 0.001, "0"+NBSP+"%", "0.1"+NBSP+"%")
	switch {
	case text != "":
		return text
	case v < 0.0995:
		return sign + strconv.FormatFloat(v*100, 'f', 1, 64) + NBSP + "%"
	case v < 1e6:
		return sign + strconv.FormatFloat(v*100, 'f', 0, 64) + NBSP + "%"
	}
	return sign + ">" + NBSP + "10⁸" + NBSP + "%"
}

// Instant writes a time in UTC; in a trace that hides its date, the time since its start.
func Instant(t schema.Time, origin string) string {
	if origin == "trace" {
		return "start + " + Seconds(float64(t)/1e6)
	}
	u := time.UnixMicro(int64(t)).UTC()
	if u.Year() < 1 || u.Year() > 9999 {
		return Dash
	}
	return u.Format("2006-01-02 15:04:05") + NBSP + "UTC"
}

// OrDash writes a value that may be unknown.
func OrDash[T any](v schema.Null[T], write func(T) string) string {
	if !v.OK {
		return Dash
	}
	return write(v.V)
}

// Interval writes an interval as 'low to high'; it is empty for an unknown interval and for one of length 0.
func Interval(low, high schema.Null[float64], write func(float64) string) string {
	if !low.OK || !high.OK || low.V == high.V {
		return ""
	}
	return fmt.Sprintf("%s to %s", write(low.V), write(high.V))
}

// Seconds writes a duration in the unit that suits it.
func Seconds(v float64) string {
	sign, v, text := magnitude(v, 0.0005, "0"+NBSP+"s", "1"+NBSP+"ms")
	switch {
	case text != "":
		return text
	case v < 0.9995:
		return sign + strconv.FormatFloat(v*1000, 'f', 0, 64) + NBSP + "ms"
	case v < 599.5:
		return sign + round3(v) + NBSP + "s"
	case v < 2*3600:
		return sign + round3(v/60) + NBSP + "min"
	case v < 48*3600:
		return sign + round3(v/3600) + NBSP + "h"
	case v < 1000*86400:
		return sign + round3(v/86400) + NBSP + "d"
	}
	return sign + group(int64(math.Min(v/86400, 1e15))) + NBSP + "d"
}

// Measured formats a value that an audit compares, in the unit of its rule: s, slot s, share, ratio, or a number of things.
func Measured(v float64, unit string) string {
	switch unit {
	case "s":
		return Seconds(v)
	case "slot s":
		text := Seconds(v)
		if at := strings.LastIndex(text, NBSP); at >= 0 {
			text = text[:at] + NBSP + "slot" + text[at:]
		}
		return text
	case "share":
		return Percent(v)
	case "ratio":
		return Times(v)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.4g"+NBSP+"%s", v, Clean(unit, NameRunes)), NBSP)
}

// magnitude splits a value into sign and absolute value. One without digits to show has a text instead: it is not finite,
// it is 0, written as zero, or it is nearer to 0 than least, written as '< small' or as about zero.
func magnitude(v, least float64, zero, small string) (sign string, abs float64, text string) {
	if v < 0 {
		sign = "−"
	}
	switch abs = math.Abs(v); {
	case !Finite(v):
		text = Dash
	case v == 0:
		text = zero
	case abs < least && v > 0:
		text = "<" + NBSP + small
	case abs < least:
		text = "≈" + NBSP + zero
	}
	return sign, abs, text
}

// Count writes a number of things.
func Count(n int64) string {
	if n < 0 {
		return "−" + group(-n)
	}
	return group(n)
}

func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	if len(s) <= 4 {
		return s
	}
	var b strings.Builder
	for i, d := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteString("\u202f")
		}
		b.WriteRune(d)
	}
	return b.String()
}

// round3 writes v ≥ 0 with three significant digits and no exponent.
func round3(v float64) string {
	if v == 0 {
		return "0"
	}
	decimals := digits - 1 - int(math.Floor(math.Log10(v)))
	decimals = min(max(decimals, 0), 6)
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if decimals > 0 && len(strings.TrimLeft(strings.Replace(s, ".", "", 1), "0")) > digits {
		s = strconv.FormatFloat(v, 'f', decimals-1, 64) // 9.999 became 10.00
	}
	return s
}

// Finite reports whether a value is neither NaN nor an infinity.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

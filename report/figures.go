package report

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
	nbsp   = "\u00a0"
	dash   = "–"
	digits = 3
)

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

// seconds writes a duration in the unit that suits it.
func seconds(v float64) string {
	if !finite(v) {
		return dash
	}
	sign := ""
	if v < 0 {
		sign, v = "−", -v
	}
	switch {
	case v == 0:
		return "0" + nbsp + "s"
	case v < 0.0005 && sign != "":
		return "≈" + nbsp + "0" + nbsp + "s"
	case v < 0.0005:
		return "<" + nbsp + "1" + nbsp + "ms"
	case v < 0.9995:
		return sign + strconv.FormatFloat(v*1000, 'f', 0, 64) + nbsp + "ms"
	case v < 599.5:
		return sign + round3(v) + nbsp + "s"
	case v < 2*3600:
		return sign + round3(v/60) + nbsp + "min"
	case v < 48*3600:
		return sign + round3(v/3600) + nbsp + "h"
	case v < 1000*86400:
		return sign + round3(v/86400) + nbsp + "d"
	}
	return sign + group(int64(math.Min(v/86400, 1e15))) + nbsp + "d"
}

// tick writes a round duration on an axis, without the zeros that a measured one keeps.
func tick(v float64) string {
	s := seconds(v)
	number, unit, _ := strings.Cut(s, nbsp)
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + nbsp + unit
}

// byteSize writes a size in binary units.
func byteSize(v float64) string {
	if !finite(v) {
		return dash
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
		return sign + strconv.FormatFloat(v, 'f', 0, 64) + nbsp + "B"
	}
	return sign + round3(v) + nbsp + units[i]
}

// count writes a number of things.
func count(n int64) string {
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

// plural writes n things.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1" + nbsp + one
	}
	return count(n) + nbsp + many
}

// times writes a ratio.
func times(v float64) string {
	switch {
	case !finite(v):
		return dash
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

// percent writes a fraction.
func percent(v float64) string {
	if !finite(v) {
		return dash
	}
	sign := ""
	if v < 0 {
		sign, v = "−", -v
	}
	switch {
	case v == 0:
		return "0" + nbsp + "%"
	case v < 0.001 && sign != "":
		return "≈" + nbsp + "0" + nbsp + "%"
	case v < 0.001:
		return "<" + nbsp + "0.1" + nbsp + "%"
	case v < 0.0995:
		return sign + strconv.FormatFloat(v*100, 'f', 1, 64) + nbsp + "%"
	case v < 1e6:
		return sign + strconv.FormatFloat(v*100, 'f', 0, 64) + nbsp + "%"
	}
	return sign + ">" + nbsp + "10⁸" + nbsp + "%"
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// instant writes a time in UTC; in a trace that hides its date, the time since its start.
func instant(t schema.Time, origin string) string {
	if origin == "trace" {
		return "start + " + seconds(float64(t)/1e6)
	}
	u := time.UnixMicro(int64(t)).UTC()
	if u.Year() < 1 || u.Year() > 9999 {
		return dash
	}
	return u.Format("2006-01-02 15:04:05") + nbsp + "UTC"
}

// null writes a value that may be unknown.
func null[T any](v schema.Null[T], write func(T) string) string {
	if !v.OK {
		return dash
	}
	return write(v.V)
}

// interval writes low to high; there is none where nothing was drawn by lot.
func interval(low, high schema.Null[float64], write func(float64) string) string {
	if !low.OK || !high.OK || low.V == high.V {
		return ""
	}
	return fmt.Sprintf("%s to %s", write(low.V), write(high.V))
}

package nextflow

import (
	"strconv"
	"strings"

	"straggler/ingest/read"
	"straggler/schema"
)

// duration parses milliseconds, or a sum such as '1h 2m 3.5s' or '110ms', into seconds.
func duration(s string) schema.Null[float64] {
	if s == "" {
		return schema.Null[float64]{}
	}
	if ms, err := strconv.ParseFloat(s, 64); err == nil {
		return seconds(ms / 1000)
	}
	total := 0.0
	for _, part := range strings.Fields(s) {
		i := strings.IndexFunc(part, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if i <= 0 {
			return schema.Null[float64]{}
		}
		n, err := strconv.ParseFloat(part[:i], 64)
		unit, ok := secondsOf[part[i:]]
		if err != nil || !ok {
			return schema.Null[float64]{}
		}
		total += n * unit
	}
	return seconds(total)
}

var secondsOf = map[string]float64{"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}

func seconds(s float64) schema.Null[float64] {
	if !(s >= 0 && s < 1e10) {
		return schema.Null[float64]{}
	}
	return schema.Some(s)
}

// size parses bytes, or a number with a unit such as '3.1 GB'. Nextflow's units are powers of 1024.
func size(s string) schema.Null[int64] {
	if s == "" {
		return schema.Null[int64]{}
	}
	end := len(s)
	for end > 0 && (s[end-1] < '0' || s[end-1] > '9') {
		end--
	}
	number, unit := s[:end], strings.TrimSpace(s[end:])
	n, err := strconv.ParseFloat(number, 64)
	factor, ok := bytesOf[strings.ToUpper(unit)]
	if err != nil || !ok || !(n >= 0 && n*factor < 1<<62) {
		return schema.Null[int64]{}
	}
	return schema.Some(int64(n*factor + 0.5))
}

var bytesOf = map[string]float64{"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}

// instant parses epoch milliseconds, or local time as text. It reports whether the zone is known.
func instant(s string) (t schema.Null[schema.Time], zoned bool) {
	if t = read.MillisText(s); t.OK {
		return t, true
	}
	t = read.ParseTime(s, "2006-01-02 15:04:05.999", "2006-01-02T15:04:05.999")
	return t, !t.OK
}

package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"straggler/schema"
)

// Text returns a value as people read it.
func Text(v any) string { return forPeople(v) }

// forPeople rounds numbers to six digits.
func forPeople(v any) string {
	f, ok := v.(float64)
	switch {
	case v == nil:
		return "NULL"
	case !ok || math.IsNaN(f) || math.IsInf(f, 0):
		return plain(v)
	case f != 0 && (math.Abs(f) < 1e-4 || math.Abs(f) >= 1e15):
		return strconv.FormatFloat(f, 'g', 6, 64)
	case math.Abs(f) >= 1e5:
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	digits := 6
	for x := math.Abs(f); x >= 1 && digits > 1; x /= 10 {
		digits--
	}
	s := strconv.FormatFloat(f, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// plain returns a value as text, exactly.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int32:
		return strconv.FormatInt(int64(v), 10)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case schema.Time:
		return time.UnixMicro(int64(v)).UTC().Format("2006-01-02T15:04:05.999999Z07:00")
	}
	return fmt.Sprint(v)
}

func numeric(t schema.Type) bool {
	return t == schema.BigInt || t == schema.Int || t == schema.Double
}

// uniqueNames returns the names of the columns; a repeated name gets its index as a suffix, because readers of most encodings
// keep only one of two.
func uniqueNames(rows Rows) []string {
	var names []string
	for i, c := range rows.Columns() {
		name := c.Name
		for slices.Contains(names, name) {
			name = fmt.Sprintf("%s_%d", name, i+1)
		}
		names = append(names, name)
	}
	return names
}

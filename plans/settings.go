package plans

import (
	"strconv"
	"strings"
)

// on reports whether a setting of the session is true.
func (q *query) on(name string, otherwise bool) bool {
	switch v := strings.ToLower(q.settings[name]); v {
	case "true", "false":
		return v == "true"
	}
	return otherwise
}

func (q *query) databricks() bool {
	for name := range q.settings {
		if strings.HasPrefix(name, "spark.databricks.") {
			return true
		}
	}
	return false
}

// since reports whether the version of Spark is at least the given one; an unknown version counts as such.
func (q *query) since(major, minor int) bool {
	parts := strings.SplitN(q.Version.V, ".", 3)
	if len(parts) < 2 {
		return true
	}
	a, err1 := strconv.Atoi(parts[0])
	b, err2 := strconv.Atoi(parts[1])
	return err1 != nil || err2 != nil || a > major || a == major && b >= minor
}

// advisory returns the size of partitions that adaptive execution aims at.
func (q *query) advisory() float64 {
	old := sizeOr(q.settings["spark.sql.adaptive.shuffle.targetPostShuffleInputSize"], defaultAdvisory)
	return sizeOr(q.settings["spark.sql.adaptive.advisoryPartitionSizeInBytes"], old)
}

// sizeOr parses a size of Spark's settings, such as 64m or 67108864b. It returns otherwise if it cannot.
func sizeOr(s string, otherwise float64) float64 {
	text := strings.ToLower(strings.TrimSpace(s))
	text = strings.TrimSuffix(text, "b")
	scale := 1.0
	if n := len(text); n > 0 {
		switch text[n-1] {
		case 'k':
			scale = 1 << 10
		case 'm':
			scale = 1 << 20
		case 'g':
			scale = 1 << 30
		case 't':
			scale = 1 << 40
		}
		if scale > 1 {
			text = text[:n-1]
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v <= 0 {
		return otherwise
	}
	return v * scale
}

// sparkSize formats a size for Spark's settings.
func sparkSize(v float64) string {
	if v >= 4<<20 {
		return strconv.FormatInt(int64(v)>>20, 10) + "m"
	}
	return strconv.FormatInt(max(1, int64(v)>>10), 10) + "k"
}

package table

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
)

// writeJSON writes an array with an object per row, each on a line of its own. Integers are written in full: keys have up to
// 63 bits, which readers that use doubles round.
func writeJSON(w io.Writer, rows Rows, _ Options) (int64, error) {
	return writeObjects(w, rows, "[", ",\n", "\n]\n")
}

// writeJSONLines writes an object per row, each on a line of its own, without an array.
func writeJSONLines(w io.Writer, rows Rows, _ Options) (int64, error) {
	return writeObjects(w, rows, "", "\n", "\n")
}

func writeObjects(w io.Writer, rows Rows, open, between, end string) (int64, error) {
	out := bufio.NewWriter(w)
	names := uniqueNames(rows)
	for i := range names {
		names[i] = quoteJSON(names[i])
	}
	out.WriteString(open)
	n := int64(0)
	for ; rows.Next(); n++ {
		switch {
		case n > 0:
			out.WriteString(between)
		case open != "":
			out.WriteByte('\n')
		}
		out.WriteByte('{')
		for i, name := range names {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(name)
			out.WriteByte(':')
			out.WriteString(jsonValue(rows.Value(i)))
		}
		if err := out.WriteByte('}'); err != nil {
			return n, err
		}
	}
	if n > 0 || open != "" {
		out.WriteString(end)
	}
	if err := out.Flush(); err != nil {
		return n, err
	}
	return n, rows.Err()
}

func jsonValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quoteJSON(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "null"
		}
		return plain(v)
	case bool, int, int32, int64:
		return plain(v)
	}
	return quoteJSON(plain(v))
}

// quoteJSON also escapes runes that are valid in JSON and control a terminal.
func quoteJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // cannot happen for a string
	}
	text := string(b)
	if !strings.ContainsFunc(text, dangerous) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case !dangerous(r):
			out.WriteRune(r)
		case r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

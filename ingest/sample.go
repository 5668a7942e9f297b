package ingest

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SampleBytes is how much of a rejected record is kept.
const SampleBytes = 200

// Sample returns the first 200 bytes of a record, made printable: control characters, what a terminal could take for a command,
// and bytes that are not UTF-8 are escaped as in a Go string.
func Sample[S string | []byte](record S) string {
	if len(record) > SampleBytes {
		record = record[:SampleBytes]
	}
	var b strings.Builder
	for text := string(record); text != ""; {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			// This includes a rune that was cut at 200 bytes.
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		text = text[n:]
	}
	return b.String()
}

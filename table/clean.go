package table

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes a text safe for a terminal and keeps it on one line: controls, invisible runes and those that reorder
// text are written as in a Go string.
func Printable(s string) string {
	if !strings.ContainsFunc(s, dangerous) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case dangerous(r):
			b.WriteString(escape(r))
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

func escape(r rune) string {
	switch {
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// dangerous reports whether a rune controls the terminal or changes how other runes are shown.
func dangerous(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 ||
		r > 0x7f && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co, unicode.Zl, unicode.Zp))
}

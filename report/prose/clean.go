package prose

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"straggler/schema"
)

const (
	NameRunes = 80  // of a name in a table or a sentence
	TextRunes = 400 // of a longer text, such as a reason
)

// Name makes a name from a log safe for a sentence; an empty name becomes '(no name)'.
func Name(s string) string {
	if strings.TrimSpace(s) == "" {
		return "(no name)"
	}
	return Clean(s, NameRunes)
}

// MaybeName is Name, or "" where the name is unknown or empty.
func MaybeName(n schema.Null[string]) string {
	if !n.OK || strings.TrimSpace(n.V) == "" {
		return ""
	}
	return Clean(n.V, NameRunes)
}

// Clean makes text from a log safe to show: one line, no control characters, no invisible ones that reorder or hide
// text, valid UTF-8, at most max runes. It does not escape: that is the renderers' job, each in its own way.
func Clean(s string, max int) string {
	if Plain(s) && len(s) <= max {
		return s
	}
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n == max {
			b.WriteRune('…')
			break
		}
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			r = ' '
		case r == utf8.RuneError || Invisible(r):
			r = '\uFFFD'
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// Plain reports whether a text has only printable ASCII.
func Plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7E {
			return false
		}
	}
	return true
}

// Invisible reports whether a rune changes how others are shown: controls, bidirectional marks, zero widths, tags, surrogates.
func Invisible(r rune) bool {
	return r == '\u00AD' || r == '\u115F' || r == '\u1160' || r == '\u3164' || r == '\uFFA0' ||
		r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF ||
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co) ||
		unicode.IsMark(r) && unicode.In(r, unicode.Me)
}

// VisibleJSON writes the runes of a JSON text that a terminal would not show, or would obey, as \u escapes. Line ends between
// values stay.
func VisibleJSON(text string) string {
	hidden := func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') && Invisible(r) }
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if !hidden(r) {
			out.WriteRune(r)
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, "\\u%04x", u)
		}
	}
	return out.String()
}

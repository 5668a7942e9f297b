package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	nameRunes = 80  // of a name in a table or a sentence
	textRunes = 400 // of a longer text, such as a reason
)

// clean makes text from a log safe to show: one line, no control characters, no invisible ones that reorder or hide
// text, valid UTF-8, at most max runes. It does not escape: that is the renderers' job, each in its own way.
func clean(s string, max int) string {
	if plain(s) && len(s) <= max {
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
		case r == utf8.RuneError || invisible(r):
			r = '\uFFFD'
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// invisible says which runes change how others are shown: controls, bidirectional marks, zero widths, tags, surrogates.
func invisible(r rune) bool {
	return r == '\u00AD' || r == '\u115F' || r == '\u1160' || r == '\u3164' || r == '\uFFA0' ||
		r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF ||
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co) ||
		unicode.IsMark(r) && unicode.In(r, unicode.Me)
}

func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7E {
			return false
		}
	}
	return true
}

// name is a name of a log as it may stand in a sentence; empty names are said to be.
func name(s string) string {
	if strings.TrimSpace(s) == "" {
		return "(no name)"
	}
	return clean(s, nameRunes)
}

// quoteSQL writes a text in SQL that DuckDB and Spark read alike. Between quotes they do not agree on quotes and backslashes
// (Spark 3 reads two quotes as the end of one literal and the beginning of another), so those are given by their numbers.
// A text with anything invisible is not written; callers compare keys instead.
func quoteSQL(s string) (expression string, ok bool) {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, invisible) {
		return "", false
	}
	if !strings.ContainsAny(s, `'\`) {
		return "'" + s + "'", true
	}
	parts := strings.NewReplacer("'", "', chr(39), '", `\`, `', chr(92), '`).Replace(s)
	return "concat('" + parts + "')", true
}

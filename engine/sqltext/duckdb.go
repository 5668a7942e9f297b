package sqltext

import (
	"strings"
	"unicode/utf8"
)

// DuckDB's lexer is PostgreSQL's, with its standard_conforming_strings: a backslash means something in E'…' alone. Signs
// and numbers are cut finer here, which no quote or comment depends on.
// https://www.postgresql.org/docs/current/sql-syntax-lexical.html

func duckQuotation(s string) Token {
	n := duckQuote(s)
	kind, open := String, false
	switch s[0] {
	case '$':
		n, open = closed(s, n, s[:n])
	case '"':
		kind = Name
		n, open = doubled(s, n, '"')
	case '\'':
		n, open = doubled(s, n, '\'')
	default:
		n, open = duckEscaped(s, n)
	}
	return Token{Kind: kind, Text: s[:n], Open: open}
}

// duckQuote returns the length of what opens a text in quotes or a name: a quote, E' or $tag$.
func duckQuote(s string) int {
	switch {
	case s[0] == '\'' || s[0] == '"':
		return 1
	case (s[0] == 'e' || s[0] == 'E') && len(s) > 1 && s[1] == '\'':
		return 2
	case s[0] == '$':
		return dollarTag(s)
	}
	return 0
}

// duckEscaped returns the end of E'…'. A text in quotes that begins on a line after it goes on with it, backslashes included.
func duckEscaped(s string, from int) (n int, open bool) {
	for {
		if n, open = escaped(s, from, '\''); open {
			return n, open
		}
		if rest := s[n:]; strings.HasPrefix(rest, "'") { // two quotes are one that ends nothing
			from = n + 1
			continue
		}
		space := len(s[n:]) - len(strings.TrimLeft(s[n:], " \t\n\r\f\v"))
		if !strings.ContainsAny(s[n:n+space], "\n\r") || !strings.HasPrefix(s[n+space:], "'") {
			return n, false
		}
		from = n + space + 1
	}
}

// dollarTag returns the length of the $tag$ that a text begins with.
func dollarTag(s string) int {
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '$':
			return i + 1
		case c < utf8.RuneSelf && !wordByte(c) || i == 1 && c >= '0' && c <= '9':
			return 0
		}
	}
	return 0
}

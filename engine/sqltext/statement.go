// Package sqltext reads the text of SQL statements.
package sqltext

import "strings"

// Trim cuts a statement's text before its semicolon, so that it can be put into a larger one. It skips what a
// semicolon can stand in: strings, quoted names and comments.
func Trim(sql string) string {
	for i := 0; i < len(sql); {
		switch rest := sql[i:]; {
		case rest[0] == ';':
			return sql[:i]
		case strings.HasPrefix(rest, "--"):
			i += End(rest, "\n", 2)
		case strings.HasPrefix(rest, "/*"):
			i += CommentEnd(rest)
		case rest[0] == '"':
			i += End(rest, `"`, 1)
		case rest[0] == '\'' && i > 0 && (sql[i-1] == 'e' || sql[i-1] == 'E') && (i == 1 || !WordByte(sql[i-2])):
			i += escapedEnd(rest)
		case rest[0] == '\'':
			i += End(rest, "'", 1)
		case rest[0] == '$' && (i == 0 || !WordByte(sql[i-1])):
			i += dollarEnd(rest)
		default:
			i++
		}
	}
	return sql
}

// End is how long a text is up to and with the first mark after its first from bytes.
func End(s, mark string, from int) int {
	if n := strings.Index(s[from:], mark); n >= 0 {
		return from + n + len(mark)
	}
	return len(s)
}

// CommentEnd is the length of a comment, which may have comments in it.
func CommentEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(s[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(s)
}

// escapedEnd is the length of a string in which a backslash takes the next byte's meaning away.
func escapedEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'':
			return i + 1
		}
	}
	return len(s)
}

// dollarEnd is the length of a string between two equal $tags$, or 1 where no such string begins.
func dollarEnd(s string) int {
	n := 1
	for n < len(s) && WordByte(s[n]) {
		n++
	}
	if n == len(s) || s[n] != '$' {
		return 1
	}
	return End(s, s[:n+1], n+1)
}

func WordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

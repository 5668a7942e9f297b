package shell

import "strings"

// Split cuts a text into its statements, without their semicolons, and what comes after the last one. Semicolons in
// strings, quoted names, dollar quotes and comments end nothing. Statements of nothing but comments are left out.
func Split(text string) (statements []string, rest string) {
	start, said := 0, false
	for i := 0; i < len(text); {
		n, empty := token(text[i:])
		switch {
		case text[i] == ';':
			if said {
				statements = append(statements, strings.TrimSpace(text[start:i]))
			}
			start, said = i+1, false
		case !empty:
			said = true
		}
		i += n
	}
	if rest = strings.TrimSpace(text[start:]); !said && !unfinished(rest) {
		rest = ""
	}
	return statements, rest
}

// unfinished says that a text without a word ends inside of a comment that more lines may close.
func unfinished(text string) bool {
	for i := 0; i < len(text); {
		n, _ := token(text[i:])
		if strings.HasPrefix(text[i:], "/*") && !(n >= 4 && strings.HasSuffix(text[i:i+n], "*/")) {
			return true
		}
		i += n
	}
	return false
}

// token is the length of what a text begins with, and whether it says nothing to the engine.
func token(s string) (length int, empty bool) {
	switch {
	case strings.HasPrefix(s, "--"):
		return through(s, 2, "\n"), true
	case strings.HasPrefix(s, "/*"):
		return through(s, 2, "*/"), true
	case s[0] == '\'' || s[0] == '"':
		return through(s, 1, s[:1]), false // a doubled quote is the next token
	case s[0] == '$':
		if tag := dollarTag(s); tag != "" {
			return through(s, len(tag), tag), false
		}
	case strings.IndexByte(" \t\r\n\f\v;", s[0]) >= 0:
		return 1, true
	}
	return 1, false
}

// through is the length of a text until after the end that comes next behind its first bytes.
func through(s string, from int, end string) int {
	if i := strings.Index(s[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(s)
}

// dollarTag is the $tag$ that a text begins with.
func dollarTag(s string) string {
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '$':
			return s[:i+1]
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 || i > 1 && c >= '0' && c <= '9':
		default:
			return ""
		}
	}
	return ""
}

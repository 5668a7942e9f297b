package sqltext

import "strings"

// closed returns the length of a text up to and including a mark after its first from bytes. If there is none, open is set, and
// it returns the whole length.
func closed(s string, from int, mark string) (n int, open bool) {
	if i := strings.Index(s[from:], mark); i >= 0 {
		return from + i + len(mark), false
	}
	return len(s), true
}

// escaped is closed for a text in which a backslash takes the next byte's meaning away.
func escaped(s string, from int, quote byte) (n int, open bool) {
	for i := from; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return i + 1, false
		}
	}
	return len(s), true
}

// doubled is closed for a text in which two quotes are one that ends nothing.
func doubled(s string, from int, quote byte) (n int, open bool) {
	for i := from; i < len(s); i++ {
		if s[i] != quote {
			continue
		}
		if i+1 == len(s) || s[i+1] != quote {
			return i + 1, false
		}
		i++
	}
	return len(s), true
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

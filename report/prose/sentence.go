package prose

import (
	"strings"
)

// Upper capitalises the first letter of a sentence, if it is ASCII.
func Upper(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}

// Lower undoes Upper, for a sentence that becomes a part of another. A first word in capitals, such as GC, stays as it is.
func Lower(s string) string {
	if s != "" && s[0] >= 'A' && s[0] <= 'Z' && (len(s) == 1 || s[1] < 'A' || s[1] > 'Z') {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// Join lists things as a sentence does.
func Join(s []string) string {
	if len(s) < 2 {
		return strings.Join(s, "")
	}
	return strings.Join(s[:len(s)-1], ", ") + " and " + s[len(s)-1]
}

// After puts a mark before a text that is not empty.
func After(mark, s string) string {
	if s == "" {
		return ""
	}
	return mark + s
}

// Unless returns a note, or "" if it is not needed.
func Unless(ok bool, note string) string {
	if ok {
		return ""
	}
	return note
}

// NonEmpty returns the texts that are not "".
func NonEmpty(s ...string) []string {
	var kept []string
	for _, x := range s {
		if x != "" {
			kept = append(kept, x)
		}
	}
	return kept
}

// PluralWord returns the singular or plural word for n, without the number.
func PluralWord(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

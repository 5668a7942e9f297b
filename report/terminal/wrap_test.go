package terminal

import (
	"strings"
	"testing"
	"unicode"

	"straggler/report/prose"
)

// Lines are never wider than requested, and only spaces are lost.
func FuzzWrap(f *testing.F) {
	for _, s := range []string{"", "one two three", strings.Repeat("x", 100), "日本語 日本語", "a\u00a0b c"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = 4 + (n&0x7fffffff)%100
		s = prose.Clean(s, 200)
		squeeze := func(s string) string { return strings.Join(strings.FieldsFunc(s, unicode.IsSpace), "") }
		lines := Wrap(s, n)
		for _, l := range lines {
			if width(l) > n {
				t.Fatalf("%q is wider than %d", l, n)
			}
		}
		if got := squeeze(strings.Join(lines, "")); got != squeeze(s) {
			t.Fatalf("%q became %q", s, lines)
		}
	})
}

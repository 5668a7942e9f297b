package prose

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                       "plain",
		"a\nb\tc":                     "a b c",
		"a\x1b[31mb":                  "a\uFFFD[31mb",
		"\u202Eabc":                   "\uFFFDabc",
		"zero\u200bwidth":             "zero\uFFFDwidth",
		"h\u00e9, \u65e5\u672c\u8a9e": "h\u00e9, \u65e5\u672c\u8a9e",
		"bad\xff":                     "bad\uFFFD",
	} {
		if got := Clean(in, 40); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Clean("0123456789", 4); got != "0123…" {
		t.Errorf("cut: %q", got)
	}
}

// Any input gives one short line of valid visible text, and cleaning it again changes nothing.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "app-20261121033031-0011", "<b>\x1b[2J\x1b]0;title\x07\u202Edlrow\u2066\u200b\x00\r\n\xff\xfe", "count at Lab.java:362", "\u0301\u0301", "\U000E0001", strings.Repeat("日", 500)} {
		f.Add(s, 80)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = 1 + (n&0x7fffffff)%300
		out := Clean(s, n)
		if !utf8.ValidString(out) {
			t.Fatalf("%q is not UTF-8", out)
		}
		if utf8.RuneCountInString(out) > n+1 {
			t.Fatalf("%q has more than %d characters", out, n)
		}
		for _, r := range out {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%U in %q", r, out)
			}
		}
		if again := Clean(out, n+1); again != out {
			t.Fatalf("cleaned twice: %q, then %q", out, again)
		}
	})
}

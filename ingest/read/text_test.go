package read_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"straggler/ingest"
	"straggler/ingest/read"
)

func TestSample(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		"plain Grüße 你好":               "plain Grüße 你好",
		"tab\tline\nreturn\r":          `tab\tline\nreturn\r`,
		"\x00\x1b[2J\x7f":              `\x00\x1b[2J\x7f`,
		"\xff\xc3":                     `\xff\xc3`,
		"right\u202eleft\u200b":        `right\u202eleft\u200b`,
		"\U000e0041":                   `\U000e0041`,
		"\u009b31m":                    `\u009b31m`, // a terminal's escape in one rune
		strings.Repeat("x", 300):       strings.Repeat("x", 200),
		strings.Repeat("x", 199) + "é": strings.Repeat("x", 199) + `\xc3`,
	} {
		if got := ingest.Sample(in); got != want {
			t.Errorf("Sample(%q) = %q, want %q", in, got, want)
		}
		if got := ingest.Sample([]byte(in)); got != want {
			t.Errorf("Sample of bytes %q = %q, want %q", in, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		"host-1":                            "host-1",
		"<b>'; DROP\x1b[0m":                 "<b>'; DROP\x1b[0m", // escaped by the code that prints it
		"a\x00b":                            "ab",
		"a\xffb":                            "a\uFFFDb",
		strings.Repeat("x", read.MaxText):   strings.Repeat("x", read.MaxText),
		strings.Repeat("x", read.MaxText+1): strings.Repeat("x", read.MaxText) + "…",
		strings.Repeat("x", read.MaxText-1) + "éé": strings.Repeat("x", read.MaxText-1) + "…",
	} {
		if got := read.Text(in); got != want {
			t.Errorf("Text of %d bytes %.20q is %d bytes, want %d", len(in), in, len(got), len(want))
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("host\x00\xff")
	f.Add(strings.Repeat("é", read.MaxText))
	f.Fuzz(func(t *testing.T, s string) {
		text := read.Text(s)
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || len(text) > 3*read.MaxText+3 || read.Text(text) != text && len(text) <= read.MaxText {
			t.Errorf("Text(%q) = %q", s, text)
		}
		for _, r := range ingest.Sample(s) {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
				t.Errorf("Sample(%q) holds the control character %#x", s, r)
			}
		}
	})
}

// The same bytes give the same string without an allocation, however many others there are.
func TestInterner(t *testing.T) {
	var in read.Interner
	buf := []byte("host-1\x00")
	first := in.Text(buf)
	if allocs := testing.AllocsPerRun(100, func() { in.Text(buf) }); allocs != 0 || first != "host-1" {
		t.Errorf("%q with %v allocations", first, allocs)
	}
	copy(buf, "HOST")
	if got := in.Text(buf); got != "HOST-1" || first != "host-1" {
		t.Errorf("got %q; the first is now %q", got, first)
	}
	for i := range 300_000 {
		b := []byte{byte(i), byte(i >> 8), byte(i >> 16), 'x'}
		if got := in.Text(b); got != read.Text(string(b)) {
			t.Fatalf("value %d is %q", i, got)
		}
	}
}

// BenchmarkInterner interns the names of machines of small and large clusters.
func BenchmarkInterner(b *testing.B) {
	for _, machines := range []int{1, 40, 300, 4000, 30_000} {
		b.Run(fmt.Sprint(machines), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			names := make([][]byte, 100_000)
			for i := range names {
				names[i] = fmt.Appendf(nil, "m_%d", rng.IntN(machines))
			}
			var in read.Interner
			for i := 0; b.Loop(); i++ {
				in.Text(names[i%len(names)])
			}
		})
	}
}

package discover

import (
	"testing"
	"unicode/utf16"
)

func TestWideEncoding(t *testing.T) {
	wide := func(s string, big bool) []byte {
		var out []byte
		for _, u := range utf16.Encode([]rune(s)) {
			if hi, lo := byte(u>>8), byte(u); big {
				out = append(out, hi, lo)
			} else {
				out = append(out, lo, hi)
			}
		}
		return out
	}
	const text = `{"Event":"SparkListenerLogStart"}`
	for _, x := range []struct {
		head []byte
		want string
	}{
		{wide(text, false), "UTF-16LE"}, {wide(text, true), "UTF-16BE"}, {wide("\ufeff"+text, false), "UTF-16"}, {wide("\ufeff"+text, true), "UTF-16"},
		{[]byte(text), ""}, {make([]byte, 64), ""}, {wide("short", false), ""}, {nil, ""}, {[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x03"), ""},
	} {
		if got := wideEncoding(x.head); got != x.want {
			t.Errorf("%q: %q, want %q", x.head, got, x.want)
		}
	}
}

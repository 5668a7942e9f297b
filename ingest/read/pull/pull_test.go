package pull

import (
	"bytes"
	"testing"
)

func TestPuller(t *testing.T) {
	var p Puller
	read := func(text string) (n int64, s string, ok bool) {
		p.Reset([]byte(text))
		for in := p.Object(); in && p.Key(); {
			switch string(p.Name) {
			case "n":
				n, ok = p.Number()
			case "s":
				b, _ := p.Str()
				s, ok = string(b), true
			default:
				p.Skip()
			}
		}
		return n, s, ok && p.End()
	}
	for text, want := range map[string]int64{
		` { "a" : [ 1 , {"b":"]}"} ] , "n" : 42 } `: 42, `{"n":-3}`: -3, `{"n":1e3}`: 1000, `{"n":12.0}`: 12,
		`{"n":9223372036854775807}`: 9223372036854775807, `{"\u006e":7}`: 7, "{\t\"n\"\t:\t5\r}": 5,
	} {
		if n, _, ok := read(text); !ok || n != want {
			t.Errorf("%s: %d, %v (%s)", text, n, ok, p.Why)
		}
	}
	for _, text := range []string{`{"n":1.5}`, `{"n":9223372036854775808}`, `{"n":null}`, `{"n":"1"}`, `{"n":[1]}`, `{"n":1e300}`} {
		if n, _, ok := read(text); ok || p.Why != "" {
			t.Errorf("%s: %d, %v (%s)", text, n, ok, p.Why)
		}
	}
	for text, want := range map[string]string{
		`{"s":"a\"b\\"}`: `a"b\`, `{"s":"\u00e9\ud83d\ude00\n"}`: "é😀\n", `{"s":"\ud83d!"}`: "\uFFFD!", `{"s":""}`: "", `{"s":"\/"}`: "/",
	} {
		if _, s, ok := read(text); !ok || s != want {
			t.Errorf("%s: %q, %v", text, s, ok)
		}
	}
	for _, text := range []string{``, `{`, `{"n"`, `{"n":`, `{"n":1`, `{"n":1}}`, `{"n":1 "s":2}`, `{n:1}`, `{"n" 1}`, `{"a":[1}`, `{"a":{]}`, `{"a":"`, `{"a":"\"}`, `{,}`, `{"a":}`, `{"n":1}x`} {
		if read(text); p.End() {
			t.Errorf("%s is taken", text)
		}
	}
}

// A value with endless nesting is rejected, and uses no stack.
func TestDepth(t *testing.T) {
	deep := bytes.Repeat([]byte(`{"a":[`), 1<<20)
	var p Puller
	for p.Reset(deep); p.Object() && p.Key() && p.Array() && p.Elem(); {
	}
	if p.Why != "nested too deep" {
		t.Errorf("%q", p.Why)
	}
	p.Reset(deep)
	if p.Skip(); p.Why != "nested too deep" {
		t.Errorf("%q", p.Why)
	}
}

package read

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"straggler/schema"
)

// MaxText is the most bytes of a value that a log's text column keeps. Names are far shorter; call sites and
// configuration values may be long, stack traces are cut.
const MaxText = 16 << 10

// Text makes a value from a log fit for a column: valid UTF-8, no NUL, at most MaxText bytes. Everything else stays as
// it is; escaping is up to whoever prints it.
func Text(s string) string {
	if plain(s) {
		return s
	}
	cut := len(s) > MaxText
	if cut {
		end := MaxText
		for end > MaxText-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\x00", "")
	if cut {
		s += "…"
	}
	return s
}

// NullText is a value that a log writes as text; an empty one is unknown.
func NullText(s string) schema.Null[string] {
	if s == "" {
		return schema.Null[string]{}
	}
	return schema.Some(Text(s))
}

func plain(s string) bool {
	return len(s) <= MaxText && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// Interner gives one string for equal bytes, so that a host that a log names a million times is allocated once. It
// cleans values as Text does. The zero Interner is ready; it is not safe for concurrent use.
type Interner struct {
	known  map[string]string
	recent []string // by a quick hash; nil while there are few
}

// maxInterned bounds what a log full of different values can make an Interner hold: 64 Ki short strings.
const (
	maxInterned     = 64 << 10
	maxInternedText = 256
	fewInterned     = 32 // as long as a map is as quick
	recentBits      = 12
)

// Text is the value of b, which may be reused afterwards.
func (in *Interner) Text(b []byte) string {
	if len(b) > maxInternedText {
		return Text(string(b))
	}
	if in.recent == nil {
		return in.text(b)
	}
	at := &in.recent[quickHash(b)]
	if *at != string(b) {
		*at = in.text(b)
	}
	return *at
}

func (in *Interner) text(b []byte) string {
	if s, ok := in.known[string(b)]; ok {
		return s
	}
	if in.known == nil || len(in.known) >= maxInterned {
		in.known = make(map[string]string)
	}
	s := Text(string(b))
	in.known[string(b)] = s
	if len(in.known) > fewInterned && in.recent == nil {
		in.recent = make([]string, 1<<recentBits)
	}
	return s
}

// quickHash is of the first and the last 8 bytes, in which names of a kind differ.
func quickHash(b []byte) uint64 {
	var head, tail uint64
	if len(b) >= 8 {
		head, tail = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[len(b)-8:])
	} else {
		for _, c := range b {
			head = head<<8 | uint64(c)
		}
	}
	const odd = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	return (head*odd ^ tail + uint64(len(b))) * odd >> (64 - recentBits)
}

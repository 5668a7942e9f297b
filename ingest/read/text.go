package read

import (
	"encoding/binary"
	"hash/maphash"
	"strings"
	"unicode/utf8"
	"unsafe"

	"straggler/schema"
)

// MaxText is the largest size in bytes of a value in a log's text column. Names are far shorter; call sites and configuration
// values may be long, and stack traces are truncated.
const MaxText = 16 << 10

// Text makes a value from a log fit for a column: valid UTF-8, no NUL, at most MaxText bytes. Everything else is left
// unchanged; escaping is the job of the code that prints it.
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

// NullText returns a value that a log writes as text; an empty one is unknown.
func NullText(s string) schema.Null[string] {
	if s == "" {
		return schema.Null[string]{}
	}
	return schema.Some(Text(s))
}

// plain reports whether Text leaves s unchanged. Most values are ASCII, and are checked eight bytes at a time.
func plain(s string) bool {
	const (
		ones  = 0x0101_0101_0101_0101
		highs = 0x80 * ones
	)
	rest := unsafe.Slice(unsafe.StringData(s), len(s))
	for ; len(rest) >= 8; rest = rest[8:] {
		if w := binary.LittleEndian.Uint64(rest); (w|(w-ones))&highs != 0 { // a byte is 0 or not ASCII
			break
		}
	}
	for len(rest) > 0 && rest[0] > 0 && rest[0] < utf8.RuneSelf {
		rest = rest[1:]
	}
	return len(s) <= MaxText && (len(rest) == 0 || utf8.ValidString(s) && strings.IndexByte(s, 0) < 0)
}

// Interner stores equal values once, so that a host that a log names a million times is allocated once. It cleans values as Text
// does. The zero Interner is ready to use; it is not safe for concurrent use.
type Interner struct {
	slots   []string          // values by their hash, "" if empty. The number of slots is a power of two
	cleaned map[string]string // values by the text in the log, if that had to be cleaned
	known   int               // values in both
}

// seed makes hashes unpredictable for the writers of logs.
var seed = maphash.MakeSeed()

// maxInterned bounds the memory of an Interner for a log full of different values: 64 Ki short strings.
const (
	maxInterned     = 64 << 10
	maxInternedText = 256
	fewestSlots     = 64
)

// Text returns the value of b, which may be reused afterwards.
func (in *Interner) Text(b []byte) string {
	if len(in.slots) == 0 || len(b) > maxInternedText {
		return in.add(b)
	}
	at := in.slot(b)
	if s := in.slots[at]; s != "" {
		return s
	}
	return in.add(b)
}

// slot returns the slot of b's value, or the empty slot where it belongs.
func (in *Interner) slot(b []byte) int {
	for at := int(maphash.Bytes(seed, b)); ; at++ {
		at &= len(in.slots) - 1
		if s := in.slots[at]; s == "" || s == string(b) {
			return at
		}
	}
}

// add adds the value of bytes that are in no slot.
func (in *Interner) add(b []byte) string {
	if len(b) > maxInternedText {
		return Text(string(b))
	}
	if s, ok := in.cleaned[string(b)]; ok {
		return s
	}
	if in.known == maxInterned || in.slots == nil {
		*in = Interner{slots: make([]string, fewestSlots), cleaned: map[string]string{}}
	}
	s := Text(string(b))
	in.known++
	if s == "" || s != string(b) {
		in.cleaned[string(b)] = s
		return s
	}
	if 2*in.known > len(in.slots) { // half of them stay empty, so that lookups probe few slots
		in.grow()
	}
	in.slots[in.slot(b)] = s
	return s
}

func (in *Interner) grow() {
	old := in.slots
	in.slots = make([]string, 2*len(old))
	for _, s := range old {
		if s != "" {
			in.slots[in.slot([]byte(s))] = s
		}
	}
}

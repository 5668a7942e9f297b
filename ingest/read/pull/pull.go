package pull

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth bounds the nesting of the values of a record. Records stay below ten; plans of queries go deeper.
const MaxDepth = 512

// Puller reads one JSON value from memory, member by member. It accepts any key order, white space, escapes and unknown keys.
// Its first error is kept in Why and ends it: later calls report nothing more.
//
// Skipped values are checked for strings and brackets only: damage inside a value that is not read has no effect.
type Puller struct {
	Name []byte // of the last member; valid until the next one
	Why  string // the first error; "" if none

	// Deep is the maximum nesting of objects and arrays that are entered, if more than MaxDepth. A skipped value has at most
	// MaxDepth levels of its own.
	Deep int

	// Short reports that the error is the end of the text: with more text, there might be none.
	Short bool

	b     []byte
	i     int
	first bool // no member of the current object or array has been read yet
	depth int
	buf   []byte // the last unescaped string
	kbuf  []byte // the last unescaped key
}

// Reset starts over with another text.
func (p *Puller) Reset(b []byte) {
	p.b, p.i, p.Why, p.Short, p.first, p.depth = b, 0, "", false, false, 0
}

// Rest returns the text after what was read.
func (p *Puller) Rest() []byte { return p.b[p.i:] }

// Value returns the text from the next value on, without white space before it, for a caller that may recognise it; Take then
// moves past it.
func (p *Puller) Value() []byte {
	p.Peek()
	return p.b[p.i:]
}

// Take moves past a value of n bytes that the caller has read.
func (p *Puller) Take(n int) { p.i += n }

// short records the error of a text that ends too early.
func (p *Puller) short(where string) bool {
	p.Short = p.Short || p.Why == ""
	return p.fail("it ends within " + where)
}

// wrong records the error of an unexpected byte, or of a missing one.
func (p *Puller) wrong(why string) bool {
	if p.Peek() == 0 && p.i == len(p.b) {
		return p.short("an object")
	}
	return p.fail(why)
}

func (p *Puller) fail(why string) bool {
	if p.Why == "" {
		p.Why = why
	}
	p.i = len(p.b)
	return false
}

// Peek returns the next byte that is not white space, 0 at the end.
func (p *Puller) Peek() byte {
	for p.i < len(p.b) {
		switch c := p.b[p.i]; c {
		case ' ', '\t', '\r', '\n':
			p.i++
		default:
			return c
		}
	}
	return 0
}

// End reports whether the value was read completely and nothing follows it.
func (p *Puller) End() bool {
	if p.Why == "" && p.Peek() != 0 {
		return p.fail("text follows the record")
	}
	return p.Why == ""
}

// Object enters an object. A value of another kind is skipped.
func (p *Puller) Object() bool { return p.open('{') }

// Array enters an array. A value of another kind is skipped.
func (p *Puller) Array() bool { return p.open('[') }

func (p *Puller) open(bracket byte) bool {
	if p.Peek() != bracket {
		p.Skip()
		return false
	}
	p.depth++
	if p.depth > max(MaxDepth, p.Deep) {
		return p.fail("nested too deep")
	}
	p.i++
	p.first = true
	return true
}

// Key moves to the next member of an object, whose name is then in k, or leaves the object.
func (p *Puller) Key() bool {
	if !p.next('}') {
		return false
	}
	if p.Peek() != '"' {
		return p.wrong("a key was expected")
	}
	raw, escaped := p.quoted()
	if escaped {
		p.kbuf = unescape(p.kbuf[:0], raw)
		raw = p.kbuf
	}
	p.Name = raw
	if p.Peek() != ':' {
		return p.wrong("a colon was expected")
	}
	p.i++
	return true
}

// Elem moves to the next element of an array, or leaves the array.
func (p *Puller) Elem() bool { return p.next(']') }

func (p *Puller) next(closing byte) bool {
	if p.Why != "" {
		return false
	}
	c := p.Peek()
	if c == closing {
		p.i++
		p.depth--
		p.first = false
		return false
	}
	if p.first {
		p.first = false
		if c == 0 {
			return p.short("a value")
		}
		return true
	}
	if c != ',' {
		if c == 0 {
			return p.short("a value")
		}
		return p.fail("a comma was expected")
	}
	p.i++
	return true
}

// Str reads a string, valid until the next one is read. A value of another kind is skipped and reports false.
func (p *Puller) Str() ([]byte, bool) {
	if p.Peek() != '"' {
		p.Skip()
		return nil, false
	}
	raw, escaped := p.quoted()
	if escaped {
		p.buf = unescape(p.buf[:0], raw)
		raw = p.buf
	}
	return raw, p.Why == ""
}

// Number reads an integer. A value of another kind, a fraction, or a number beyond 64 bits is skipped and reports false.
func (p *Puller) Number() (int64, bool) {
	c := p.Peek()
	if c != '-' && (c < '0' || c > '9') {
		p.Skip()
		return 0, false
	}
	start := p.i
	p.i++
	for p.i < len(p.b) && numberByte[p.b[p.i]] {
		p.i++
	}
	text := p.b[start:p.i]
	if v, ok := natural(text); ok {
		return v, true
	}
	if v, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return v, true
	}
	if f, err := strconv.ParseFloat(string(text), 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f), true
	}
	return 0, false
}

// natural reads the usual form of numbers: at most 18 digits.
func natural(text []byte) (v int64, ok bool) {
	if len(text) > 18 {
		return 0, false
	}
	for _, c := range text {
		if c -= '0'; c > 9 {
			return 0, false
		}
		v = v*10 + int64(c)
	}
	return v, true
}

// Float reads a number. A value of another kind is skipped and reports false.
func (p *Puller) Float() (float64, bool) {
	c := p.Peek()
	if c != '-' && (c < '0' || c > '9') {
		p.Skip()
		return 0, false
	}
	start := p.i
	for p.i < len(p.b) && numberByte[p.b[p.i]] {
		p.i++
	}
	v, err := strconv.ParseFloat(string(p.b[start:p.i]), 64)
	return v, err == nil
}

var numberByte = [256]bool{'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true,
	'8': true, '9': true, '.': true, 'e': true, 'E': true, '+': true, '-': true}

// Literal reads a number, true, false or null, as written. A value of another kind is skipped and returns nothing.
func (p *Puller) Literal() []byte {
	switch p.Peek() {
	case '"', '{', '[':
		p.Skip()
		return nil
	}
	start := p.i
	p.Skip()
	if p.Why != "" {
		return nil
	}
	return p.b[start:p.i]
}

// Flag reads true or false. A value of another kind is skipped and reports false twice.
func (p *Puller) Flag() (v, ok bool) {
	switch {
	case p.Peek() == 't' && bytes.HasPrefix(p.b[p.i:], []byte("true")):
		p.i += 4
		return true, true
	case p.Peek() == 'f' && bytes.HasPrefix(p.b[p.i:], []byte("false")):
		p.i += 5
		return false, true
	}
	p.Skip()
	return false, false
}

// quoted reads a string at whose opening quote the Puller is, as written.
func (p *Puller) quoted() (raw []byte, escaped bool) {
	p.i++
	start := p.i
	for {
		n := bytes.IndexByte(p.b[p.i:], '"')
		if n < 0 {
			p.short("a string")
			return nil, false
		}
		q := p.i + n
		p.i = q + 1
		back := q
		for back > start && p.b[back-1] == '\\' {
			back--
		}
		if (q-back)%2 == 0 {
			raw = p.b[start:q]
			return raw, bytes.IndexByte(raw, '\\') >= 0
		}
	}
}

// Skip moves past a value.
func (p *Puller) Skip() {
	switch c := p.Peek(); c {
	case 0:
		p.short("a value")
	case '"':
		p.quoted()
	case '{', '[':
		p.skipNested()
	default:
		start := p.i
		for p.i < len(p.b) && literalByte[p.b[p.i]] {
			p.i++
		}
		if p.i == start {
			p.fail("a value was expected")
		}
	}
}

var literalByte = func() (t [256]bool) {
	for _, c := range "+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" {
		t[c] = true
	}
	return t
}()

// EndOf returns where the object or array that starts at i ends, just after its bracket. If it does not end, whole is false and
// end is the end of b.
func EndOf(b []byte, i int) (end int, whole bool) {
	p := Puller{b: b, i: i}
	p.skipNested()
	return p.i, p.Why == ""
}

// skipNested moves past an object or array at whose bracket the Puller is.
func (p *Puller) skipNested() {
	var square [MaxDepth/64 + 1]uint64 // which of the open brackets are square
	depth := 0
	for p.i < len(p.b) {
		c := p.b[p.i]
		if !structureByte[c] {
			p.i++
			continue
		}
		switch c {
		case '"':
			p.quoted()
			continue
		case '{', '[':
			depth++
			if depth > MaxDepth || p.depth+depth > max(MaxDepth, p.Deep) {
				p.fail("nested too deep")
				return
			}
			if bit := uint64(1) << (depth % 64); c == '[' {
				square[depth/64] |= bit
			} else {
				square[depth/64] &^= bit
			}
		default:
			if square[depth/64]>>(depth%64)&1 == 1 != (c == ']') {
				p.fail("a bracket closes that was not opened")
				return
			}
			if depth--; depth == 0 {
				p.i++
				return
			}
		}
		p.i++
	}
	p.short("a value")
}

var structureByte = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// unescape appends raw with its escapes resolved. An invalid escape loses its backslash; half a surrogate pair becomes U+FFFD.
func unescape(dst, raw []byte) []byte {
	for len(raw) > 0 {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 || n+1 == len(raw) {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:n]...)
		c := raw[n+1]
		raw = raw[n+2:]
		switch c {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			r, used := unicodeEscape(raw)
			dst = utf8.AppendRune(dst, r)
			raw = raw[used:]
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// unicodeEscape returns the rune of the digits after a \u, and of the second half of a surrogate pair if one follows.
func unicodeEscape(raw []byte) (r rune, used int) {
	hi, ok := hex4(raw)
	if !ok {
		return utf8.RuneError, 0
	}
	if !utf16.IsSurrogate(hi) {
		return hi, 4
	}
	if len(raw) >= 10 && raw[4] == '\\' && raw[5] == 'u' {
		if lo, ok := hex4(raw[6:]); ok {
			if r := utf16.DecodeRune(hi, lo); r != utf8.RuneError {
				return r, 10
			}
		}
	}
	return utf8.RuneError, 4
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[:4]), 16, 32)
	return rune(v), err == nil
}

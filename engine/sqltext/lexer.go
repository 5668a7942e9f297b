package sqltext

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Dialect is the dialect of a text.
type Dialect int

const (
	DuckDB Dialect = iota
	Spark
)

// Kind is the kind of a token.
type Kind int

const (
	Space   Kind = iota // white space
	Comment             // with what ends it
	Word                // a keyword, a name without quotes, or a number
	Name                // a name in quotes
	String              // a text in quotes
	Sign                // a byte or character that is nothing else; of Spark also the signs of a hint, /*+ and */
)

// Token is a piece of a text. The concatenation of its tokens is the text.
type Token struct {
	Kind   Kind
	Text   string
	Offset int  // in the text
	Open   bool // a comment, name or text in quotes whose end is missing
}

// Is compares a word or a sign, ignoring case.
func (t Token) Is(text string) bool {
	return (t.Kind == Word || t.Kind == Sign) && strings.EqualFold(t.Text, text)
}

// Tokens yields the tokens of a text in order.
func (d Dialect) Tokens(sql string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		for at := 0; at < len(sql); {
			t := d.token(sql[at:])
			t.Offset = at
			if !yield(t) {
				return
			}
			at += len(t.Text)
		}
	}
}

// token returns the first token of a text.
func (d Dialect) token(s string) Token {
	kind, n, open := Sign, 1, false
	switch c := s[0]; {
	case strings.HasPrefix(s, "--"):
		kind, n = Comment, d.lineComment(s)
	case d.opensComment(s):
		kind = Comment
		n, open = d.blockComment(s)
	case d == Spark && strings.HasPrefix(s, "/*"):
		n = len(hintStart)
	case d == Spark && strings.HasPrefix(s, hintEnd):
		n = len(hintEnd)
	case d.quoted(s) > 0:
		return d.quotation(s)
	case c < utf8.RuneSelf && wordByte(c):
		kind, n = Word, d.wordLength(s)
	default:
		r, size := utf8.DecodeRuneInString(s)
		switch n = size; {
		case unicode.IsSpace(r):
			kind, n = Space, spaceLength(s)
		case unicode.IsLetter(r) || d == DuckDB && c >= utf8.RuneSelf:
			kind, n = Word, d.wordLength(s)
		}
	}
	return Token{Kind: kind, Text: s[:n], Open: open}
}

// quoted returns the length of the opening mark of a quoted text or name, or 0 if the text does not begin with one.
func (d Dialect) quoted(s string) int {
	if d == Spark {
		return sparkQuote(s)
	}
	return duckQuote(s)
}

func (d Dialect) quotation(s string) Token {
	if d == Spark {
		return sparkQuotation(s)
	}
	return duckQuotation(s)
}

// lineComment returns the length of a comment that begins with --.
func (d Dialect) lineComment(s string) int {
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\n' && !(d == Spark && s[i-1] == '\\'):
			return i + 1
		case s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n':
			return i + 2
		case s[i] == '\r':
			return i + 1
		}
	}
	return len(s)
}

// opensComment reports whether a comment begins that */ ends.
func (d Dialect) opensComment(s string) bool {
	return strings.HasPrefix(s, "/*") && !(d == Spark && strings.HasPrefix(s, hintStart))
}

// blockComment returns the length of a comment, which may be nested.
func (d Dialect) blockComment(s string) (n int, open bool) {
	depth := 0
	for i := 0; i < len(s); {
		switch {
		case d.opensComment(s[i:]):
			depth++
			i += 2
		case strings.HasPrefix(s[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				return i, false
			}
		default:
			i++
		}
	}
	return len(s), true
}

// wordLength returns the length of a word. In DuckDB letters after a number are a word of their own, and $ is a letter.
func (d Dialect) wordLength(s string) int {
	if d == DuckDB && s[0] >= '0' && s[0] <= '9' {
		return len(s) - len(strings.TrimLeft(s, "0123456789"))
	}
	if n := sparkExponent(s); d == Spark && n > 0 {
		return n
	}
	for i, r := range s {
		if r < utf8.RuneSelf && !wordByte(byte(r)) && !(d == DuckDB && r == '$') || r >= utf8.RuneSelf && !unicode.IsLetter(r) &&
			!(d == DuckDB && !unicode.IsSpace(r)) {
			return i
		}
	}
	return len(s)
}

func spaceLength(s string) int { return len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace)) }

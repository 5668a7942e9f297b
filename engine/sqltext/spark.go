package sqltext

import "regexp"

// Spark's lexer is that of its SqlBaseLexer.g4, of releases 3.5 to 4.1 (sql/api/src/main/antlr4 in apache/spark). Where
// releases differ, tokens are those of the oldest; callers that must be certain reject such texts: characters that are not
// ASCII outside quotes and comments, and names containing ://.

// A hint looks like a comment and is none.
const (
	hintStart = "/*+"
	hintEnd   = "*/"
)

func sparkQuotation(s string) Token {
	n := sparkQuote(s)
	kind, open := String, false
	switch s[0] {
	case '`':
		kind = Name
		n, open = doubled(s, n, '`')
	case '"': // a session setting makes it a name
		kind = Name
		n, open = escaped(s, n, '"')
	case '\'':
		n, open = escaped(s, n, '\'')
	default: // nothing has a meaning in it but its quote
		n, open = closed(s, n, s[1:2])
	}
	return Token{Kind: kind, Text: s[:n], Open: open}
}

// sparkQuote returns the length of what opens a text in quotes or a name: a quote, or r and a quote.
func sparkQuote(s string) int {
	switch s[0] {
	case '\'', '"', '`':
		return 1
	case 'r', 'R':
		if len(s) > 1 && (s[1] == '\'' || s[1] == '"') {
			return 2
		}
	}
	return 0
}

// exponent is a number that ends within what looks like a word: of 1e+0USING, the word USING is what follows it.
var exponent = regexp.MustCompile(`^[0-9]+[eE][+-][0-9]+(?i:bd|d|f)?`)

func sparkExponent(s string) int { return len(exponent.FindString(s)) }

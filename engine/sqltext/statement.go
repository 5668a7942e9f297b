package sqltext

import (
	"strings"
	"unicode"
)

// Trim removes the semicolon of a statement, so that it can be embedded in a larger one.
func (d Dialect) Trim(sql string) string {
	for t := range d.Tokens(sql) {
		if t.Is(";") {
			return sql[:t.Offset]
		}
	}
	return sql
}

// OneLine puts a statement on one line, with a space for a comment or a break between tokens; not ok if a break is part of a
// text or a name in quotes.
func (d Dialect) OneLine(sql string) (line string, ok bool) {
	var b strings.Builder
	spaced := true
	for t := range d.Tokens(sql) {
		switch space := t.Kind == Space || t.Kind == Comment; {
		case !space && strings.Contains(t.Text, "\n"):
			return "", false
		case !space:
			b.WriteString(t.Text)
		case !spaced:
			b.WriteByte(' ')
		}
		spaced = t.Kind == Space || t.Kind == Comment
	}
	return strings.TrimSuffix(b.String(), " "), true
}

// Split splits a text into statements, without semicolons, and the rest after the last one. Statements that consist of comments
// only are omitted, except for an open comment, because more text may close it. White space at the end of the rest is kept in
// an open text, which it is part of.
func (d Dialect) Split(text string) (statements []string, rest string) {
	start, empty, open := 0, true, false
	for t := range d.Tokens(text) {
		open = t.Open && t.Kind != Comment
		switch {
		case t.Is(";"):
			if !empty {
				statements = append(statements, strings.TrimSpace(text[start:t.Offset]))
			}
			start, empty = t.Offset+1, true
		case t.Kind != Space && t.Kind != Comment || t.Open:
			empty = false
		}
	}
	switch {
	case !empty && open:
		rest = strings.TrimLeftFunc(text[start:], unicode.IsSpace)
	case !empty:
		rest = strings.TrimSpace(text[start:])
	}
	return statements, rest
}

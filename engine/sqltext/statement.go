package sqltext

import "strings"

// Trim cuts a statement before its semicolon, so that it can be put into a larger one.
func (d Dialect) Trim(sql string) string {
	for t := range d.Tokens(sql) {
		if t.Is(";") {
			return sql[:t.Offset]
		}
	}
	return sql
}

// Split cuts a text into its statements, without their semicolons, and what comes after the last one. Statements of
// nothing but comments are left out; an open comment is not, because more text may close it.
func (d Dialect) Split(text string) (statements []string, rest string) {
	start, empty := 0, true
	for t := range d.Tokens(text) {
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
	if !empty {
		rest = strings.TrimSpace(text[start:])
	}
	return statements, rest
}

package spark

import (
	"fmt"
	"slices"
	"strings"

	"straggler/engine"
	"straggler/engine/sqltext"
)

// What users may ask of a locked engine on Spark. Spark has no way to close a session, so the statement's words are held
// against a list before it is sent: it must begin like a query, and must not write, run programs or call Java by name.
// The session itself reads no file by path and puts no variables into statements.
//
// What can not be held: other tables of the server's metastore can be read with the rights of the user who is logged in,
// and functions that an administrator has registered can be called.

// sparkBeginnings are the words that a query may begin with.
var sparkBeginnings = []string{"select", "with", "values", "table", "describe", "desc", "show", "explain", "from"}

// sparkWrites are the statements that may come after WITH x AS (…) or FROM x.
var sparkWrites = []string{"insert", "update", "delete", "merge"}

// sparkCalls are functions that do more than give a value: the first three call Java by name, and IDENTIFIER makes a name
// of any text.
var sparkCalls = []string{"reflect", "java_method", "try_reflect", "identifier"}

// checkSpark holds a statement against what may be asked.
func checkSpark(sql string) error {
	words := sparkWords(sql)
	switch i := slices.Index(words, ";"); {
	case strings.ContainsRune(sql, 0):
		return fmt.Errorf("spark: %w: the statement has a zero byte in it", engine.ErrStatement)
	case len(words) == 0 || i == 0:
		return fmt.Errorf("spark: %w: there is no statement", engine.ErrStatement)
	case i >= 0 && i < len(words)-1:
		return fmt.Errorf("spark: %w: one statement at a time", engine.ErrStatement)
	case !slices.Contains(sparkBeginnings, words[0]):
		return errSparkQuery
	}
	before, next := "", ""
	for i, w := range words {
		if next = ""; i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case slices.Contains(sparkWrites, w) && before != "." && before != "as":
			return fmt.Errorf("spark: %w: %s changes tables; a column of that name can be written `%s`", engine.ErrStatement, strings.ToUpper(w), w)
		case slices.Contains(sparkCalls, w) && next == "(":
			return fmt.Errorf("spark: %w: the function %s has effects", engine.ErrStatement, w)
		case w == quotedWord && next == "(" && before != "with": // WITH "x" (a) AS
			return fmt.Errorf("spark: %w: the name of a function can not stand in quotes here", engine.ErrStatement)
		case w == "using" && next == quotedWord: // SELECT TRANSFORM (…) USING 'program'
			return fmt.Errorf("spark: %w: USING runs a program", engine.ErrStatement)
		}
		before = w
	}
	return nil
}

var errSparkQuery = fmt.Errorf("spark: %w: only queries are: SELECT, WITH, VALUES, FROM, TABLE, DESCRIBE, SHOW, and EXPLAIN of them", engine.ErrStatement)

// quotedWord stands for what is in quotes.
const quotedWord = "'"

// sparkWords are a statement's words in lower case, and its signs, without what stands in quotes and comments.
func sparkWords(sql string) []string {
	var words []string
	for i := 0; i < len(sql); {
		switch n, kind := sparkToken(sql, i); kind {
		case wordToken:
			words = append(words, strings.ToLower(sql[i:i+n]))
			i += n
		case signToken:
			words = append(words, sql[i:i+1])
			i++
		case quotedToken:
			words = append(words, quotedWord)
			i += n
		default:
			i += n
		}
	}
	return words
}

type tokenKind int

const (
	spaceToken tokenKind = iota // and comments
	wordToken
	quotedToken
	signToken
)

// sparkToken is the length and kind of the token that begins at i.
func sparkToken(sql string, i int) (int, tokenKind) {
	rest := sql[i:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "--"):
		return lineComment(rest), spaceToken
	case strings.HasPrefix(rest, "/*"):
		return sqltext.CommentEnd(rest), spaceToken
	case c == '\'' || c == '"':
		raw := i > 0 && (sql[i-1] == 'r' || sql[i-1] == 'R') && (i == 1 || !sqltext.WordByte(sql[i-2]))
		if raw {
			return sqltext.End(rest, string(c), 1), quotedToken
		}
		return backslashEnd(rest, c), quotedToken
	case c == '`':
		return sqltext.End(rest, "`", 1), quotedToken
	case sqltext.WordByte(c):
		n := 1
		for n < len(rest) && sqltext.WordByte(rest[n]) {
			n++
		}
		return n, wordToken
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
		return 1, spaceToken
	}
	return 1, signToken
}

// lineComment is the length of a comment that begins with --; a backslash before the end of the line carries it on.
func lineComment(s string) int {
	for i := 2; i < len(s); i++ {
		if s[i] == '\n' && s[i-1] != '\\' {
			return i + 1
		}
	}
	return len(s)
}

// backslashEnd is the length of a quoted text in which a backslash takes the next byte's meaning away.
func backslashEnd(s string, quote byte) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(s)
}

// trimSpark cuts a statement's text before its semicolon, and leaves out NOT MATERIALIZED: it asks DuckDB for what Spark
// does anyway, and Spark has no words for it.
func trimSpark(sql string) string {
	var out strings.Builder
	var before string
	for i := 0; i < len(sql); {
		n, kind := sparkToken(sql, i)
		text := sql[i : i+n]
		if text == ";" && kind == signToken {
			break
		}
		if kind == wordToken && strings.EqualFold(text, "materialized") && strings.EqualFold(before, "not") {
			kept := out.String()
			out.Reset()
			out.WriteString(kept[:strings.LastIndex(kept, before)])
			text = ""
		}
		if kind != spaceToken {
			before = text
		}
		out.WriteString(text)
		i += n
	}
	return out.String()
}

package spark

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"straggler/engine"
	"straggler/engine/sqltext"
)

// Restrictions on the statements of users on a locked engine. Spark cannot lock a session, so a statement is checked before it
// is sent. It must have the same tokens in every release of Spark, begin like a query, contain no statement that changes
// something, run no program, and call only the functions in functions.txt: Spark's own, except those that call Java by name
// (reflect) or read files (from_protobuf). The session itself reads no file by path and substitutes no variables in statements.
//
// It cannot be prevented that other tables of the server's metastore are read with the rights of the user of the session.

// beginnings are the words that a query may begin with.
var beginnings = words("select with values table describe desc show explain from")

// explainModes are the words allowed between EXPLAIN and the statement.
var explainModes = words("logical formatted extended codegen cost")

// writes are the words of modifying statements that may follow WITH x AS (…) or FROM x.
var writes = words("insert update delete merge")

// functions are the allowed functions.
var functions = words(functionNames + " try_cast timestampadd timestampdiff varchar character dec numeric")

//go:embed functions.txt
var functionNames string

// beforeParenthesis are the keywords that may precede a parenthesis which does not belong to a function.
var beforeParenthesis = words(`select all distinct from where having by on using in exists any some not and or between like ilike rlike regexp
	when then else case over within group filter as union intersect except minus join lateral values table pivot unpivot for interval limit offset div
	tablesample rollup cube sets qualify of placing leading trailing both escape exclude include materialized query explain describe desc is`)

// hints are the names of hints, which a parenthesis may follow.
var hints = words(`broadcast broadcastjoin mapjoin merge shuffle_merge mergejoin shuffle_hash shuffle_replicate_nl coalesce repartition
	repartition_by_range rebalance`)

func words(text string) map[string]bool {
	out := make(map[string]bool)
	for w := range strings.FieldsSeq(text) {
		out[w] = true
	}
	return out
}

// checkStatement returns an error if a statement is not allowed.
func checkStatement(sql string) error {
	tokens, err := unambiguous(sql)
	if err != nil {
		return err
	}
	if n := len(tokens); n > 0 && tokens[n-1].is(";") {
		tokens = tokens[:n-1]
	}
	switch {
	case len(tokens) == 0:
		return refused("there is no statement")
	case slices.ContainsFunc(tokens, func(t token) bool { return t.is(";") }):
		return refused("one statement at a time")
	}
	query := tokens
	if query[0].is("explain") {
		for query = query[1:]; len(query) > 0 && explainModes[query[0].word()]; query = query[1:] {
		}
	}
	if len(query) == 0 || !beginnings[query[0].word()] {
		return refused("only queries are: SELECT, WITH, VALUES, FROM, TABLE, DESCRIBE, SHOW, and EXPLAIN of them")
	}
	declared := declaredTables(tokens)
	for i, t := range tokens {
		before, next := at(tokens, i-1), at(tokens, i+1)
		switch {
		case writes[t.word()] && !t.hint && !before.is(".") && !before.is("as"):
			return refused("%s changes tables; a column of that name can be written `%s`", strings.ToUpper(t.Text), t.word())
		case t.is("using") && !next.is("("): // SELECT TRANSFORM (…) USING 'program'
			return refused("USING runs a program")
		case next.is("(") && !declared[i]:
			if err := checkCall(t, before); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkCall returns an error if a token may not precede a parenthesis.
func checkCall(t, before token) error {
	name := t.word()
	switch {
	case t.Kind == sqltext.Sign:
		return nil
	case t.hint && hints[name], !t.hint && beforeParenthesis[name] && !before.is("."):
		return nil
	case before.is("as") || before.is(")"): // the alias of a table and its columns: no expression can begin here
		return nil
	case t.Kind == sqltext.Name:
		return refused("the name of a function cannot stand in quotes here")
	case t.hint || t.Kind != sqltext.Word || before.is(".") || !functions[name]:
		return refused("the function %s is not among those of Spark that only return a value", t.Text)
	}
	return nil
}

// declaredTables finds the names, by their place, of tables with lists of columns in WITH a (…) AS (…), b (…) AS (…).
func declaredTables(tokens []token) map[int]bool {
	names := make(map[int]bool)
	for i, t := range tokens {
		if !t.is("with") {
			continue
		}
		if at(tokens, i+1).is("recursive") {
			i++
		}
		for more := true; more; more = at(tokens, i).is(",") {
			name := i + 1
			i += 2
			if at(tokens, i).is("(") {
				i = afterParentheses(tokens, i)
			}
			if !at(tokens, i).is("as") || !at(tokens, i+1).is("(") {
				break
			}
			names[name] = true
			i = afterParentheses(tokens, i+1)
		}
	}
	return names
}

// afterParentheses returns the place after the parenthesis that closes the one at i.
func afterParentheses(tokens []token, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch {
		case tokens[i].is("("):
			depth++
		case tokens[i].is(")"):
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// token is a token that is neither space nor a comment.
type token struct {
	sqltext.Token
	hint bool // it is part of a hint
}

func (t token) is(text string) bool { return t.Is(text) }

// word returns a word in lower case, or "" for any other token.
func (t token) word() string {
	if t.Kind != sqltext.Word {
		return ""
	}
	return strings.ToLower(t.Text)
}

func at(tokens []token, i int) token {
	if i < 0 || i >= len(tokens) {
		return token{}
	}
	return tokens[i]
}

// signs are the signs of Spark, and spaces the white space recognised by every release.
const (
	signs  = "()[],.;!=<>+-*/%&|^~:?"
	spaces = " \t\r\n"
)

// unambiguous returns the tokens of a statement that every release of Spark tokenises alike. Outside quotes and comments that
// means ASCII only: releases differ in other letters and spaces, and Spark converts letters to upper case before lexing, so
// that ſ becomes the S of USING.
func unambiguous(sql string) ([]token, error) {
	if !utf8.ValidString(sql) || strings.ContainsRune(sql, 0) {
		return nil, refused("it is no UTF-8, or has a zero byte in it")
	}
	var out []token
	hint := false
	for t := range sqltext.Spark.Tokens(sql) {
		bad := ""
		switch t.Kind {
		case sqltext.Space:
			bad = strings.Trim(t.Text, spaces)
		case sqltext.Word:
			bad = strings.TrimLeftFunc(t.Text, func(r rune) bool { return r < utf8.RuneSelf })
		case sqltext.Sign:
			bad = strings.TrimLeft(t.Text, signs)
		}
		switch {
		case t.Open:
			return nil, refused("a quote or comment that begins with %.10q does not end", t.Text)
		case bad != "":
			r, _ := utf8.DecodeRuneInString(bad)
			return nil, refused("%q (%U) can stand in quotes only", r, r)
		case strings.HasPrefix(sql[t.Offset:], "://") && t.Kind == sqltext.Sign: // part of a name to some releases, and so is -- then
			return nil, refused(":// can stand in quotes only")
		case t.Kind == sqltext.Space || t.Kind == sqltext.Comment:
			continue
		}
		hint = hint && !t.Is("*/") || t.Is("/*+")
		out = append(out, token{t, hint})
	}
	return out, nil
}

func refused(format string, args ...any) error {
	return fmt.Errorf("spark: %w: %s", engine.ErrStatement, fmt.Sprintf(format, args...))
}

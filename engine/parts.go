package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"straggler/engine/sqltext"
)

// A query with named parts, WITH a AS (…), b AS (…) SELECT …, is run step by step: a part that later parts refer to more than
// once is materialized as a session table until the query is done. DuckDB does that by itself; Spark would compute the part for
// each reference, and read all attempts each time. For people the text remains one query. This applies to the program's own
// .sql files, whose parts begin with "name AS (" and have consistently written names.

// Seen restricts a table of the store in a query to the rows selected by SQL.
type Seen struct{ Table, SQL string }

// MaterializeParts is Engine.Materialize for a query with named parts and restricted tables. The names of intermediate tables
// begin with the table's.
func MaterializeParts(ctx context.Context, eng Engine, table, sql string, seen ...Seen) (err error) {
	return UseParts(ctx, eng, table, sql, func(rest string) error { return eng.Materialize(ctx, table, rest) }, seen...)
}

// UseParts calls a function with a query with named parts, while parts that are needed twice are materialized. The names of
// intermediate tables begin with name.
func UseParts(ctx context.Context, eng Engine, name, sql string, use func(sql string) error, seen ...Seen) (err error) {
	k := keptParts{eng: eng, prefix: name + "_"}
	defer func() { err = errors.Join(err, k.drop(ctx)) }()
	rest, err := k.keep(ctx, sql, seen)
	if err != nil {
		return err
	}
	return use(rest)
}

// errStopped ends reading when the consumer stops.
var errStopped = errors.New("stopped")

// ReadParts is Read for a query with named parts and restricted tables. The names of intermediate tables begin with name.
func ReadParts[R any](ctx context.Context, eng Engine, name, sql string, seen ...Seen) iter.Seq2[*R, error] {
	return func(yield func(*R, error) bool) {
		done := false
		err := UseParts(ctx, eng, name, sql, func(rest string) error {
			for r, err := range Read[R](ctx, eng, rest) {
				if done = !yield(r, err) || err != nil; done {
					return errStopped
				}
			}
			return nil
		}, seen...)
		if err != nil && !done {
			yield(nil, err)
		}
	}
}

// keptParts holds the materialized parts of a query.
type keptParts struct {
	eng    Engine
	prefix string
	names  []string
}

// keep creates the tables and returns the query over them.
func (k *keptParts) keep(ctx context.Context, sql string, seen []Seen) (string, error) {
	d := k.eng.Dialect()
	parts := cutParts(d, sql)
	var known []namedPart
	for _, s := range seen {
		known = append(known, namedPart{name: s.Table, sql: s.SQL, seen: true})
	}
	last := len(parts) - 1
	for i, p := range parts[:last] {
		n := 0
		for _, later := range parts[i+1:] {
			n += uses(d, later.sql, p.name)
		}
		if n > 1 && Reads(d, p.sql) {
			name := k.prefix + p.name
			if err := k.eng.Materialize(ctx, name, withCTEs(d, p.sql, known)); err != nil {
				return "", fmt.Errorf("%s: %w", p.name, err)
			}
			k.names = append(k.names, name)
			p.sql = "SELECT * FROM " + name
		}
		known = append(known, p)
	}
	return withCTEs(d, parts[last].sql, known), nil
}

// drop removes the tables, even after a cancellation.
func (k *keptParts) drop(ctx context.Context) error {
	ctx, cancel := Closing(ctx)
	defer cancel()
	var errs []error
	for _, name := range slices.Backward(k.names) {
		errs = append(errs, k.eng.Drop(ctx, name))
	}
	return errors.Join(errs...)
}

// namedPart is a named part of a query. The last one, which returns the rows, has no name.
type namedPart struct {
	name string
	sql  string
	seen bool // a table of the store, of which sql gives what is to be seen of it
}

// cutParts splits a query into its parts, without comments.
func cutParts(d sqltext.Dialect, sql string) []namedPart {
	var parts []namedPart
	tokens := slices.Collect(d.Tokens(withoutComments(d, sql)))
	next := func() (t sqltext.Token) { // the next token that is no space
		for t.Kind == sqltext.Space && len(tokens) > 0 {
			t, tokens = tokens[0], tokens[1:]
		}
		return t
	}
	start := tokens
	for word := "with"; next().Is(word); word = "," {
		name, as, open := next(), next(), next()
		if name.Kind != sqltext.Word || !as.Is("as") || !open.Is("(") {
			break
		}
		parts = append(parts, namedPart{name: name.Text, sql: textOf(inParentheses(&tokens))})
		start = tokens
	}
	return append(parts, namedPart{sql: strings.TrimSpace(textOf(start))})
}

// withoutComments replaces each comment by a line break.
func withoutComments(d sqltext.Dialect, sql string) string {
	var out strings.Builder
	for t := range d.Tokens(sql) {
		if t.Kind == sqltext.Comment {
			t.Text = "\n"
		}
		out.WriteString(t.Text)
	}
	return out.String()
}

// inParentheses removes tokens up to the closing parenthesis.
func inParentheses(tokens *[]sqltext.Token) []sqltext.Token {
	depth, all := 1, *tokens
	for i, t := range all {
		switch {
		case t.Is("("):
			depth++
		case t.Is(")"):
			depth--
		}
		if depth == 0 {
			*tokens = all[i+1:]
			return all[:i]
		}
	}
	*tokens = nil
	return all
}

func textOf(tokens []sqltext.Token) string {
	var out strings.Builder
	for _, t := range tokens {
		out.WriteString(t.Text)
	}
	return out.String()
}

// Reads reports whether a query reads any table; a list of values is not worth materializing.
func Reads(d sqltext.Dialect, sql string) bool {
	for range readsFrom(d, sql) {
		return true
	}
	return false
}

// withCTEs prefixes a query with the parts that it needs, in order of dependency.
func withCTEs(d sqltext.Dialect, sql string, parts []namedPart) string {
	var with, done []string
	var need func(sql string)
	need = func(sql string) {
		for _, p := range parts {
			if uses(d, sql, p.name) == 0 || slices.Contains(done, p.name) {
				continue
			}
			done = append(done, p.name)
			if p.seen {
				with = append(with, p.name+" AS NOT MATERIALIZED ("+p.sql+")")
				continue
			}
			need(p.sql)
			with = append(with, p.name+" AS ("+p.sql+")")
		}
	}
	need(sql)
	if len(with) == 0 {
		return sql
	}
	return "WITH " + strings.Join(with, ",\n") + "\n" + sql
}

// uses counts how often a query reads from a name.
func uses(d sqltext.Dialect, sql, name string) (n int) {
	for from := range readsFrom(d, sql) {
		if from == name {
			n++
		}
	}
	return n
}

// readsFrom returns the names that a query reads from.
func readsFrom(d sqltext.Dialect, sql string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from := false
		for t := range d.Tokens(sql) {
			switch t.Kind {
			case sqltext.Space, sqltext.Comment:
				continue
			}
			if from && t.Kind == sqltext.Word && !yield(t.Text) {
				return
			}
			from = t.Is("from") || t.Is("join")
		}
	}
}

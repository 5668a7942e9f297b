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

// A query of named parts, WITH a AS (…), b AS (…) SELECT …, is gone through step by step: a part that is named more than
// once by those after it is kept as a session table until the query is done. DuckDB would work it out once by itself;
// Spark does so each time that it is named, and reads all attempts for it again. For people the text stays one query.
// These are our own files, whose parts each begin with "name AS (" and have names that are written in one way.

// Seen is what a query is to see of a table of the store: the rows that SQL gives.
type Seen struct{ Table, SQL string }

// MaterializeParts is Engine.Materialize for a query of named parts. seen are the tables that it is to see in part; the
// names of what is kept on the way begin with the table's.
func MaterializeParts(ctx context.Context, eng Engine, table, sql string, seen ...Seen) (err error) {
	return UseParts(ctx, eng, table, sql, func(rest string) error { return eng.Materialize(ctx, table, rest) }, seen...)
}

// UseParts hands a query of named parts, whose parts that are needed twice are kept meanwhile, to somebody who runs it. The
// names of what is kept begin with name.
func UseParts(ctx context.Context, eng Engine, name, sql string, use func(sql string) error, seen ...Seen) (err error) {
	k := keptParts{eng: eng, prefix: name + "_"}
	defer func() { err = errors.Join(err, k.drop(ctx)) }()
	rest, err := k.keep(ctx, sql, seen)
	if err != nil {
		return err
	}
	return use(rest)
}

// errStopped ends a reading that its consumer has left.
var errStopped = errors.New("stopped")

// ReadParts is Read for a query of named parts, with what it is to see in part. The names of what is kept until all is read
// begin with name.
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

// keptParts are the session tables of a query's parts.
type keptParts struct {
	eng    Engine
	prefix string
	names  []string
}

// keep makes the tables and gives the query over them.
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

// drop forgets the tables, also when what they were made for was cancelled.
func (k *keptParts) drop(ctx context.Context) error {
	ctx, cancel := Closing(ctx)
	defer cancel()
	var errs []error
	for _, name := range slices.Backward(k.names) {
		errs = append(errs, k.eng.Drop(ctx, name))
	}
	return errors.Join(errs...)
}

// namedPart is a named part of a query. The last one, which gives the rows, has no name.
type namedPart struct {
	name string
	sql  string
	seen bool // a table of the store, of which sql gives what is to be seen of it
}

// cutParts gives the parts of a query, without comments.
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

// withoutComments puts a line's end in the place of each comment.
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

// inParentheses takes tokens off up to the parenthesis that closes one before them.
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

// Reads says that a query reads something; what a list of values costs is not worth a table.
func Reads(d sqltext.Dialect, sql string) bool {
	for range readsFrom(d, sql) {
		return true
	}
	return false
}

// withCTEs puts before a query those of the parts that it needs, each after those that it needs itself.
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

// uses says how often a query reads from a name.
func uses(d sqltext.Dialect, sql, name string) (n int) {
	for from := range readsFrom(d, sql) {
		if from == name {
			n++
		}
	}
	return n
}

// readsFrom gives the names that a query reads from.
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

package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"straggler/engine/sqltext"
)

// A query of named parts, WITH a AS (…), b AS (…) SELECT …, is gone through step by step: a part that is named more than
// once by those after it is kept as a session table until the query is done. DuckDB would work it out once by itself;
// Spark does so each time that it is named, and reads all attempts for it again. For people the text stays one query.
// These are our own files, whose parts each begin with "name AS (".

// Seen is what a query is to see of a table of the store: the rows that SQL gives.
type Seen struct{ Table, SQL string }

// MaterializeParts is Engine.Materialize for a query of named parts. seen are the tables that it is to see in part; the
// names of what is kept on the way begin with the table's.
func MaterializeParts(ctx context.Context, eng Engine, table, sql string, seen ...Seen) (err error) {
	k := keptParts{eng: eng, prefix: table + "_"}
	defer func() { err = errors.Join(err, k.drop(ctx)) }()
	rest, err := k.keep(ctx, sql, seen)
	if err != nil {
		return err
	}
	return eng.Materialize(ctx, table, rest)
}

// ReadParts is Read for a query of named parts. The names of what is kept until all is read begin with name.
func ReadParts[R any](ctx context.Context, eng Engine, name, sql string) iter.Seq2[*R, error] {
	return func(yield func(*R, error) bool) {
		k := keptParts{eng: eng, prefix: name + "_"}
		done := false
		defer func() {
			if err := k.drop(ctx); err != nil && !done {
				yield(nil, err)
			}
		}()
		rest, err := k.keep(ctx, sql, nil)
		if err != nil {
			done = true
			yield(nil, err)
			return
		}
		for r, err := range Read[R](ctx, eng, rest) {
			if !yield(r, err) || err != nil {
				done = true
				return
			}
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
	parts := cutParts(sql)
	var known []namedPart
	for _, s := range seen {
		known = append(known, namedPart{name: s.Table, sql: s.SQL, seen: true})
	}
	last := len(parts) - 1
	for i, p := range parts[:last] {
		n := 0
		for _, later := range parts[i+1:] {
			n += uses(later.sql, p.name)
		}
		if n > 1 && reads.MatchString(p.sql) {
			name := k.prefix + p.name
			if err := k.eng.Materialize(ctx, name, whole(p.sql, known)); err != nil {
				return "", fmt.Errorf("%s: %w", p.name, err)
			}
			k.names = append(k.names, name)
			p.sql = "SELECT * FROM " + name
		}
		known = append(known, p)
	}
	return whole(parts[last].sql, known), nil
}

// drop forgets the tables, also when what they were made for was cancelled.
func (k *keptParts) drop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ClosingTime)
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

var partStart = regexp.MustCompile(`^\s*(\w+) AS \(`)

// reads is found in parts that read something; what a list of values costs is not worth a table.
var reads = regexp.MustCompile(`\b(?:FROM|JOIN)\s+\w`)

// cutParts gives the parts of a query.
func cutParts(sql string) []namedPart {
	sql = strings.TrimSpace(withoutComments(sql))
	rest, ok := strings.CutPrefix(sql, "WITH")
	if !ok {
		return []namedPart{{sql: sql}}
	}
	var parts []namedPart
	for {
		at := partStart.FindStringSubmatchIndex(rest)
		if at == nil {
			return append(parts, namedPart{sql: strings.TrimSpace(rest)})
		}
		name, body := rest[at[2]:at[3]], rest[at[1]:]
		n := closing(body)
		parts = append(parts, namedPart{name: name, sql: body[:n]})
		rest = strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(body[n:], ")")), ",")
	}
}

// withoutComments leaves out what stands between -- and the end of a line.
func withoutComments(sql string) string {
	var out strings.Builder
	for sql != "" {
		n := 1
		if strings.HasPrefix(sql, "--") {
			_, sql, _ = strings.Cut(sql, "\n")
			sql = "\n" + sql
		} else if sql[0] == '\'' {
			n = sqltext.End(sql, "'", 1)
		}
		out.WriteString(sql[:n])
		sql = sql[n:]
	}
	return out.String()
}

// closing is where the parenthesis is that closes one before s.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); {
		switch s[i] {
		case '\'':
			i += sqltext.End(s[i:], "'", 1)
			continue
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return i
			}
			depth--
		}
		i++
	}
	return len(s)
}

// uses says how often a query reads from a name.
func uses(sql, name string) int {
	return len(regexp.MustCompile(`\b(?:FROM|JOIN)\s+`+name+`\b`).FindAllString(sql, -1))
}

// whole puts before a query those of the parts that it needs, each after those that it needs itself.
func whole(sql string, parts []namedPart) string {
	var with, done []string
	var need func(sql string)
	need = func(sql string) {
		for _, p := range parts {
			if uses(sql, p.name) == 0 || slices.Contains(done, p.name) {
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

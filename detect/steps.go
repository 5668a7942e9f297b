package detect

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"straggler/store"
)

// A query of named parts, WITH a AS (…), b AS (…) SELECT …, is gone through step by step: a part that is named more than
// once by those after it is kept as a session table. DuckDB would work it out once by itself; Spark does so each time that
// it is named, and reads all attempts for it again. For people the text stays one query.

// part is a named part of a query. The last one, which gives the rows, has no name.
type part struct {
	name string
	sql  string
	seen bool // a table of the store, of which sql gives what is to be seen of it
}

// partStart is the line that begins a named part, which ends with a line that begins with ")".
var partStart = regexp.MustCompile(`(?m)^(?:WITH\s+)?(\w+) AS \(\n`)

var comment = regexp.MustCompile(`--[^\n]*`)

// cut gives the parts of a query.
func cut(sql string) []part {
	var parts []part
	sql = comment.ReplaceAllString(sql, "")
	for {
		at := partStart.FindStringSubmatchIndex(sql)
		if at == nil {
			return append(parts, part{sql: strings.TrimSpace(sql)})
		}
		body, rest, _ := strings.Cut(sql[at[1]:], "\n)")
		parts = append(parts, part{name: sql[at[2]:at[3]], sql: body})
		sql = strings.TrimPrefix(rest, ",")
	}
}

// uses says how often a query reads from a name.
func uses(sql, name string) int {
	return len(regexp.MustCompile(`\b(FROM|JOIN) `+name+`\b`).FindAllString(sql, -1))
}

// whole puts before a query those of the parts that it needs, each after those that it needs itself.
func whole(sql string, parts []part) string {
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

// keep goes through a query and keeps its result as a session table. seen are the tables that it is to see in part; the
// names of what is kept on the way end as the table's does.
func keep(ctx context.Context, eng store.Engine, table, sql string, seen []part) error {
	parts := cut(sql)
	known := slices.Clone(seen)
	for i, p := range parts {
		n := 0
		for _, later := range parts[i+1:] {
			n += uses(later.sql, p.name)
		}
		switch {
		case p.name == "":
			return eng.Materialize(ctx, table, whole(p.sql, known))
		case n > 1:
			kept := table + "_" + p.name
			if err := eng.Materialize(ctx, kept, whole(p.sql, known)); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			p.sql = "SELECT * FROM " + kept
		}
		known = append(known, p)
	}
	return nil
}

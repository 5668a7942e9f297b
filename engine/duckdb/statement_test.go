package duckdb

import (
	"strings"
	"testing"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"straggler/engine"
	"straggler/engine/sqltext"
	"straggler/store"
)

func TestTrimStatement(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT 1", "SELECT 1"},
		{"SELECT 1; ", "SELECT 1"},
		{"SELECT 1 -- one; two\n; -- done;", "SELECT 1 -- one; two\n"},
		{"SELECT 1 -- ;", "SELECT 1 -- ;"},
		{"SELECT ';', 'it''s;' ; ", "SELECT ';', 'it''s;' "},
		{`SELECT E'\';' ;`, `SELECT E'\';' `},
		{`SELECT e'a\\';`, `SELECT e'a\\'`},
		{`SELECT name'\';`, `SELECT name'\'`},
		{`SELECT 1 AS ";""";x`, `SELECT 1 AS ";"""`},
		{"SELECT /* ; /* ; */ ; */ 1;", "SELECT /* ; /* ; */ ; */ 1"},
		{"SELECT $$;$$, $a$;$$;$a$;", "SELECT $$;$$, $a$;$$;$a$"},
		{"SELECT $1;", "SELECT $1"},
		{"", ""}, {";", ""}, {"'", "'"}, {"/*;", "/*;"}, {"$a$;", "$a$;"}, {`e'\`, `e'\`},
	} {
		if got := sqltext.DuckDB.Trim(c.sql); got != c.want {
			t.Errorf("%q is trimmed to %q, want %q", c.sql, got, c.want)
		}
	}
}

// FuzzTrimStatement compares Trim with DuckDB's parser: a query with its semicolon is a query without it, and can stand in
// parentheses.
func FuzzTrimStatement(f *testing.F) {
	for _, sql := range []string{"SELECT 1;", "SELECT ';' -- ;\n;", "SELECT E'\\';'; --", "SELECT $x$;$x$; /* ; */", `SELECT ";" FROM a; ;`, "SELECT 1 /* /* ; */ ; */;",
		"FROM a", "VALUES ('a''b;');", "SELECT e'\\\\';", "SELECT X'41;'", "SELECT 1::INT[1];", "SELECT U&'d;';", "SELECT $1;", "SELECT a$b$;"} {
		f.Add(sql)
	}
	s, err := store.Temp(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	eng, err := Open(f.Context(), s, engine.Options{Threads: 1})
	if err != nil {
		f.Fatal(err)
	}
	defer eng.Close()
	parse := func(t *testing.T, sql string) *syntaxTree {
		tree, err := (&result{d: eng.(*Engine), ctx: t.Context()}).parse(sql)
		if err != nil {
			t.Skip(err) // text that is not UTF-8
		}
		return tree
	}
	f.Fuzz(func(t *testing.T, sql string) {
		trimmed := sqltext.DuckDB.Trim(sql)
		if !strings.HasPrefix(sql, trimmed) {
			t.Fatalf("%q is no part of %q", trimmed, sql)
		}
		if strings.ContainsRune(sql, 0) {
			t.Skip()
		}
		tree := parse(t, sql)
		if n, _ := tree.Statements.([]any); tree.Error || len(n) != 1 {
			return
		}
		if inner := parse(t, "SELECT * FROM ("+trimmed+"\n)"); inner.Error {
			t.Errorf("%q is a query, and in parentheses it gives: %s", sql, inner.Message)
		}
	})
}

// FuzzSplit compares how a text is split into statements with how DuckDB splits it.
func FuzzSplit(f *testing.F) {
	for _, sql := range []string{"SELECT 1; SELECT 2", `SELECT E'it\'s; x'; SELECT 1`, `SELECT 'it\'; SELECT 2`, `SELECT e'a''\'; b'; SELECT 1`, "SELECT E'a'\n'\\'; b'; SELECT 1",
		"SELECT E'a' '\\'; SELECT 1", "SELECT 'a'\n'\\'; SELECT 1", "SELECT E'a'\n-- b\n'\\'; SELECT 1", "/* a /* b; */ c; */ SELECT 1; SELECT 2", "SELECT 1 -- a;\r, 2; SELECT 3", "SELECT 1 AS a$b$; SELECT 2 AS c$b$",
		"SELECT 1$a$;$a$", "SELECT $é$;$é$; SELECT 1", "SELECT 1e'\\';'; SELECT 1", "SELECT /*+ ; */ 1", "SELECT 1 AS \u00a0é; SELECT\u00a02", "SELECT U&'\\'; SELECT 1", "SELECT x'41';;SELECT 1", "SELECT /*/ ; */ 1; SELECT $a$ $b$ ; $a$"} {
		f.Add(sql)
	}
	s, err := store.Temp(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	eng, err := Open(f.Context(), s, engine.Options{Threads: 1})
	if err != nil {
		f.Fatal(err)
	}
	defer eng.Close()
	conn, err := eng.(*Engine).connect()
	if err != nil {
		f.Fatal(err)
	}
	defer eng.(*Engine).release(conn)
	f.Fuzz(func(t *testing.T, sql string) {
		if strings.ContainsRune(sql, 0) || strings.Contains(strings.ToLower(sql), "pivot") { // a PIVOT is several statements
			t.Skip()
		}
		var all mapping.ExtractedStatements
		n := mapping.ExtractStatements(conn, sql, &all)
		defer mapping.DestroyExtracted(&all)
		if n == 0 {
			return // to DuckDB it is nothing
		}
		if got, rest := sqltext.DuckDB.Split(sql + "\n;"); len(got) != int(n) || rest != "" {
			t.Fatalf("%q is cut into %q and %q, and DuckDB sees %d", sql, got, rest, n)
		}
	})
}

package duckdb

import (
	"strings"
	"testing"

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
		if got := sqltext.Trim(c.sql); got != c.want {
			t.Errorf("%q is trimmed to %q, want %q", c.sql, got, c.want)
		}
	}
}

// FuzzTrimStatement holds sqltext.Trim against DuckDB's parser: what is one query with its semicolon is one without,
// and can stand in parentheses.
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
			t.Skip(err) // text that is no UTF-8
		}
		return tree
	}
	f.Fuzz(func(t *testing.T, sql string) {
		trimmed := sqltext.Trim(sql)
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

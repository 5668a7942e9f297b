package sqltext

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
		rest string
	}{
		{"", nil, ""},
		{"SELECT 1", nil, "SELECT 1"},
		{"SELECT 1;", []string{"SELECT 1"}, ""},
		{"SELECT 1; SELECT 2;\n", []string{"SELECT 1", "SELECT 2"}, ""},
		{"SELECT ';'; x", []string{"SELECT ';'"}, "x"},
		{"SELECT 'it''s;'; x", []string{"SELECT 'it''s;'"}, "x"},
		{`SELECT ";" FROM t;`, []string{`SELECT ";" FROM t`}, ""},
		{"SELECT 1 -- no; end\n;", []string{"SELECT 1 -- no; end"}, ""},
		{"-- only; a comment\n", nil, ""},
		{"/* a; b */ SELECT 1;", []string{"/* a; b */ SELECT 1"}, ""},
		{"/* open; ", nil, "/* open;"},
		{"SELECT 'open; ", nil, "SELECT 'open; "},
		{"SELECT $$ ; $$;", []string{"SELECT $$ ; $$"}, ""},
		{"SELECT $a$ $$ ; $a$;", []string{"SELECT $a$ $$ ; $a$"}, ""},
		{"SELECT $1;", []string{"SELECT $1"}, ""},
		{`SELECT E'it\'s; x'; y`, []string{`SELECT E'it\'s; x'`}, "y"},
		{`SELECT 'it\'; x`, []string{`SELECT 'it\'`}, "x"},
		{`SELECT e'a''\'; b'; y`, []string{`SELECT e'a''\'; b'`}, "y"},
		{"SELECT E'a'\n'\\'; b'; y", []string{"SELECT E'a'\n'\\'; b'"}, "y"},
		{"/* a /* b; */ c; */ SELECT 1; y", []string{"/* a /* b; */ c; */ SELECT 1"}, "y"},
		{"/* a /* b; */ c;", nil, "/* a /* b; */ c;"},
		{"SELECT a$b$; y$b$", []string{"SELECT a$b$"}, "y$b$"},
		{"SELECT 1 -- a;\r, 2; y", []string{"SELECT 1 -- a;\r, 2"}, "y"},
		{";;; ;", nil, ""},
		{"SELECT 1;;SELECT 2", []string{"SELECT 1"}, "SELECT 2"},
	} {
		got, rest := DuckDB.Split(c.text)
		if diff := gocmp.Diff(c.want, got); diff != "" || rest != c.rest {
			t.Errorf("%q gives %q and %q, want %q and %q", c.text, got, rest, c.want, c.rest)
		}
	}
}

func TestSparkSplit(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
		rest string
	}{
		{`SELECT 'it\'s; x'; y`, []string{`SELECT 'it\'s; x'`}, "y"},
		{`SELECT r'\'; x; y`, []string{`SELECT r'\'`, "x"}, "y"},
		{"SELECT `a``;b`; y", []string{"SELECT `a``;b`"}, "y"},
		{"SELECT 1 -- a; \\\n b; c\n; y", []string{"SELECT 1 -- a; \\\n b; c"}, "y"},
		{"SELECT /*+ a; */ 1", []string{"SELECT /*+ a"}, "*/ 1"},
		{"SELECT $$;$$", []string{"SELECT $$"}, "$$"},
		{"/* a /* b; */ c; */ SELECT 1; y", []string{"/* a /* b; */ c; */ SELECT 1"}, "y"},
	} {
		got, rest := Spark.Split(c.text)
		if diff := gocmp.Diff(c.want, got); diff != "" || rest != c.rest {
			t.Errorf("%q gives %q and %q, want %q and %q", c.text, got, rest, c.want, c.rest)
		}
	}
}

// Whatever the text, only semicolons, space and comments are lost, and each statement by itself is one statement.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"SELECT ';'; -- x\n SELECT $a$;$a$", "/* ; */;'", "a;\"b;\"\";c\";$_$", "--\n;/**/x;", "$$"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fuzzSplit(t, DuckDB, text)
		fuzzSplit(t, Spark, text)
	})
}

func fuzzSplit(t *testing.T, d Dialect, text string) {
	statements, rest := d.Split(text)
	at := 0
	for _, s := range append(statements, rest) {
		i := strings.Index(text[at:], s)
		if i < 0 {
			t.Fatalf("%q: statement %q is not in the text", text, s)
		}
		at += i + len(s)
	}
	for _, s := range statements {
		again, rest := d.Split(s + "\n;")
		if len(again) != 1 || strings.TrimSpace(again[0]) != s || rest != "" {
			t.Fatalf("%q: statement %q splits into %q and %q", text, s, again, rest)
		}
	}
}

package spark

import (
	"errors"
	"testing"

	"straggler/engine"
)

func TestSparkStatements(t *testing.T) {
	for _, sql := range []string{
		"SELECT 1", " -- what\n select * from attempts;", "WITH x AS (SELECT 1) SELECT * FROM x", "/* a /* b */ c */ VALUES (1)",
		"SELECT transform(array(1), x -> x + 1)", "SELECT map(1, 2) FROM a JOIN b USING (id)", "SELECT 'insert into', `delete`, \"merge\" FROM x",
		"SELECT x.update, 1 AS delete FROM x", "EXPLAIN SELECT 1", "SHOW TABLES", "DESCRIBE attempts", "SELECT 'it\\'s; fine' AS a",
		"SELECT r'\\' AS a, 'reflect(1)' AS b", "WITH `x` (a) AS (SELECT 1) SELECT a FROM x", "SELECT reflect FROM x",
	} {
		if err := checkSpark(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, sql := range []string{
		"", "-- SELECT 1", ";", "INSERT INTO x SELECT 1", "SELECT 1; DROP TABLE x", "WITH x AS (SELECT 1) INSERT INTO y SELECT * FROM x",
		"FROM x INSERT OVERWRITE TABLE y SELECT *", "WITH x AS (SELECT 1) DELETE FROM y", "SET a=b", "CREATE TABLE x (a INT)", "ADD JAR '/x'",
		"SELECT reflect('java.lang.System', 'exit', 1)", "SELECT builtin.reflect ('a', 'b')", "SELECT 1, `reflect`('a', 'b')", "SELECT \"reflect\"('a', 'b')",
		"SELECT IDENTIFIER('ref' || 'lect')('a', 'b')", "SELECT java_method/**/('a', 'b')", "SELECT TRANSFORM (a) USING 'sh -c id' FROM x",
		"FROM x MAP a USING 'id'", "SELECT * FROM (REDUCE a USING \"id\" FROM x)", "SELECT 1 -- \\\n; INSERT INTO x SELECT 1\n; DROP TABLE x",
		"SELECT '\\'' , reflect('a', 'b') , '\\''", "SELECT r'\\', reflect('a', 'b'), '", "EXECUTE IMMEDIATE 'DROP TABLE x'", "BEGIN SELECT 1; END",
		"SELECT 1\x00",
	} {
		if err := checkSpark(sql); !errors.Is(err, engine.ErrStatement) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestSparkTrimmed(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1; SELECT 2": "SELECT 1", "SELECT ';' -- ;\n;": "SELECT ';' -- ;\n",
		"WITH a AS NOT MATERIALIZED (SELECT 1) SELECT 'NOT MATERIALIZED'": "WITH a AS  (SELECT 1) SELECT 'NOT MATERIALIZED'",
	} {
		if got := trimSpark(sql); got != want {
			t.Errorf("%q becomes %q, want %q", sql, got, want)
		}
	}
}

// Whatever the text, what is sent is one statement.
func FuzzSparkStatements(f *testing.F) {
	for _, sql := range []string{"SELECT 1; x", "SELECT '\\", "/*/**/", "-- a\\\nb", "r'", "`", "SELECT `a``b`(1)"} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		sent := trimSpark(sql)
		for _, w := range sparkWords(sent) {
			if w == ";" {
				t.Fatalf("%q has two statements", sent)
			}
		}
	})
}

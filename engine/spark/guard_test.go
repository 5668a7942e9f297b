package spark

import (
	"errors"
	"testing"

	"straggler/engine"
	"straggler/engine/sqltext"
)

func TestSparkStatements(t *testing.T) {
	for _, sql := range []string{
		"SELECT 1", " -- what\n select * from attempts;", "WITH x AS (SELECT 1) SELECT * FROM x", "/* a /* b */ c */ VALUES (1)",
		"SELECT transform(array(1), x -> x + 1)", "SELECT map(1, 2) FROM a JOIN b USING (id)", "SELECT 'insert into', `delete`, \"merge\" FROM x",
		"SELECT x.update, 1 AS delete FROM x", "EXPLAIN SELECT 1", "SHOW TABLES", "DESCRIBE attempts", "SELECT 'it\\'s; fine' AS a",
		"SELECT r'\\' AS a, 'reflect(1)' AS b", "SELECT /*+ MERGE(a), BROADCAST(b) */ * FROM a JOIN b USING (id)",
		"WITH a (x) AS (SELECT 1), b(y) AS (VALUES (2)) SELECT * FROM a, b", "SELECT * FROM (VALUES (1)) t(a), (VALUES (2)) AS \"u\"(b)",
		"SELECT CAST(1 AS DECIMAL(3, 1)), EXTRACT(day FROM t), count(*) FILTER (WHERE a IN (1)) OVER (PARTITION BY (b)) FROM x",
		"EXPLAIN FORMATTED SELECT 1", "SELECT 1 -- \u00a0 is fine here, uſing too\n", "SELECT 'ſ\u00a0' AS `a\u00a0b`",
		"WITH `x` (a) AS (SELECT 1) SELECT a FROM x", "SELECT reflect FROM x",
	} {
		if err := checkStatement(sql); err != nil {
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
		"SELECT 1\x00", "SELECT '\xff'",
		"SELECT TRANSFORM(a) USING r'/bin/sh' AS b FROM attempts", "SELECT TRANSFORM(a) USING R\"/bin/sh\" AS b FROM attempts",
		"SELECT TRANSFORM(a) uſing '/bin/sh' AS b FROM attempts", "SELECT 1 --\r, reflect('a', 'b')", "SELECT 1 -- \\\r\n, reflect('a', 'b')",
		"SELECT reflect\u00a0('a', 'b')", "SELECT reflect\u3000('a', 'b')", "SELECT reflect\v('a', 'b')", "SELECT reflect\u2028('a', 'b')",
		"FROM x MAP 1e+0USING 'id'", "FROM x MAP 1.5e-1USING 'id'", "FROM x MAP 1e+0BDUSING 'id'",
		"SELECT a://b--, reflect('a', 'b')\n FROM x", "SELECT from_protobuf(a, 'm', '/etc/passwd')", "SELECT my.function(1)", "SELECT unheard_of(1)",
		"SELECT system.builtin.reflect('a', 'b')", "SELECT /*+ reflect('a', 'b') */ 1", "SELECT /*+ COALESCE(1) */ reflect('a', 'b')",
		"SELECT 1, reflect('a', 'b') AS (c)", "WITH a AS (SELECT 1) SELECT 1, reflect('a', 'b') AS (c)", "SELECT 1 AS with, reflect('a', 'b') AS (c)",
		"SELECT extract(day FROM reflect('a', 'b'))", "SELECT $$ ', reflect('a', 'b'), '$$", "SELECT 1 /* /*+ */, reflect('a', 'b') /* */",
		"SELECT /* ' */ reflect('a', 'b') /* ' */", "SELECT 'open", "SELECT 1 /* open", "SELECT `open",
		"EXPLAIN INSERT INTO x SELECT 1", "EXPLAIN EXTENDED DROP TABLE x",
		"FROM x |> EXTEND reflect('a', 'b')", "EXPLAIN", "SELECT 1 \\", "SELECT @a", "SELECT {d '2020-01-01'}",
	} {
		if err := checkStatement(sql); !errors.Is(err, engine.ErrStatement) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestSparkTrimmed(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1; SELECT 2": "SELECT 1", "SELECT ';' -- ;\n;": "SELECT ';' -- ;\n",
		"WITH a AS NOT MATERIALIZED (SELECT 1) SELECT 'NOT MATERIALIZED'": "WITH a AS  (SELECT 1) SELECT 'NOT MATERIALIZED'",
	} {
		if got := portable(sql); got != want {
			t.Errorf("%q becomes %q, want %q", sql, got, want)
		}
	}
}

// Whatever the text, a single statement is sent.
func FuzzSparkStatements(f *testing.F) {
	for _, sql := range []string{"SELECT 1; x", "SELECT '\\", "/*/**/", "-- a\\\nb", "r'", "`", "SELECT `a``b`(1)"} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for token := range sqltext.Spark.Tokens(portable(sql)) {
			if token.Is(";") {
				t.Fatalf("%q is two statements", sql)
			}
		}
	})
}

package duckdb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/store"
	"straggler/store/storetest"
)

func TestLockedAnswersQueries(t *testing.T) {
	s := enginetest.Store(t)
	enginetest.Ingest(t, s, 7, storetest.Attempts(7, 100))
	eng := testEngine(t, s, engine.Options{Locked: true})
	for _, c := range []struct {
		sql  string
		rows int
	}{
		{"SELECT * FROM attempts", 100},
		{"select count(*) from attempts;", 1},
		{"FROM attempts LIMIT 3", 3},
		{"TABLE attempts", 100},
		{"VALUES (1), (2)", 2},
		{"WITH a AS (SELECT 1 AS x) SELECT * FROM a", 1},
		{"-- a comment\nSELECT 1 /* another; one */", 1},
		{"SELECT ';', 'it''s' AS \"a;b\"", 1},
		{"DESCRIBE attempts", 35},
		{"DESC SELECT 1 AS x, 2 AS y", 2},
		{"SHOW TABLES", len(schema.Tables())},
		{"SUMMARIZE SELECT task FROM attempts", 1},
		{"EXPLAIN SELECT 1", 1},
		{"explain analyze select 1", 1},
		{"EXPLAIN (FORMAT json) SELECT 1", 1},
		{"EXPLAIN (SELECT 1)", 1},
		{"PIVOT attempts ON status IN ('success') USING count(*) GROUP BY number", 3},
		{"SELECT * FROM range(5)", 5},
		{"SELECT unnest([1, 2, 3])", 3},
		{"SELECT * FROM (SELECT task FROM attempts) UNION ALL SELECT 1", 101},
		{"SELECT list_transform([1, 2], x -> x + 1)", 1},
		{"SELECT * FROM outliers", 0},
	} {
		n, err := enginetest.Count(t.Context(), eng, c.sql)
		if err != nil || n != c.rows {
			t.Errorf("%s gives %d rows and %v, want %d", c.sql, n, err, c.rows)
		}
	}
}

// TestLockedIsClosed tries every way out of a locked engine, and then checks that nothing got out or changed.
func TestLockedIsClosed(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "store")
	s, err := store.Open(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	enginetest.Ingest(t, s, 7, storetest.Attempts(7, 100))
	const secret = "a,b\nsecret,2\n"
	outside := filepath.Join(base, "store-other") // begins with the store's path
	if err := os.Mkdir(outside, 0o777); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(dir, "tables", "attempts")
	for _, f := range []string{filepath.Join(outside, "x.csv"), filepath.Join(base, "x.csv"), filepath.Join(inside, "x.csv")} {
		if err := os.WriteFile(f, []byte(secret), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range []string{"tables/attempts/link.csv", "link.csv", "tables/link.csv"} {
		if err := os.Symlink(filepath.Join(outside, "x.csv"), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "tables", "linked")); err != nil {
		t.Fatal(err)
	}
	before := storetest.Tree(t, base)
	eng := testEngine(t, s, engine.Options{Locked: true})
	var sqls []string
	for _, f := range []string{"/etc/passwd", outside + "/x.csv", outside + "/*", dir + "/../x.csv", dir + "/tables/../../x.csv", inside + "/x.csv",
		inside + "/link.csv", dir + "/link.csv", dir + "/tables/linked/x.csv", dir + "/commits/00000001.json", "http://127.0.0.1:1/x.csv", "https://example.com/x",
		"s3://b/x.csv", "file:///etc/passwd", "file://" + outside + "/x.csv", "/proc/self/environ", "/dev/stdin", "x.csv", "~/.profile"} {
		q := quoteText(f)
		for _, fn := range []string{"read_text", "read_blob", "read_csv", "read_csv_auto", "read_json", "read_ndjson_objects", "read_parquet", "parquet_metadata",
			"parquet_schema", "sniff_csv", "glob", "read_duckdb"} {
			sqls = append(sqls, "SELECT * FROM "+fn+"("+q+")")
		}
		sqls = append(sqls, "SELECT * FROM "+q, "FROM "+q, "SUMMARIZE "+q, "DESCRIBE "+q, "SELECT * FROM query_table("+q+")",
			"SELECT * FROM query('FROM read_text('"+q+"')')", "ATTACH "+q+" AS x", "COPY attempts FROM "+q, "IMPORT DATABASE "+q, "LOAD "+q,
			"SELECT (SELECT content FROM read_text("+q+"))", "WITH a AS (FROM read_csv("+q+")) FROM a", "EXPLAIN ANALYZE FROM read_csv("+q+")")
	}
	for _, f := range []string{inside + "/new.parquet", outside + "/new.csv", dir + "/new.csv", "/dev/null", storetest.ParquetFile(t, inside)} {
		q := quoteText(f)
		sqls = append(sqls, "COPY attempts TO "+q, "COPY (SELECT 1) TO "+q, "EXPLAIN ANALYZE COPY (SELECT 1) TO "+q, "EXPORT DATABASE "+q,
			"explain (analyze) copy (select 1) to "+q, "EXPLAIN /* */ ANALYZE COPY (SELECT 1) TO "+q,
			"SELECT 1; COPY (SELECT 1) TO "+q, "COPY (SELECT 1) TO "+q+"; SELECT 1", "ATTACH "+q+" AS y", "SELECT 1;;COPY (SELECT 1) TO "+q,
			"FROM enable_logging(storage='file', storage_path="+q+")", "SELECT * FROM \"ENABLE_LOGGING\"(storage='file', storage_config={'path': "+q+"})",
			"SELECT * FROM system.main.enable_logging(storage='file')", "CALL enable_logging(storage='file', storage_path="+q+")",
			"PRAGMA enable_profiling("+q+")", "SET temp_directory = "+q, "SELECT * FROM copy_database("+q+", 'x')")
	}
	sqls = append(sqls, "INSTALL httpfs", "LOAD httpfs", "FORCE INSTALL httpfs FROM 'http://127.0.0.1:1'", "SET memory_limit = '1GB'", "RESET threads",
		"SET enable_external_access = true", "SET lock_configuration = false", "SET VARIABLE x = 1", "PRAGMA database_list", "PRAGMA enable_verification",
		"CALL pragma_version()", "CREATE TABLE x AS SELECT 1", "CREATE VIEW x AS SELECT 1", "CREATE OR REPLACE VIEW attempts AS SELECT 1",
		"CREATE MACRO f() AS 1", "CREATE SEQUENCE q", "CREATE TYPE e AS ENUM ('a')", "CREATE SECRET (TYPE s3)", "DROP VIEW attempts", "ALTER VIEW attempts RENAME TO a",
		"INSERT INTO attempts SELECT * FROM attempts", "UPDATE attempts SET task = 1", "DELETE FROM attempts", "TRUNCATE attempts",
		"MERGE INTO attempts USING attempts a ON true WHEN MATCHED THEN DELETE", "BEGIN", "COMMIT", "CHECKPOINT", "FORCE CHECKPOINT", "VACUUM", "ANALYZE",
		"USE memory", "DETACH memory", "PREPARE p AS SELECT 1", "EXECUTE p", "DEALLOCATE p", "COMMENT ON VIEW attempts IS 'x'",
		"SELECT getenv('HOME')", "SELECT nextval('q')", "SELECT write_log('x')", "SELECT setseed(0.5)", "SELECT main.write_log('x')",
		"SELECT * FROM enable_logging()", "SELECT * FROM disable_logging()", "SELECT * FROM force_checkpoint()", "SELECT * FROM json_execute_serialized_sql('{}')",
		"SELECT * FROM query('SELECT 1')", "SELECT * FROM sql_auto_complete('SEL')", "SELECT * FROM (FROM enable_logging())", "SELECT 1, (SELECT count(*) FROM enable_logging())",
		"SELECT 1 ORDER BY (SELECT count(*) FROM enable_logging())", "WITH a AS MATERIALIZED (FROM enable_logging()) SELECT 1",
		"EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1", "EXPLAIN CREATE TABLE x AS SELECT 1", "EXPLAIN EXPLAIN SELECT 1", "SELECT 1; SELECT 2", "SELECT 1;\nDROP VIEW attempts",
		"", ";", "-- nothing", "SELEKT 1", "SELECT 1\x00; DROP VIEW attempts", "SELECT * FROM arrow_scan(1, 2, 3)")
	for _, sql := range sqls {
		n, err := enginetest.Count(t.Context(), eng, sql)
		if err == nil && n > 0 {
			t.Errorf("%s gave %d rows", sql, n)
		} else if err == nil {
			t.Errorf("%s was let through", sql)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s gave away by its error what it may not read: %v", sql, err)
		}
	}
	if _, err := enginetest.Count(t.Context(), eng, "CREATE TABLE x AS SELECT 1"); !errors.Is(err, engine.ErrStatement) {
		t.Errorf("a refusal is no engine.ErrStatement: %v", err)
	}
	if err := eng.Materialize(t.Context(), "x", "FROM enable_logging()"); !errors.Is(err, engine.ErrStatement) {
		t.Errorf("Materialize runs what Query refuses: %v", err)
	}
	if n, err := enginetest.Count(t.Context(), eng, "SELECT * FROM attempts"); err != nil || n != 100 {
		t.Errorf("after all this attempts has %d rows and %v", n, err)
	}
	if after := storetest.Tree(t, base); after != before {
		t.Errorf("files changed from\n%s\nto\n%s", before, after)
	}
}

// TestPathsAreNotPatterns opens stores with paths that have a meaning in SQL or a shell.
func TestPathsAreNotPatterns(t *testing.T) {
	for _, name := range []string{"it's", `a"b`, "a*b", "a?b", "[ab]", "a b", "a\\b", "ü", "{a,b}", "a;b", "--x", "%20", "year=2020", "task=5"} {
		s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), name), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		enginetest.Ingest(t, s, 7, storetest.Attempts(7, 10))
		for _, locked := range []bool{false, true} {
			eng := testEngine(t, s, engine.Options{Locked: locked})
			rows, err := eng.Query(t.Context(), "SELECT * FROM attempts")
			if err != nil {
				t.Errorf("in %s, locked %v: %v", name, locked, err)
				continue
			}
			if n := len(rows.Columns()); n != 35 {
				t.Errorf("in %s, attempts has %d columns", name, n) // hive partitions would add some
			}
			rows.Close()
			if n, err := enginetest.Count(t.Context(), eng, "SELECT DISTINCT task FROM attempts"); err != nil || n != 10 {
				t.Errorf("in %s, locked %v: %d rows and %v", name, locked, n, err)
			}
		}
	}
}

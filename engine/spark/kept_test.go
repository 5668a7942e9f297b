package spark

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/engine"
)

// sparkKeeps: a kept table is computed once, even if both it and the queries have named parts.
func sparkKeeps(t *testing.T, c *sparkCase) {
	eng := c.engine(t, "", engine.Options{})
	runs := filepath.Join(t.TempDir(), "runs")
	sql := "WITH p AS (SELECT TRANSFORM (task) USING 'echo >>" + runs +
		"; cat' AS (a STRING) FROM (SELECT /*+ REPARTITION(1) */ task FROM attempts) AS one), " +
		"q AS (SELECT max(a) AS a FROM p) SELECT p.a FROM p JOIN q ON p.a <= q.a"
	if err := eng.Materialize(t.Context(), "kept", sql); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(runs)
	if err != nil || len(before) == 0 {
		t.Fatalf("nothing ran: %v", err)
	}
	for _, sql := range []string{"SELECT count(a) FROM kept", "WITH r AS (SELECT a FROM kept), s AS (SELECT max(a) AS a FROM r) SELECT count(r.a) FROM r JOIN s ON r.a <= s.a"} {
		if got := oneRow(t, eng, sql); got[0] != int64(1000) {
			t.Errorf("%s: %v", sql, got)
		}
	}
	if after, err := os.ReadFile(runs); err != nil || len(after) != len(before) {
		t.Errorf("it was worked out again: %d programs had run when it was kept, %d after two questions: %v", len(before), len(after), err)
	}
}

// sparkParts: a part that is used twice is computed once, and is dropped when the query ends or fails.
func sparkParts(t *testing.T, c *sparkCase) {
	eng := c.engine(t, "", engine.Options{})
	runs := filepath.Join(t.TempDir(), "runs")
	part := "WITH p AS (SELECT a FROM (SELECT TRANSFORM (task) USING 'echo >>" + runs +
		"; cat' AS (a STRING) FROM (SELECT /*+ REPARTITION(1) */ task FROM attempts) AS one) AS ran) "
	n := 0
	for _, err := range engine.ReadParts[struct{}](t.Context(), eng, "q", part+"SELECT x.a FROM p x JOIN p y ON y.a = x.a") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 1000 {
		t.Errorf("%d rows, want 1000", n)
	}
	if ran, err := os.ReadFile(runs); err != nil || len(ran) != 1 {
		t.Errorf("it was worked out %d times: %v", len(ran), err)
	}
	if err := engine.MaterializeParts(t.Context(), eng, "q", part+"SELECT x.a FROM p x JOIN p y ON y.nosuch = x.a"); err == nil {
		t.Error("a wrong query was kept")
	}
	if err := engine.MaterializeParts(t.Context(), eng, "q", part+"SELECT CAST(concat('x', x.a) AS INTEGER) AS a FROM p x JOIN p y ON y.a = x.a"); err == nil {
		t.Error("a query that fails was kept")
	}
	for _, name := range []string{"q", "q_p"} {
		if rows, err := eng.Query(t.Context(), "SELECT * FROM "+name); err == nil || !strings.Contains(err.Error(), "TABLE_OR_VIEW_NOT_FOUND") {
			t.Errorf("%s is still there: %v, %v", name, rows, err)
		}
	}
}

// planOf returns Spark's plan for a query.
func planOf(t *testing.T, eng engine.Engine, sql string) string {
	t.Helper()
	return fmt.Sprint(oneRow(t, eng, "EXPLAIN "+sql)...)
}

// sparkKeptPlans: a query of a kept table is planned from its rows only, however many tables it was made from, one after the
// other. A list of values is not a table to be read.
func sparkKeptPlans(t *testing.T, c *sparkCase) {
	eng := c.engine(t, "", engine.Options{})
	keep := func(name, sql string) {
		t.Helper()
		if err := eng.Materialize(t.Context(), name, sql); err != nil {
			t.Fatal(err)
		}
	}
	keep("kept_0", "SELECT task, count(*) AS n FROM attempts GROUP BY task")
	one := planOf(t, eng, "SELECT max(n) AS n FROM kept_0")
	for i := range 4 {
		keep(fmt.Sprint("kept_", i+1), fmt.Sprintf("SELECT a.task, sum(a.n) AS n FROM kept_%d a JOIN kept_%d b ON b.task = a.task GROUP BY a.task", i, i))
	}
	if five := planOf(t, eng, "SELECT max(n) AS n FROM kept_4"); strings.Count(five, "\n") != strings.Count(one, "\n") || strings.Contains(five, "kept_3") || !strings.Contains(one, "Scan") {
		t.Errorf("a table made from attempts is read as\n%s\nand one made from five such as\n%s", one, five)
	}
	before := len(c.staged(t))
	keep("kept_values", "SELECT CAST(key AS BIGINT) AS task FROM (VALUES (1), (2)) t(key)")
	if plan := planOf(t, eng, "SELECT max(task) AS n FROM kept_values"); !strings.Contains(plan, "LocalTableScan") || len(c.staged(t)) != before {
		t.Errorf("two values are read as\n%s", plan)
	}
}

// sparkKeptValues: a kept table has the values of its query.
func sparkKeptValues(t *testing.T, c *sparkCase) {
	eng := c.engine(t, "", engine.Options{})
	sql := `SELECT true AS a, CAST(-2 AS INTEGER) AS b, 3 + task - task AS c, CAST('NaN' AS DOUBLE) AS d, -0e0 AS e, 'a b\\c' AS f, TIMESTAMP '2026-01-02 03:04:05.678901' AS g,
		TIMESTAMP '1582-10-04 23:59:59.5' AS h, CAST(NULL AS BIGINT) AS i, CAST(12.5 AS DECIMAL(20, 2)) AS j, array(1, 2) AS k, CAST(NULL AS STRING) AS ` + "`an odd, name`" + ` FROM attempts WHERE task = 1`
	want := oneRow(t, eng, sql)
	if err := eng.Materialize(t.Context(), "kept", sql); err != nil {
		t.Fatal(err)
	}
	if got := oneRow(t, eng, "SELECT * FROM kept"); fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", want, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
	if err := eng.Materialize(t.Context(), "kept", "SELECT task FROM attempts WHERE task < 0"); err != nil {
		t.Fatal(err)
	}
	if got := oneRow(t, eng, "SELECT count(*) FROM kept"); got[0] != int64(0) {
		t.Errorf("a table without rows has %v", got)
	}
}

// sparkKeptFiles: the files of a kept table are removed with it, with a table that takes its name, with a query that fails,
// and with the session.
func sparkKeptFiles(t *testing.T, c *sparkCase) {
	eng := c.engine(t, "", engine.Options{})
	for _, step := range []struct {
		what  string
		do    func() error
		fails bool
		left  int
	}{
		{"two tables are kept", func() error {
			if err := eng.Materialize(t.Context(), "one", "SELECT task FROM attempts"); err != nil {
				return err
			}
			return eng.Materialize(t.Context(), "two", "SELECT task FROM one")
		}, false, 2},
		{"another takes the name of one", func() error { return eng.Materialize(t.Context(), "two", "SELECT task + 1 AS task FROM one") }, false, 2},
		{"a query cannot be planned", func() error { return eng.Materialize(t.Context(), "three", "SELECT nosuch FROM one") }, true, 2},
		{"a query fails", func() error {
			return eng.Materialize(t.Context(), "three", "SELECT CAST(concat('x', task) AS INTEGER) AS a FROM one")
		}, true, 2},
		{"the first is dropped", func() error { return eng.Drop(t.Context(), "one") }, false, 1},
		{"it is dropped again", func() error { return eng.Drop(t.Context(), "one") }, false, 1},
	} {
		if err := step.do(); (err != nil) != step.fails {
			t.Fatalf("%s: %v", step.what, err)
		}
		if left := c.staged(t); len(left) != step.left {
			t.Errorf("%s: there are %v, want %d", step.what, left, step.left)
		}
	}
	if got := oneRow(t, eng, "SELECT sum(task) FROM two"); got[0] != int64(500500) {
		t.Errorf("without the table that it was made from, a table has %v", got)
	}
	if err := eng.Close(); err != nil {
		t.Fatal(err)
	}
	if left := c.staged(t); len(left) != 0 {
		t.Errorf("the engine has left %v", left)
	}
}

// sparkCached: if executors must not write, they keep tables in memory.
func sparkCached(t *testing.T, c *sparkCase) {
	for options, o := range map[string]engine.Options{"results=server": {}, "": {Locked: true}} {
		eng := c.engine(t, options, o)
		if err := eng.Materialize(t.Context(), "kept", "SELECT task FROM attempts"); err != nil {
			t.Fatal(err)
		}
		if got := oneRow(t, eng, "SELECT sum(task) FROM kept"); got[0] != int64(499500) {
			t.Errorf("%q %+v: %v", options, o, got)
		}
		if left := c.staged(t); len(left) != 0 {
			t.Errorf("%q %+v: files were written: %v", options, o, left)
		}
		if plan := planOf(t, eng, "SELECT max(task) FROM kept"); !strings.Contains(plan, "InMemory") {
			t.Errorf("%q %+v: it is not cached:\n%s", options, o, plan)
		}
		if err := eng.Drop(t.Context(), "kept"); err != nil {
			t.Fatal(err)
		}
		if err := eng.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

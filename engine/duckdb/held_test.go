package duckdb

import (
	"testing"

	"straggler/engine"
	"straggler/store"
)

// unionOfJoins has rows of one column twice.
const (
	joined       = "SELECT a.i AS x, b.j AS x FROM range(2000000) a(i) JOIN range(1500000) b(j) ON a.i = b.j"
	unionOfJoins = joined + " UNION ALL " + joined
)

// The rows of a UNION ALL of joins are more than the buffer of a stream takes. Before such results were held, DuckDB waited
// forever, and no interruption ended it.
func TestUnionOfJoinsEnds(t *testing.T) {
	for _, locked := range []bool{false, true} {
		unionOfJoinsEnds(t, emptyEngine(t, locked), unionOfJoins)
	}
}

func unionOfJoinsEnds(t *testing.T, eng *Engine, sql string) {
	t.Helper()
	rows, err := eng.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	n, sum := int64(0), int64(0)
	for rows.Next() {
		n++
		sum += rows.Value(0).(int64)
	}
	if err := rows.Err(); err != nil || n != 3_000_000 || sum != 1_500_000*1_499_999 {
		t.Errorf("%d rows, sum %d, %v", n, sum, err)
	}
	if c := rows.Columns(); len(c) != 2 || c[0].Name != "x" || c[1].Name != "x" {
		t.Errorf("columns %v", c)
	}
	rows.Close()
	if rows, err := eng.Query(t.Context(), "SELECT * FROM "+heldTable); err == nil {
		rows.Close()
		t.Error("after it was read it is still there")
	}
}

// A UNION is also found in the views and macros that a statement names, and in those that these name. Other statements are not
// planned twice.
func TestUnionInViews(t *testing.T) {
	eng := emptyEngine(t, false)
	for _, sql := range []string{
		"CREATE VIEW united(x, y) AS " + unionOfJoins,
		`CREATE OR REPLACE VIEW main."In a view" AS SELECT x, y FROM United`,
		`ALTER VIEW united RENAME TO renamed`,
		`ALTER VIEW renamed RENAME TO united`,
		`CREATE MACRO in_macro(n) AS TABLE FROM "In a view" WHERE x >= n`,
		"CREATE TABLE plain AS SELECT 1 AS united_once UNION ALL SELECT 2",
		"CREATE VIEW over_plain AS SELECT * FROM plain",
	} {
		if err := eng.exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	unionOfJoinsEnds(t, eng, `SELECT x, y AS "x" FROM "In a view"`)
	unionOfJoinsEnds(t, eng, `SELECT x, y AS "x" FROM in_macro(0)`)
	for sql, want := range map[string]bool{
		"FROM renamed": true, `FROM "IN A VIEW"`: true, "FROM query('FROM united')": true,
		"FROM plain": false, "FROM over_plain": false, "SELECT 1": false,
	} {
		if eng.unions.has(sql) != want {
			t.Errorf("%s: may have a UNION: %v", sql, !want)
		}
	}
}

// Only results that could wait are held: those of a UNION whose later branches gather rows, with nothing above that gathers them.
func TestMayWait(t *testing.T) {
	eng := emptyEngine(t, false)
	const scan, group, join = "SELECT i FROM range(9) a(i)", "SELECT i FROM range(9) a(i) GROUP BY i", "SELECT i FROM range(9) a(i) JOIN range(7) b(j) ON i = j"
	for _, x := range []struct {
		sql  string
		wait bool
	}{
		{scan + " UNION ALL " + scan, false},
		{join + " UNION ALL " + scan, false},
		{scan + " UNION ALL " + join, true},
		{scan + " UNION ALL " + group, true},
		{scan + " UNION ALL " + scan + " UNION ALL " + group, true},
		{"SELECT i + 1 FROM (" + scan + " UNION ALL " + group + ") WHERE i > 3", true},
		{"SELECT i FROM (" + scan + " UNION ALL " + group + ") JOIN range(7) c(k) ON i = k", true},
		{scan + " UNION " + join, false},
		{scan + " UNION ALL " + group + " ORDER BY 1", false},
		{"SELECT count(*) FROM (" + scan + " UNION ALL " + group + ")", false},
		{join, false},
	} {
		conn, err := eng.connect()
		if err != nil {
			t.Fatal(err)
		}
		r := &result{d: eng, ctx: t.Context(), conn: conn}
		if wait, err := r.mayWait(t.Context(), x.sql); err != nil || wait != x.wait {
			t.Errorf("%s: %v, %v", x.sql, wait, err)
		}
		r.Close()
	}
}

func emptyEngine(t *testing.T, locked bool) *Engine {
	t.Helper()
	st, err := store.Temp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	eng, err := Open(t.Context(), st, engine.Options{Threads: 2, MemoryBytes: 256 << 20, Locked: locked})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	return eng.(*Engine)
}

package view_test

import (
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/duckdb"
	"straggler/engine/enginetest"
	"straggler/engine/sqltext"
	"straggler/engine/view"
	"straggler/schema"
	"straggler/store"
)

// TestOlderColumns: in files of a schema with fewer columns and another type, missing columns are NULL and the others are
// cast; rows of hidden inputs are left out.
func TestOlderColumns(t *testing.T) {
	eng, err := duckdb.Open(t.Context(), enginetest.Store(t), engine.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	attempts := schema.ByName("attempts")
	files := []string{
		"(VALUES (CAST(7 AS INTEGER), 'old', 1), (8, 'hidden', 2)) AS f(task, native_id, input_key)",
		"(VALUES (CAST(9 AS BIGINT), 'new', TRUE, 2)) AS f(task, native_id, recompute, input_key)",
	}
	sql := view.SQL(sqltext.DuckDB, attempts, []store.Slice{
		{Columns: []string{"task INTEGER", "native_id STRING"}, Hidden: []schema.Key{2, 3}},
		{Columns: []string{"task BIGINT", "native_id STRING", "recompute BOOLEAN"}},
	}, func(i int) string { return files[i] })
	rows, err := eng.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range attempts.Columns {
		if got := rows.Columns()[i]; got.Name != c.Name || got.Type != c.Type {
			t.Errorf("%s %s comes as %+v", c.Name, c.Type, got)
		}
	}
	rows.Close()
	type row struct {
		Task      int64               `col:"task"`
		NativeID  string              `col:"native_id"`
		Recompute schema.Null[bool]   `col:"recompute"`
		Machine   schema.Null[string] `col:"machine"`
	}
	got := enginetest.ReadAll[row](t, eng, "SELECT task, native_id, recompute, machine FROM ("+sql+") AS v ORDER BY task")
	if len(got) != 2 || got[0] != (row{Task: 7, NativeID: "old"}) || got[1] != (row{Task: 9, NativeID: "new", Recompute: schema.Some(true)}) {
		t.Errorf("%+v", got)
	}
}

// TestWithoutFiles: a table that was never written to is empty in both dialects.
func TestWithoutFiles(t *testing.T) {
	for _, d := range []sqltext.Dialect{sqltext.DuckDB, sqltext.Spark} {
		if sql := view.SQL(d, schema.ByName("jobs"), nil, nil); !strings.HasSuffix(sql, " WHERE false") || strings.Contains(sql, "FROM") {
			t.Error(sql)
		}
	}
}

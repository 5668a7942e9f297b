package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExport writes results as Parquet and has DuckDB read them back.
func TestExport(t *testing.T) {
	s := testStore(t)
	ingest(t, s, 7, attempts(7, 5000))
	eng := testEngine(t, s, EngineOptions{})
	for _, sql := range []string{
		"SELECT * FROM attempts",
		"SELECT * FROM attempts WHERE false",
		"SELECT x, CASE WHEN x % 2 = 0 THEN x / 4.0 END AS half, 'text ' || x AS t, CASE WHEN x % 3 = 0 THEN 'a' END AS d, x % 2 = 0 AS b, (x % 5)::INTEGER AS i FROM range(300000) r(x)",
		"SELECT NULL::BIGINT AS nothing FROM range(3)",
		"SELECT DATE '2020-02-29' AS d, [1, 2] AS l, TIMESTAMPTZ '2020-02-29 12:00:00+00' AS t",
	} {
		name := filepath.Join(t.TempDir(), "out.parquet")
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := eng.Query(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(WriteParquet(f, rows), rows.Close(), f.Close()); err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		there := "SELECT * FROM read_parquet(" + quoteText(name) + ")"
		for _, diff := range []string{"(" + there + ") EXCEPT ALL (" + sql + ")", "(" + sql + ") EXCEPT ALL (" + there + ")"} {
			if n, err := count(t.Context(), eng, diff); err != nil || n != 0 {
				t.Errorf("%s: %d rows differ, %v", sql, n, err)
			}
		}
	}
	rows, err := eng.Query(t.Context(), "SELECT 1 AS a, 2 AS a")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if err := WriteParquet(new(strings.Builder), rows); err == nil || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("two columns of one name gave %v", err)
	}
}

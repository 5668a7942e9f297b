package duckdb

import (
	"context"
	"errors"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"straggler/engine"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/store"
	"straggler/store/storetest"
)

func testEngine(t testing.TB, s *store.Store, o engine.Options) engine.Engine {
	t.Helper()
	eng, err := Open(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return eng
}

// TestRowsComeBack: from files of one part and of several.
func TestRowsComeBack(t *testing.T) {
	for _, n := range []int{1, 2, 5000, 130000} {
		s := enginetest.Store(t)
		want := storetest.Attempts(7, n)
		enginetest.Ingest(t, s, 7, want)
		got := enginetest.ReadAll[schema.Attempt](t, testEngine(t, s, engine.Options{}), "SELECT * FROM attempts ORDER BY task")
		if !slices.Equal(got, want) {
			t.Fatalf("%d rows of %d came back, or others", len(got), n)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	eng := testEngine(t, enginetest.Store(t), engine.Options{})
	type row struct {
		N int64               `col:"n"`
		S schema.Null[string] `col:"s"`
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT 1::BIGINT AS n", "no column s"},
		{"SELECT NULL::BIGINT AS n, 'a' AS s", "column n is NULL"},
		{"SELECT 1.5 AS n, 'a' AS s", "column n is DOUBLE (DECIMAL(2,1)) and the field takes BIGINT"},
		{"SELECT 1 AS n, 2 AS s", "column s is INTEGER"},
		{"SELECT 1 AS n, 2 AS n, 'a' AS s", "several columns n"},
		{"SELECT 1 AS n, 'a' AS s, error('stop') AS e", "stop"},
		{"SELECT FROM WHERE", "syntax error"},
		{"SELECT x AS n, 'a' AS s FROM nowhere", "nowhere"},
		{"SELECT 1 AS n, 'a' AS s; SELECT 2", "one statement"},
		{"", "no statement"},
	} {
		var got error
		n := 0
		for _, err := range engine.Read[row](t.Context(), eng, c.sql) {
			got = err
			n++
		}
		if got == nil || !strings.Contains(got.Error(), c.want) || n != 1 {
			t.Errorf("%s gives %v, want %q", c.sql, got, c.want)
		}
	}
	if got := enginetest.ReadAll[row](t, eng, "SELECT 1 AS n, NULL::VARCHAR AS s, 2 AS another"); len(got) != 1 || got[0] != (row{N: 1}) {
		t.Errorf("%+v", got)
	}
	if got := enginetest.ReadAll[row](t, eng, "SELECT 1 AS n, 'a' AS s WHERE false"); got != nil {
		t.Errorf("%+v", got)
	}
}

// A window over all rows of tables in several parts, one of which gives no rows, as in the pages' totals: DuckDB 1.5.5 fails
// in about one of a hundred runs, and rejects all statements from then on.
func TestTotalsOfParts(t *testing.T) {
	eng := testEngine(t, enginetest.Store(t), engine.Options{Threads: 2}).(*Engine)
	const sql = `WITH one AS (SELECT x AS n FROM range(1) r(x)),
parts AS (SELECT n FROM one WHERE n >= 5000 UNION ALL SELECT n FROM one WHERE NOT EXISTS (SELECT 1 FROM one WHERE n >= 5000))
SELECT n, count(*) OVER () AS total FROM parts ORDER BY n DESC NULLS LAST LIMIT 5`
	for n := range 2000 {
		run := eng.Query
		if n%2 == 0 {
			run = eng.Gather
		}
		rows, err := run(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Next() || rows.Value(0) != int64(0) || rows.Value(1) != int64(1) || rows.Next() || rows.Err() != nil {
			t.Fatalf("there are other rows than 0 and 1: %v", rows.Err())
		}
		rows.Close()
	}
}

// TestLeavingARangeEarlyGivesTheConnectionBack: for gathered rows, and for streamed ones, which are more than can be waited
// for.
func TestLeavingARangeEarlyGivesTheConnectionBack(t *testing.T) {
	type row struct {
		N int64 `col:"n"`
	}
	for _, c := range []struct {
		o           engine.Options
		sql         string
		connections int
	}{
		{engine.Options{}, "SELECT x AS n FROM range(10000) r(x)", 1},
		{engine.Options{Locked: true}, "SELECT x AS n FROM range(10000000000) r(x)", 2}, // one checks the statement
	} {
		eng := testEngine(t, enginetest.Store(t), c.o)
		for range 3 {
			for r, err := range engine.Read[row](t.Context(), eng, c.sql) {
				if err != nil {
					t.Fatal(err)
				}
				if r.N == 5000 {
					break
				}
			}
		}
		if d := eng.(*Engine); len(d.idle) != c.connections || d.busy != 0 {
			t.Errorf("%s: %d idle and %d busy connections", c.sql, len(d.idle), d.busy)
		}
	}
}

// TestFewRows: for few rows there is one thread, and results are gathered; as soon as there are many, and for users'
// statements, all threads work and results are streamed. A given number of threads is kept.
func TestFewRows(t *testing.T) {
	type setting struct {
		Threads int64 `col:"threads"`
	}
	s := enginetest.Store(t)
	enginetest.Ingest(t, s, 7, storetest.Attempts(7, 1))
	eng := testEngine(t, s, engine.Options{})
	locked, given := testEngine(t, s, engine.Options{Locked: true}), testEngine(t, s, engine.Options{Threads: 3})
	want := func(eng engine.Engine, few bool, threads int) {
		t.Helper()
		got := enginetest.ReadAll[setting](t, eng, "SELECT CAST(current_setting('threads') AS BIGINT) AS threads FROM attempts LIMIT 1")
		if f := eng.(engine.Gatherer).Few(); f != few || !slices.Equal(got, []setting{{int64(threads)}}) {
			t.Errorf("few: %v, want %v; threads %v, want %d", f, few, got, threads)
		}
	}
	all := runtime.GOMAXPROCS(0)
	want(eng, true, 1)
	want(locked, false, all)
	want(given, true, 3)
	enginetest.Ingest(t, s, 8, storetest.Attempts(8, fewRows))
	want(eng, false, all)
	want(given, false, 3)
}

// TestCancelledQuery cancels a query that would take for ever, before its first row and after.
func TestCancelledQuery(t *testing.T) {
	eng := testEngine(t, enginetest.Store(t), engine.Options{})
	for _, sql := range []string{
		"SELECT count(*) AS n FROM range(1000000000) a(x), range(1000000000) b(y) WHERE (x * y) % 7 = 3",
		"SELECT x AS n FROM range(100000000000) a(x)",
		"SELECT x AS n FROM range(10000000000) a(x) WHERE x < 3000 OR hash(x) % 1000000007 = 5",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(30*time.Millisecond, cancel)
		if _, err := enginetest.Count(ctx, eng, sql); !errors.Is(err, context.Canceled) {
			t.Errorf("%s gave %v", sql, err)
		}
		timer.Stop()
		cancel()
	}
	if n, err := enginetest.Count(t.Context(), eng, "SELECT 1"); err != nil || n != 1 {
		t.Errorf("after cancelled queries: %d rows, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := eng.Query(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context gave %v", err)
	}
}

// TestResultsStream: the first rows of a result far larger than the memory limit are returned at once.
func TestResultsStream(t *testing.T) {
	eng := testEngine(t, enginetest.Store(t), engine.Options{MemoryBytes: 64 << 20})
	rows, err := eng.Query(t.Context(), "SELECT x, 'a string of some length that is number ' || x AS s FROM range(10000000000) r(x)")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for i := range int64(10000) {
		if !rows.Next() || rows.Value(0) != i {
			t.Fatal("row", i, rows.Err())
		}
	}
}

// TestGatheredRows: gathered rows equal streamed ones, in the same order.
func TestGatheredRows(t *testing.T) {
	eng := testEngine(t, enginetest.Store(t), engine.Options{Threads: 2})
	const sql = "SELECT x, CASE WHEN x % 3 = 0 THEN NULL ELSE x * 2 END AS y FROM range(300000) r(x) WHERE x % 7 <> 0"
	sums := func(vectors iter.Seq2[*engine.Batch, error]) (rows, x, y, order int64) {
		for b, err := range vectors {
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Len {
				rows++
				x += b.Columns[0].Int64s[i]
				order = order*31 + b.Columns[0].Int64s[i]
				if !b.Columns[1].Null(i) {
					y += b.Columns[1].Int64s[i]
				}
			}
		}
		return rows, x, y, order
	}
	rows, x, y, order := sums(engine.ReadVectors(t.Context(), eng, sql))
	gotRows, gotX, gotY, gotOrder := sums(engine.GatherVectors(t.Context(), eng, sql))
	if gotRows != rows || gotX != x || gotY != y || gotOrder != order || rows != 257142 {
		t.Errorf("%d rows, sums %d and %d, order %d; streamed %d rows, sums %d and %d, order %d", gotRows, gotX, gotY, gotOrder, rows, x, y, order)
	}
	for b, err := range engine.GatherVectors(t.Context(), eng, "SELECT DATE '2026-11-26' AS d, [1, 2] AS l") {
		if err != nil {
			t.Fatal(err)
		}
		if d, l := b.Columns[0].Strings, b.Columns[1].Strings; !slices.Equal(d, []string{"2026-11-26"}) || !slices.Equal(l, []string{"[1, 2]"}) {
			t.Errorf("a date and a list come as %v and %v", d, l)
		}
	}
	for _, err := range engine.GatherVectors(t.Context(), eng, "SELECT error('as it should') FROM range(3)") {
		if err == nil {
			t.Error("a query that fails gives rows")
		}
	}
}

// TestMoreThanMemory sorts and keeps more than the memory limit, which requires the temporary directory, and checks that
// nothing remains there.
func TestMoreThanMemory(t *testing.T) {
	dir := t.TempDir()
	eng := testEngine(t, enginetest.Store(t), engine.Options{MemoryBytes: 48 << 20, Threads: 1, TempDir: dir})
	if err := eng.Materialize(t.Context(), "big", "SELECT x, hash(x) AS h, 'padding padding padding' || hash(x) AS s FROM range(1000000) r(x)"); err != nil {
		t.Fatal(err)
	}
	if n, err := enginetest.Count(t.Context(), eng, "SELECT x, s FROM big ORDER BY h"); err != nil || n != 1000000 {
		t.Fatalf("%d rows, %v", n, err)
	}
	if err := eng.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestMaterialize(t *testing.T) {
	s := enginetest.Store(t)
	enginetest.Ingest(t, s, 7, storetest.Attempts(7, 100))
	for _, locked := range []bool{false, true} {
		eng := testEngine(t, s, engine.Options{Locked: locked})
		for _, sql := range []string{"SELECT task FROM attempts;", "SELECT task FROM attempts WHERE task < 5"} {
			if err := eng.Materialize(t.Context(), "some_tasks", sql); err != nil {
				t.Fatal(err)
			}
		}
		other, err := eng.Query(t.Context(), "SELECT 1") // so that the next query uses another connection
		if err != nil {
			t.Fatal(err)
		}
		if n, err := enginetest.Count(t.Context(), eng, "SELECT * FROM some_tasks"); err != nil || n != 5 {
			t.Errorf("locked %v: %d rows, %v", locked, n, err)
		}
		other.Close()
		for _, name := range []string{"", "a b", "x; DROP VIEW attempts", `a"b`, "1a", "Ä"} {
			if err := eng.Materialize(t.Context(), name, "SELECT 1"); err == nil {
				t.Errorf("a table may be named %q", name)
			}
		}
		if err := eng.Materialize(t.Context(), "attempts", "SELECT 1"); err == nil {
			t.Error("a table of the store was replaced")
		}
	}
}

// TestEngineFollows: an engine sees what the same store.Store commits after it was opened, but a locked one does not.
func TestEngineFollows(t *testing.T) {
	s := enginetest.Store(t)
	eng, locked := testEngine(t, s, engine.Options{}), testEngine(t, s, engine.Options{Locked: true})
	for i := range 3 {
		enginetest.Ingest(t, s, schema.Key(i+1), storetest.Attempts(schema.Key(i+1), 10))
		if n, err := enginetest.Count(t.Context(), eng, "SELECT * FROM attempts"); err != nil || n != 10*(i+1) {
			t.Errorf("%d rows, %v", n, err)
		}
		if n, err := enginetest.Count(t.Context(), locked, "SELECT * FROM attempts"); err != nil || n != 0 {
			t.Errorf("locked: %d rows, %v", n, err)
		}
	}
}

func TestEngineEnds(t *testing.T) {
	s := enginetest.Store(t)
	eng, err := Open(t.Context(), s, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	temp := eng.(*Engine).temp.Path()
	rows, err := eng.Query(t.Context(), "SELECT * FROM range(10000)")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(eng.Close(), eng.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Query(t.Context(), "SELECT 1"); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("a closed engine gave %v", err)
	}
	n := 0
	for rows.Next() {
		n++
	}
	if n != 10000 || rows.Err() != nil {
		t.Errorf("the result that was open gave %d rows, %v", n, rows.Err())
	}
	if rows.Next() || rows.Err() != nil {
		t.Errorf("a result that was read to its end has more rows, or %v", rows.Err())
	}
	if err := errors.Join(rows.Close(), rows.Close()); err != nil {
		t.Error(err)
	}
	if rows.Next() {
		t.Error("a closed result has rows")
	}
	if _, err := os.Stat(temp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary directory is still there, %v", err)
	}
}

func TestQueriesAtOnce(t *testing.T) {
	s := enginetest.Store(t)
	enginetest.Ingest(t, s, 7, storetest.Attempts(7, 5000))
	eng := testEngine(t, s, engine.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				if n, err := enginetest.Count(t.Context(), eng, "SELECT * FROM attempts WHERE task < 3000"); err != nil || n != 3000 {
					t.Errorf("%d rows, %v", n, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestSettings(t *testing.T) {
	eng := testEngine(t, enginetest.Store(t), engine.Options{Threads: 1, MemoryBytes: 100 << 20})
	type settings struct {
		Zone    string `col:"zone"`
		Threads int64  `col:"threads"`
		Memory  string `col:"memory"`
		Temp    string `col:"temp"`
	}
	first, err := eng.Query(t.Context(), "SELECT 1") // the settings must apply to every connection
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	got := enginetest.ReadAll[settings](t, eng, `SELECT current_setting('TimeZone') AS zone, current_setting('threads') AS threads,
		current_setting('memory_limit') AS memory, current_setting('temp_directory') AS temp`)
	if got[0].Zone != "UTC" || got[0].Threads != 1 || got[0].Memory != "100.0 MiB" || !strings.Contains(got[0].Temp, "straggler-sql-") {
		t.Errorf("%+v", got)
	}
}

// TestEveryTableIsThere: including tables that were never written to, with the columns of the schema.
func TestEveryTableIsThere(t *testing.T) {
	eng := testEngine(t, enginetest.Store(t), engine.Options{Locked: true})
	for _, table := range schema.Tables() {
		rows, err := eng.Query(t.Context(), "SELECT * FROM "+table.Name)
		if err != nil {
			t.Errorf("%s: %v", table.Name, err)
			continue
		}
		for i, c := range table.Columns {
			if got := rows.Columns()[i]; got.Name != c.Name || got.Type != c.Type {
				t.Errorf("%s.%s is %+v", table.Name, c.Name, got)
			}
		}
		if rows.Next() || rows.Err() != nil {
			t.Errorf("%s has rows or %v", table.Name, rows.Err())
		}
		rows.Close()
	}
}

// The limit for temporary files is the database's own setting.
func TestTempBytes(t *testing.T) {
	type row struct {
		Limit string `col:"most"`
	}
	eng := testEngine(t, enginetest.Store(t), engine.Options{TempBytes: 3 << 30})
	if got := enginetest.ReadAll[row](t, eng, "SELECT current_setting('max_temp_directory_size') AS most"); len(got) != 1 || got[0].Limit != "3.0 GiB" {
		t.Errorf("the database keeps to %+v", got)
	}
}

package spark

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"straggler/bucket/s3test"
	"straggler/engine"
	"straggler/engine/enginetest"
	"straggler/engine/spark/hs2"
	"straggler/engine/spark/sparktest"
	"straggler/engine/sqltext"
	"straggler/schema"
	"straggler/store"
)

// What can happen to a query on a real server, which is started here. The tests share it, in this order: the last ones kill
// it. If a running server is used by others too, only tests that merely query it run.
func TestSpark(t *testing.T) {
	c := &sparkCase{address: os.Getenv(sparktest.Variable)}
	if c.address == "" {
		c.server = sparktest.Start(t, sparktest.Options{})
		c.address = c.server.Engine("")
	}
	c.st = storeAt(t, "a {lake}, [with] 'odd* signs")
	put(t, c.st, 1000)
	for _, x := range []struct {
		name  string
		test  func(*testing.T, *sparkCase)
		alone bool // it reads the server's log, or stops it
	}{
		{"values", sparkValues, false}, {"settings", sparkSettings, true}, {"wrong SQL", sparkWrongSQL, false},
		{"locked", sparkLocked, false}, {"big results stream", sparkStreams, false},
		{"views follow commits", sparkFollows, false}, {"kept tables", sparkKeeps, false}, {"kept parts", sparkParts, false},
		{"plans of kept tables", sparkKeptPlans, false}, {"kept values", sparkKeptValues, false},
		{"files of kept tables", sparkKeptFiles, false}, {"cached tables", sparkCached, false},
		{"loaded rows", sparkLoads, false}, {"rows of copies", sparkGivesRows, false}, {"store not seen", sparkUnseen, false},
		{"bucket not seen", sparkNoConnector, true},
		{"cancelled", sparkCancelled, true}, {"frozen", sparkFrozen, true}, {"killed", sparkKilled, true},
	} {
		ok := t.Run(x.name, func(t *testing.T) {
			if x.alone && c.server == nil {
				t.Skip("runs without " + sparktest.Variable)
			}
			x.test(t, c)
		})
		if !ok && c.server != nil {
			text, _ := os.ReadFile(c.server.Log())
			t.Logf("the server's last words:\n%s", text[max(0, len(text)-2000):])
		}
	}
}

type sparkCase struct {
	address string            // for --engine; more options may be appended
	server  *sparktest.Server // nil if others use it too
	st      *store.Store
}

// engine connects, with options of the address.
func (c *sparkCase) engine(t *testing.T, options string, o engine.Options) engine.Engine {
	t.Helper()
	o.Server = strings.TrimSuffix(c.address+"&"+options, "&")
	eng, err := Open(t.Context(), c.st, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	return eng
}

func storeAt(t *testing.T, name string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), name), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// put commits n attempts of one phase.
func put(t *testing.T, st *store.Store, n int) {
	t.Helper()
	tx, err := st.Begin(t.Context(), store.Origin{Kind: store.Log, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	const key = 77
	rows := make([]schema.Attempt, n)
	keys := schema.NewKeys(key, "attempts")
	for i := range rows {
		rows[i] = schema.Attempt{AttemptID: keys.Next(), PhaseID: 7, Task: int64(i), Status: schema.Success,
			DurationS: schema.Some(float64(i) / 3), StartTime: schema.Some(schema.Time(1_700_000_000_000_001 + int64(i)))}
	}
	if err := store.Append(tx, key, rows); err != nil {
		t.Fatal(err)
	}
	if err := tx.Input(store.InputRecord{Key: key, Name: "log", Fingerprint: "f", Rows: map[string]int64{"attempts": int64(n)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// oneRow returns the only row of a query.
func oneRow(t *testing.T, eng engine.Engine, sql string) []any {
	t.Helper()
	rows, err := eng.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []any
	for rows.Next() {
		if out != nil {
			t.Fatalf("%s: more than a row", sql)
		}
		for i := range rows.Columns() {
			out = append(out, rows.Value(i))
		}
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return out
}

// sparkValues: every type is returned as its portable type, NULL as NULL, and instants in UTC whatever the server's time
// zone.
func sparkValues(t *testing.T, c *sparkCase) {
	eng := c.engine(t, "set.spark.sql.shuffle.partitions=1", engine.Options{})
	got := oneRow(t, eng, `SELECT true, CAST(1 AS TINYINT), CAST(-2 AS SMALLINT), 3, CAST(4 AS BIGINT), CAST(0.5 AS FLOAT), 0.1e0, 12.345, 'a b\\c',
		TIMESTAMP '2026-01-02 03:04:05.678901', TIMESTAMP '1969-12-31 23:59:59.5', DATE '2026-01-02', array(1, 2), CAST(NULL AS BIGINT), NULL,
		CAST('NaN' AS DOUBLE), X'00ff41', TIMESTAMP '2026-01-02 00:00:00', CAST(NULL AS TIMESTAMP), CAST(NULL AS DECIMAL(9, 2)), CAST(123456789.25 AS DECIMAL(20, 2))`)
	want := []any{true, int32(1), int32(-2), int32(3), int64(4), 0.5, 0.1, 12.345, `a b\c`,
		schema.Time(1767323045678901), schema.Time(-500000), "2026-01-02", "[1,2]", nil, nil,
		"NaN", `\x00\xFFA`, schema.Time(1767312000000000), nil, nil, 123456789.25}
	for i := range want {
		if i < len(got) && fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
			t.Errorf("column %d is %v (%T), want %v (%T)", i, got[i], got[i], want[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d columns, want %d", len(got), len(want))
	}
	got = oneRow(t, eng, "SELECT count(*), count(machine), sum(task), min(start_time), max(duration_s) FROM attempts")
	if s := fmt.Sprint(got); s != fmt.Sprint([]any{int64(1000), int64(0), int64(499500), schema.Time(1_700_000_000_000_001), 333.0}) {
		t.Errorf("attempts: %v", s)
	}
}

// sparkSettings: a session begins with our settings, even on a server that ignores those it is opened with, followed by those
// of the address.
func sparkSettings(t *testing.T, c *sparkCase) {
	from := c.mark(t)
	eng := c.engine(t, "set.spark.sql.caseSensitive=true", engine.Options{}).(*Engine)
	text, err := os.ReadFile(c.server.Log())
	if n := strings.Count(string(text[from:]), "Submitting query 'SET spark."); err != nil || n != 1 {
		t.Errorf("%d statements that set something, of which the address has one: %v", n, err)
	}
	plain, err := hs2.Open(t.Context(), eng.server.Options)
	if err != nil {
		t.Fatal(err)
	}
	opened := eng.session
	for _, eng.session = range []*hs2.Session{plain, opened} {
		if err := eng.prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		for name, want := range settings {
			if name == "spark.sql.caseSensitive" {
				want = "true"
			}
			if got := oneRow(t, eng, "SET "+name); got[1] != want {
				t.Errorf("%s is %q, want %q", name, got[1], want)
			}
		}
	}
	if err := plain.Close(); err != nil {
		t.Error(err)
	}
}

func sparkWrongSQL(t *testing.T, c *sparkCase) {
	eng := c.engine(t, "", engine.Options{})
	for sql, want := range map[string]string{
		"SELECT nosuch FROM attempts": "UNRESOLVED_COLUMN",
		"SELEC 1":                     "PARSE_SYNTAX_ERROR",
		"SELECT 1 / 0":                "DIVIDE_BY_ZERO",
		"SELECT CAST('x' AS INTEGER)": "CAST_INVALID_INPUT",
		"SELECT CAST(9223372036854775807 AS BIGINT) + 1": "ARITHMETIC_OVERFLOW",
	} {
		_, err := eng.Query(t.Context(), sql)
		if err == nil || !strings.Contains(err.Error(), "["+want) || strings.Contains(err.Error(), "\tat ") || strings.Contains(err.Error(), "Exception:") {
			t.Errorf("%s: %v, want the code %s and no stack of Java", sql, err, want)
		}
	}
	if got := oneRow(t, eng, "SELECT 1"); got[0] != int32(1) {
		t.Errorf("after errors: %v", got)
	}
}

// sparkLocked: what the guard accepts by its words, the session refuses to do.
func sparkLocked(t *testing.T, c *sparkCase) {
	eng, open := c.engine(t, "", engine.Options{Locked: true}), c.engine(t, "", engine.Options{})
	t.Setenv("HIDDEN", "secret")
	for _, sql := range []string{"SELECT * FROM text.`/etc/hostname`", "SELECT * FROM parquet.`file:" + c.st.Where() + "`", "CREATE TABLE x (a INT)", "SET a=b",
		`SELECT xpath_string('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>', 'a')`} {
		rows, err := eng.Query(t.Context(), sql)
		if err != nil {
			continue
		}
		if rows.Next() && rows.Value(0) != nil && rows.Value(0) != "" {
			t.Errorf("%s was answered with %v", sql, rows.Value(0))
		}
		rows.Close()
	}
	if got := oneRow(t, eng, "SELECT '${env:HIDDEN}' AS a"); got[0] != "${env:HIDDEN}" {
		t.Errorf("variables are put in: %v", got)
	}
	// Each of these runs a program or calls Java. The engine that is not locked shows which of them Spark supports.
	dir := t.TempDir()
	javas, ok := oneRow(t, open, "SELECT reflect('java.lang.System', 'getProperty', 'java.io.tmpdir')")[0].(string)
	if !ok || javas == "" {
		t.Fatal("where do Java's temporary files lie?")
	}
	understood := 0
	for i, sql := range []string{
		"SELECT TRANSFORM (task) USING 'RUN' AS (b) FROM attempts", "SELECT TRANSFORM (task) USING r'RUN' AS (b) FROM attempts",
		"SELECT TRANSFORM (task) USING R\"RUN\" AS (b) FROM attempts",
		"SELECT TRANSFORM (task) u\u017fing 'RUN' AS (b) FROM attempts", "FROM attempts MAP 1e+0USING 'RUN' AS (b)",
		"FROM attempts REDUCE task USING\u00a0'RUN' AS (b)", "SELECT 1 --\r, (SELECT count(*) FROM (SELECT TRANSFORM (task) USING 'RUN' AS (b) FROM attempts))",
		"SELECT JAVA", "SELECT 1 --\r, JAVA", "SELECT 1 -- \\\n no end\n, JAVA", "SELECT 1 /* /* */ */, JAVA", "SELECT 1 /* /*+ */, JAVA",
		"SELECT reflect\u00a0('java.io.File', 'createTempFile', 'called', 'CALL')", "SELECT reflect\u3000('java.io.File', 'createTempFile', 'called', 'CALL')",
		"SELECT `reflect`('java.io.File', 'createTempFile', 'called', 'CALL')", "SELECT \"reflect\"('java.io.File', 'createTempFile', 'called', 'CALL')",
		"SELECT builtin.reflect('java.io.File', 'createTempFile', 'called', 'CALL')",
		"SELECT system.builtin.java_method('java.io.File', 'createTempFile', 'called', 'CALL')",
		"SELECT IDENTIFIER('ref' || 'lect')('java.io.File', 'createTempFile', 'called', 'CALL')", "SELECT a://b--, JAVA",
		"FROM attempts |> LIMIT 1 |> SELECT JAVA",
		"SELECT try_reflect('java.io.File', 'createTempFile', 'called', 'CALL')", "SELECT '\\'', JAVA, '\\''",
		"SELECT r'\\', JAVA, ''", "SELECT 'a' /*+ x */, JAVA",
		"SELECT 1, JAVA AS (c)", "SELECT /*+ COALESCE(1) */ JAVA", "WITH a AS (SELECT 1) SELECT JAVA FROM a", "SELECT /* ' */ JAVA /* ' */",
	} {
		trace := fmt.Sprintf("trace%d", i)
		sql = strings.ReplaceAll(sql, "JAVA", "reflect('java.io.File', 'createTempFile', 'called', 'CALL')")
		sql = strings.ReplaceAll(strings.ReplaceAll(sql, "RUN", "touch "+filepath.Join(dir, trace)+"; cat"), "CALL", trace)
		ran := func() bool {
			ran, err := filepath.Glob(filepath.Join(dir, trace))
			called, cerr := filepath.Glob(filepath.Join(javas, "called*"+trace))
			if err := errors.Join(err, cerr); err != nil {
				t.Fatal(err)
			}
			for _, name := range append(ran, called...) {
				os.Remove(name)
			}
			return len(ran)+len(called) > 0
		}
		if _, err := enginetest.Count(t.Context(), eng, sql); !errors.Is(err, engine.ErrStatement) {
			t.Errorf("%q: %v", sql, err)
		}
		if ran() {
			t.Errorf("%q was run", sql)
		}
		if _, err := enginetest.Count(t.Context(), open, sql); err == nil && ran() {
			understood++
		} else {
			t.Logf("Spark does not run %q: %v", sql, err)
		}
	}
	if understood < 10 {
		t.Errorf("Spark runs %d of the statements, so they show little", understood)
	}
	sparkFunctions(t, open)
	sparkTokens(t, open)
}

// sparkFunctions: each function of this release may be called, or there is a reason why not.
func sparkFunctions(t *testing.T, eng engine.Engine) {
	// call Java by name, or read files
	withheld := words("reflect java_method try_reflect from_protobuf to_protobuf from_avro to_avro schema_of_avro")
	type function struct {
		Name string `col:"function"`
	}
	for _, f := range enginetest.ReadAll[function](t, eng, "SHOW SYSTEM FUNCTIONS") {
		if name := f.Name; name[0] >= 'a' && functions[name] == withheld[name] && !beforeParenthesis[name] && name[0] <= 'z' {
			t.Errorf("%s is called: %v, and withheld: %v", name, functions[name], withheld[name])
		}
	}
}

// sparkTokens: a text without what we take for comments means the same to Spark; so they are comments to Spark.
func sparkTokens(t *testing.T, eng engine.Engine) {
	rng := rand.New(rand.NewPCG(7, 7))
	pieces := []string{"'", `"`, "`", "/*", "*/", "/*+", "--", "\n", "\r", "\\", "r'", "R\"", ", 1", " ", "'a'", "1e+0", "x", "/", "*", "-", "''", "||"}
	answered := 0
	for range 4000 {
		sql := "SELECT 1"
		for range 2 + rng.IntN(7) {
			sql += pieces[rng.IntN(len(pieces))]
		}
		sql += "\n, 2"
		tokens, err := unambiguous(sql)
		if err != nil {
			continue
		}
		plain := ""
		comment := false
		for token := range sqltext.Spark.Tokens(sql) {
			if comment = comment || token.Kind == sqltext.Comment; token.Kind == sqltext.Comment {
				token.Text = " "
			}
			plain += token.Text
		}
		if !comment || len(tokens) > 12 {
			continue
		}
		want, werr := answer(t, eng, plain)
		if got, err := answer(t, eng, sql); (err == nil) != (werr == nil) || got != want {
			t.Fatalf("%q gives %v, %v and without comments %v, %v", sql, got, err, want, werr)
		}
		if werr == nil {
			answered++
		}
		if answered == 40 {
			return
		}
	}
	t.Errorf("Spark answered %d statements", answered)
}

func answer(t *testing.T, eng engine.Engine, sql string) (string, error) {
	rows, err := eng.Query(t.Context(), sql)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var out []any
	for rows.Next() {
		for i := range rows.Columns() {
			out = append(out, rows.Value(i))
		}
	}
	return fmt.Sprint(out), rows.Err()
}

// sparkStreams: three million rows are streamed, of which only some are here at any time.
func sparkStreams(t *testing.T, c *sparkCase) {
	const n, most = 3_000_000, 200 << 20
	eng := c.engine(t, "", engine.Options{})
	rows, err := eng.Query(t.Context(), fmt.Sprintf("SELECT id, CAST(id AS STRING) AS text FROM range(%d)", n))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var count, sum, peak int64
	var m runtime.MemStats
	for rows.Next() {
		if v, _ := rows.Value(0).(int64); fmt.Sprint(v) == rows.Value(1) {
			sum += v
		}
		if count++; count%500_000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak = max(peak, int64(m.HeapAlloc))
		}
	}
	if rows.Err() != nil || count != n || sum != n*(n-1)/2 {
		t.Errorf("%d rows with sum %d: %v", count, sum, rows.Err())
	}
	if peak > most {
		t.Errorf("%d MB held", peak>>20)
	}
}

// sparkFollows: commits through the same store.Store are seen, as with the embedded engine.
func sparkFollows(t *testing.T, c *sparkCase) {
	st := storeAt(t, "lake")
	eng := (&sparkCase{address: c.address, st: st}).engine(t, "", engine.Options{})
	if got := oneRow(t, eng, "SELECT count(*) FROM attempts"); got[0] != int64(0) {
		t.Errorf("an empty store has %v attempts", got)
	}
	put(t, st, 10)
	if got := oneRow(t, eng, "SELECT count(*) FROM attempts"); got[0] != int64(10) {
		t.Errorf("%v attempts after the commit, want 10", got)
	}
	if err := eng.Materialize(t.Context(), "kept", "SELECT task + 1 AS next FROM attempts"); err != nil {
		t.Fatal(err)
	}
	if got := oneRow(t, eng, "SELECT sum(next) FROM kept"); got[0] != int64(55) {
		t.Errorf("the kept table has the sum %v, want 55", got)
	}
}

// sparkLoads: loaded rows go through a file, which is removed with the engine.
func sparkLoads(t *testing.T, c *sparkCase) {
	eng := c.engine(t, "", engine.Options{})
	enginetest.Loads(t, eng, c.engine(t, "", engine.Options{Locked: true}))
	if len(c.staged(t)) == 0 {
		t.Error("no file was written")
	}
	if err := eng.Close(); err != nil {
		t.Fatal(err)
	}
	if left := c.staged(t); len(left) > 0 {
		t.Errorf("the engine has left %v", left)
	}
}

// staged returns the files and directories that are in the store during a session.
func (c *sparkCase) staged(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(globSpecial.Replace(c.st.Address()), "staging", "*", "staged"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var globSpecial = strings.NewReplacer("[", `\[`, "*", `\*`, "?", `\?`)

// loadRow loads a row, s = 1, as a table.
func loadRow(t *testing.T, eng engine.Engine, name string) {
	type row struct {
		S int64 `col:"s"`
	}
	if err := engine.Load(t.Context(), eng.(engine.Loader), name, func(yield func([]row, error) bool) { yield([]row{{1}}, nil) }); err != nil {
		t.Fatal(err)
	}
}

func sparkUnseen(t *testing.T, c *sparkCase) {
	eng := c.engine(t, "store=/nowhere/lake", engine.Options{})
	_, err := eng.Query(t.Context(), "SELECT count(*) FROM attempts")
	if !errors.Is(err, engine.ErrServer) || !strings.Contains(err.Error(), "its cluster cannot see the store: its machines have no /nowhere/lake") {
		t.Error(err)
	}
}

// sparkNoConnector: a Spark without a connector does not know object stores, and reports so with names of Java classes.
func sparkNoConnector(t *testing.T, c *sparkCase) {
	s3test.Serve(t)
	st, err := store.Open(t.Context(), "s3://lakes/lake", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, st, 10)
	eng := (&sparkCase{address: c.address, st: st}).engine(t, "", engine.Options{})
	_, err = eng.Query(t.Context(), "SELECT count(*) FROM attempts")
	if !errors.Is(err, engine.ErrServer) || !strings.Contains(fmt.Sprint(err), "its Spark has no connector for s3://lakes/lake; start the server with --packages org.apache.hadoop:hadoop-aws") {
		t.Error(err)
	}
	s3test.KeepsSecrets(t, err)
}

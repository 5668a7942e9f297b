package duckdb

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/enginetest"
	"straggler/engine/sqltext"
	"straggler/schema"
	"straggler/store"
	"straggler/store/storetest"
)

// What store/READING.md tells other programs to do gives the rows that the engine gives, whatever happens to the store.
func TestReadingOfOtherPrograms(t *testing.T) {
	s := enginetest.Store(t)
	first := ingestAgain(t, s, 7, 1000)
	ingestAgain(t, s, 8, 500)
	keepResults(t, s)
	sameRows(t, s, "two logs")
	ingestAgain(t, s, 7, 300)
	sameRows(t, s, "one read again")
	keepResults(t, s)
	sameRows(t, s, "results of the other kept")
	compact(t, s)
	sameRows(t, s, "compacted")
	last := ingestAgain(t, s, 9, 200)
	keepResults(t, s)
	if _, err := s.Remove(t.Context(), last.ID, "test"); err != nil {
		t.Fatal(err)
	}
	sameRows(t, s, "one removed")
	ingestAgain(t, s, 7, 100)
	sameRows(t, s, "a compacted one read again")
	compact(t, s)
	sameRows(t, s, "compacted again")
	if _, err := s.Remove(t.Context(), first.ID, "test"); err == nil {
		t.Error("the first ingest was still there")
	}
}

// ingestAgain commits rows of an input in place of those before.
func ingestAgain(t *testing.T, s *store.Store, input schema.Key, rows int) store.Commit {
	t.Helper()
	tx, err := s.Begin(t.Context(), store.Origin{Kind: store.Log, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Abort()
	tx.Retire(input)
	if err := store.Append(tx, input, storetest.Attempts(input, rows)); err != nil {
		t.Fatal(err)
	}
	// of no input
	if err := store.Append(tx, 0, []schema.Reject{{SourceFile: fmt.Sprint("log-", input), Reason: fmt.Sprint(rows)}}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Input(store.InputRecord{Name: fmt.Sprint("log-", input), Key: store.KeyText(input), Fingerprint: fmt.Sprintf("%032x", rows)}); err != nil {
		t.Fatal(err)
	}
	c, err := tx.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// keepResults adds results of new inputs, keeping those of the others, and a result of all.
func keepResults(t *testing.T, s *store.Store) {
	t.Helper()
	tx, err := s.Begin(t.Context(), store.Origin{Kind: store.Detect, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Abort()
	todo, ok := tx.Resume(false)
	if !ok {
		t.Fatal("nothing to resume")
	}
	for _, in := range todo {
		tx.Saw(in)
		if err := store.Append(tx, schema.Key(in.Key), []schema.Outlier{{AttemptID: schema.Key(in.Key), Rule: schema.HighRuntime}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Append(tx, 0, []schema.PhaseStats{{PhaseID: 1, Attempts: int64(len(todo))}}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func compact(t *testing.T, s *store.Store) {
	t.Helper()
	if _, err := s.Compact(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
}

var sqlBlock = regexp.MustCompile("(?s)```sql\n(.*?)```")

// sameRows compares the tables as read by the document's SQL with those of the engine.
func sameRows(t *testing.T, s *store.Store, when string) {
	t.Helper()
	text, err := os.ReadFile("../../store/READING.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := sqlBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of SQL", len(blocks))
	}
	db := testEngine(t, enginetest.Store(t), engine.Options{}).(*Engine)
	run := func(script string) {
		t.Helper()
		statements, rest := sqltext.DuckDB.Split(script)
		for _, sql := range append(statements, rest) {
			if err := db.exec(t.Context(), sql); strings.TrimSpace(sql) != "" && err != nil {
				t.Fatalf("%s: %v: %s", when, err, sql)
			}
		}
	}
	run(strings.Replace(blocks[0][1], "'lake'", "'"+s.Where()+"'", 1))
	eng := testEngine(t, s, engine.Options{})
	for _, c := range []struct{ table, columns string }{
		{"attempts", "attempt_id || ' ' || task || ' ' || coalesce(duration_s, -1)"}, {"outliers", "attempt_id || ' ' || rule"},
		{"phase_stats", "phase_id || ' ' || attempts"}, {"rejects", "source_file || ' ' || reason"},
	} {
		run(strings.NewReplacer("VIEW attempts", "VIEW theirs_"+c.table, "'attempts'", "'"+c.table+"'").Replace(blocks[1][1]))
		got, want := linesOf(t, db, c.columns, "theirs_"+c.table), linesOf(t, eng, c.columns, c.table)
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: %s has %d rows, want %d: %.300q, want %.300q", when, c.table, len(got), len(want), got, want)
		}
	}
}

// linesOf returns the rows of a table as texts, in order.
func linesOf(t *testing.T, eng engine.Engine, columns, table string) (lines []string) {
	t.Helper()
	for _, r := range enginetest.ReadAll[struct {
		Line string `col:"line"`
	}](t, eng, "SELECT "+columns+" AS line FROM "+table+" ORDER BY line") {
		lines = append(lines, r.Line)
	}
	return lines
}

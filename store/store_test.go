package store

import (
	"context"
	"fmt"
	"testing"

	"straggler/schema"
)

func testStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func testEngine(t testing.TB, s *Store, o EngineOptions) Engine {
	t.Helper()
	eng, err := s.Engine(t.Context(), o)
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

// attempts makes n rows of an input, a third of whose nullable values are NULL, over several phases.
func attempts(input schema.Key, n int) []schema.Attempt {
	ids, phases := schema.NewKeys(input, "attempts"), schema.NewKeys(input, "phases")
	rows := make([]schema.Attempt, n)
	for i := range rows {
		r := &rows[i]
		r.AttemptID = ids.Next()
		r.PhaseID = phases.Nth(int64(i/7) % 5)
		r.JobID, r.ApplicationID = 1, 2
		r.Task = int64(i)
		r.Number = int32(i % 3)
		r.NativeID = fmt.Sprint("task_", i)
		r.Status = schema.Success
		r.Recompute = i%5 == 0
		r.Quality = schema.Quality(i % 4)
		if i%3 == 0 {
			continue
		}
		r.Machine = schema.Some(fmt.Sprint("machine-", i%100))
		r.StartTime = schema.Some(schema.FromMillis(1700000000000 + int64(i)*10))
		r.DurationS = schema.Some(float64(i) / 8)
		r.Speculative = schema.Some(i%2 == 0)
		r.Locality = schema.Some(schema.NodeLocal)
		r.InputBytes = schema.Some(int64(i) * 1000)
	}
	return rows
}

// ingest commits rows of one input.
func ingest(t testing.TB, s *Store, input schema.Key, rows []schema.Attempt) Commit {
	t.Helper()
	tx, err := s.Begin(t.Context(), Origin{Kind: Log, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := Append(tx, input, rows); err != nil {
		t.Fatal(err)
	}
	if err := tx.Input(InputRecord{Name: fmt.Sprint("log-", input), Key: KeyText(input), Fingerprint: fmt.Sprintf("%032x", input)}); err != nil {
		t.Fatal(err)
	}
	c, err := tx.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func readAll[R any](t testing.TB, eng Engine, sql string) []R {
	t.Helper()
	var out []R
	for r, err := range Read[R](context.Background(), eng, sql) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, *r)
	}
	return out
}

func TestRowsComeBack(t *testing.T) {
	for _, n := range []int{1, 2, 5000, groupRows + 1} {
		s := testStore(t)
		want := attempts(7, n)
		ingest(t, s, 7, want)
		eng := testEngine(t, s, EngineOptions{})
		got := readAll[schema.Attempt](t, eng, "SELECT * FROM attempts ORDER BY task")
		if len(got) != n {
			t.Fatalf("%d rows came back of %d", len(got), n)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("row %d of %d came back as\n%+v\nand was\n%+v", i, n, got[i], want[i])
			}
		}
	}
}

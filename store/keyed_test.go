package store

import (
	"testing"

	"straggler/schema"
)

// nightlyResults keeps the results of earlier nights and adds, for each new input, an outlier computed from it, and one figure
// of all phases.
func nightlyResults(t *testing.T, s *Store) {
	t.Helper()
	tx, err := s.Begin(t.Context(), Origin{Kind: Detect, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Abort()
	todo, ok := tx.Resume(false)
	if !ok || len(todo) != 1 {
		t.Fatalf("%d inputs are to do, %v", len(todo), ok)
	}
	tx.Saw(todo[0])
	if err := Append(tx, schema.Key(todo[0].Key), []schema.Outlier{{AttemptID: schema.Key(todo[0].Key), Rule: schema.HighRuntime}}); err != nil {
		t.Fatal(err)
	}
	if err := Append(tx, 0, []schema.PhaseStats{{Attempts: 1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Nothing is looked for, and so no column of inputs read, in tables whose rows of earlier nights all count; the others show
// those of the last night alone.
func TestRowsOfNoInputAreHiddenWhereThereAreSuch(t *testing.T) {
	s := testStore(t)
	for night := range schema.Key(3) {
		if err := write(t.Context(), s, night+1, string(rune('a'+night)), 10); err != nil {
			t.Fatal(err)
		}
		nightlyResults(t, s)
	}
	check := func(when string) {
		t.Helper()
		n, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		if outliers := rowsOf[schema.Outlier](t, n); len(outliers) != 3 {
			t.Errorf("%s: %d outliers", when, len(outliers))
		}
		if stats := rowsOf[schema.PhaseStats](t, n); len(stats) != 1 {
			t.Errorf("%s: %d figures of all", when, len(stats))
		}
		chosen, err := n.SlicesOf("outliers", []schema.Key{1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, sl := range append(chosen, n.Slices("outliers")...) {
			if len(sl.Hidden)+len(sl.Chosen) > 0 {
				t.Errorf("%s: of outliers %v are hidden and %v chosen", when, sl.Hidden, sl.Chosen)
			}
		}
		if chosen, err = n.SlicesOf("phase_stats", []schema.Key{1, 2, 3}); err != nil || len(chosen) == 0 {
			t.Fatal(len(chosen), err)
		}
		for _, sl := range chosen {
			if len(sl.Hidden) == 0 {
				t.Errorf("%s: figures of all are among those of inputs", when)
			}
		}
	}
	check("night by night")
	if _, err := s.Compact(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	check("compacted")
}

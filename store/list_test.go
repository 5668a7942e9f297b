package store

import (
	"errors"
	"slices"
	"testing"
	"time"

	"straggler/schema"
)

// TestList checks the listing of a store after each of its steps.
func TestList(t *testing.T) {
	s := testStore(t)
	before := time.Now().Add(-time.Minute)
	last := func() Entry {
		list, err := s.List(t.Context())
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		return list[len(list)-1]
	}
	if list, err := s.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("a new store holds %+v, %v", list, err)
	}
	if err := write(t.Context(), s, 1, "a", 30); err != nil {
		t.Fatal(err)
	}
	e := last()
	if e.Sequence != 1 || e.Kind != Log || e.Rows != 31 || e.Tables["jobs"] != 30 || e.Files != 2 || e.Bytes == 0 || !e.Visible ||
		e.Stale || e.Hidden != 0 || e.Committed.Before(before) {
		t.Errorf("after the first ingest: %+v", e)
	}
	if err := results(t.Context(), s, 5); err != nil {
		t.Fatal(err)
	}
	state, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e = last(); e.Kind != Detect || e.Stale || !e.Visible {
		t.Errorf("after detect: %+v", e)
	}
	if c, err := s.Result(t.Context(), Detect); err != nil || c == nil || c.State != state {
		t.Errorf("the results are of state %+v and the store has %s, %v", c, state, err)
	}
	if c, err := s.Result(t.Context(), Causes); err != nil || c != nil {
		t.Errorf("there are results of causes: %+v, %v", c, err)
	}
	for i, change := range []func() error{
		func() error { return write(t.Context(), s, 1, "b", 40) }, // the log has grown
		func() error { return write(t.Context(), s, 2, "c", 20) }, // another log
		func() error {
			_, err := s.Remove(t.Context(), ingestID([]InputRecord{{Key: 2, Fingerprint: "c"}}), "test")
			return err
		},
	} {
		old := state
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if state, err = s.State(t.Context()); err != nil || state == old {
			t.Errorf("change %d leaves the state %s, %v", i, state, err)
		}
		if c, err := s.Result(t.Context(), Detect); err != nil || c == nil || c.State == state {
			t.Errorf("after change %d the results do not show their age: %+v, %v", i, c, err)
		}
	}
	old := state
	if _, err := s.Compact(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if state, err = s.State(t.Context()); err != nil || state != old {
		t.Errorf("a compaction takes the state from %s to %s, %v", old, state, err)
	}
	if list, err := s.List(t.Context()); err != nil {
		t.Fatal(err)
	} else if i := slices.IndexFunc(list, func(e Entry) bool { return e.Kind == Log && e.Visible }); i < 0 {
		t.Error("no logs are visible")
	} else if _, err := s.Remove(t.Context(), list[i].ID, "test"); err != nil {
		t.Errorf("removing the compaction by the id in the list: %v", err)
	} else if rest, err := s.List(t.Context()); err != nil || slices.ContainsFunc(rest, func(e Entry) bool { return e.Kind == Log && e.Visible }) {
		t.Errorf("after its removal: %+v, %v", rest, err)
	}
	if _, err := s.Remove(t.Context(), "nothing", "test"); !errors.Is(err, ErrNoCommit) {
		t.Errorf("removing nothing gives %v", err)
	}
	c, err := s.Result(t.Context(), Detect)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove(t.Context(), c.ID, "test"); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Result(t.Context(), Detect); err != nil || c != nil {
		t.Errorf("the results were removed and are %+v, %v", c, err)
	}
}

// TestIDs: the same inputs have the same id in any order, and others another one.
func TestIDs(t *testing.T) {
	a, b := InputRecord{Key: 1, Fingerprint: "a"}, InputRecord{Key: 2, Fingerprint: "b"}
	if ingestID([]InputRecord{a, b}) != ingestID([]InputRecord{b, a}) {
		t.Error("the order of the inputs changes the id")
	}
	seen := make(map[string]int)
	for i, inputs := range [][]InputRecord{{a}, {b}, {a, b}, {{Key: 1, Fingerprint: "b"}}, {{Key: 2, Fingerprint: "a"}}, {}} {
		if j, twice := seen[ingestID(inputs)]; twice {
			t.Errorf("inputs %d and %d have one id", i, j)
		}
		seen[ingestID(inputs)] = i
	}
	named := a
	named.Name, named.Bytes, named.Format = "elsewhere/log", 5, "spark"
	if ingestID([]InputRecord{a}) != ingestID([]InputRecord{named}) {
		t.Error("a log's place changes its id")
	}
}

// TestTheSameAgain replaces an input by itself: the id stays, the files change, and the rows exist once.
func TestTheSameAgain(t *testing.T) {
	s := testStore(t)
	for range 3 {
		if err := write(t.Context(), s, 1, "a", 30); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.ID != list[0].ID {
			t.Errorf("ids %s and %s", e.ID, list[0].ID)
		}
	}
	if n := len(visible[schema.Job](t, s)); n != 30 {
		t.Errorf("%d rows", n)
	}
}

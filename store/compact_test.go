package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"straggler/schema"
	"straggler/store/storetest"
)

// A compaction writes the attempts of a phase, which are in row groups of several commits, into one place, so that a reader
// skips the others; the rows are the same. Long texts make row groups of a few hundred rows.
func TestCompactionSortsByPhase(t *testing.T) {
	s := testStore(t)
	for input := range schema.Key(3) {
		rows := storetest.Attempts(input+1, 200)
		for i := range rows {
			rows[i].PhaseID = schema.Key(i*7%20) << 8 // the same phases in each commit
			rows[i].Reason = schema.Some(strings.Repeat("x", 150_000))
		}
		ingest(t, s, input+1, rows)
	}
	before := visible[schema.Attempt](t, s)
	if _, err := s.Compact(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	after := visible[schema.Attempt](t, s)
	ascend := func(a, b schema.Attempt) int { return int(a.PhaseID - b.PhaseID) }
	if !slices.IsSortedFunc(after, ascend) || slices.IsSortedFunc(before, ascend) {
		t.Error("the attempts are not sorted by phase, or were so before")
	}
	texts := func(rows []schema.Attempt) (out []string) {
		for i := range rows {
			out = append(out, fmt.Sprintf("%v", rows[i]))
		}
		slices.Sort(out)
		return out
	}
	if !slices.Equal(texts(before), texts(after)) {
		t.Error("the rows are not the same")
	}
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("the store is not whole: %v %v", found, err)
	}
}

// Results of a straggler with other result tables are computed again, and until then neither kept nor compacted.
func TestResultsWithOtherColumns(t *testing.T) {
	s := testStore(t)
	ctx := t.Context()
	for input := range schema.Key(2) {
		ingest(t, s, input+1, storetest.Attempts(input+1, 10))
		if n, err := resume(ctx, s, false); err != nil || n != 1 {
			t.Fatalf("results of %d inputs: %v", n, err)
		}
	}
	names, err := filepath.Glob(filepath.Join(s.where, "commits", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		c := new(Commit)
		if err := json.Unmarshal(data, c); err != nil {
			t.Fatal(err)
		}
		if c.Kind != Detect {
			continue
		}
		c.Columns = "" // as before the digest was kept
		if data, err = c.encode(); err == nil {
			err = os.WriteFile(name, data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		changed++
	}
	if changed != 2 {
		t.Fatalf("%d result commits", changed)
	}
	if s, err = Open(ctx, s.where, Options{}); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Compact(ctx, "test"); err != nil || c.Commits != 2 { // those of the logs
		t.Errorf("compaction rewrote %d commits: %v", c.Commits, err)
	}
	if n, err := resume(ctx, s, false); err != nil || n != 2 {
		t.Errorf("results of %d inputs are computed again, want 2: %v", n, err)
	}
}

package run_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"straggler/ingest"
	"straggler/ingest/run"
	"straggler/store"
)

// identified is the toy format, whose applications are known by the names that their logs start with.
func identified() []ingest.Format {
	f := toy()
	f.Application = func(h ingest.Head) string {
		first, _, _ := strings.Cut(string(h.Bytes), "\n")
		return strings.TrimSpace(first)
	}
	return []ingest.Format{f}
}

func runForms(t *testing.T, st *store.Store, o run.Options, paths ...string) run.Summary {
	t.Helper()
	s, err := run.Run(t.Context(), st, identified(), paths, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// One log in several forms is read once: as one file and rolled, compressed, with other line ends, cut, without what compaction
// took away. The form that has all records is read.
func TestForms(t *testing.T) {
	whole := toyLog("a", 6) // toy a, run host0 … run host5
	lines := bytes.SplitAfter(whole, []byte("\n"))
	dir := tree(t, map[string][]byte{
		"compacted.log":     slices.Concat(lines[0], lines[3], lines[6]),
		"cut.log":           whole[:len(whole)-4],
		"rolled.toys/DONE":  nil,
		"rolled.toys/part1": slices.Concat(lines[0], lines[1], lines[2]),
		"rolled.toys/part2": slices.Concat(lines[3], lines[4], lines[5], lines[6]),
		"windows.log.gz":    gzipped(t, bytes.ReplaceAll(whole, []byte("\n"), []byte("\r\n"))),
	})
	st := newStore(t)
	s := runForms(t, st, run.Options{}, dir)
	want(t, statuses(dir, s), []string{"compacted.log duplicate", "cut.log duplicate", "rolled.toys read", "windows.log.gz duplicate"})
	for _, r := range s.Results {
		if r.Status == run.Duplicate && !strings.Contains(r.Reason, "rolled.toys") {
			t.Errorf("%s: %s", r.Name, r.Reason)
		}
	}
	want(t, attempts(t, st), []string{"a 6"})
}

// Logs that only share records are all read, and those of other applications are not held against each other. What counts
// twice is said.
func TestFormsThatDiffer(t *testing.T) {
	whole := toyLog("a", 4)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	dir := tree(t, map[string][]byte{
		"first.log":   slices.Concat(lines[0], lines[1], lines[2]),
		"other.log":   toyLog("b", 2),
		"swapped.log": slices.Concat(lines[0], lines[2], lines[1]),
	})
	st := newStore(t)
	s := runForms(t, st, run.Options{}, dir)
	want(t, statuses(dir, s), []string{"first.log read", "other.log read", "swapped.log read"})
	if r := s.Results[2]; !strings.Contains(r.Reason, "first.log") || !strings.Contains(r.Reason, "counts twice") {
		t.Errorf("the reason of %s: %q", r.Name, r.Reason)
	}
	want(t, attempts(t, st), []string{"a 4", "b 2"})
}

// A log that the store has in another form is not counted again; one that has more or less is, and says so.
func TestFormInStore(t *testing.T) {
	whole := toyLog("a", 4)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	dir := tree(t, map[string][]byte{
		"day1/rolled.toys/part1": slices.Concat(lines[0], lines[1]),
		"day1/rolled.toys/part2": slices.Concat(lines[2], lines[3], lines[4]),
		"day2/one.log":           whole,
		"day2/b.log":             toyLog("b", 1),
		"day3/longer.log":        append(slices.Clone(whole), "run more\n"...),
	})
	st := newStore(t)
	runForms(t, st, run.Options{}, dir+"/day1")
	s := runForms(t, st, run.Options{}, dir+"/day2")
	want(t, statuses(dir, s), []string{"day2/b.log read", "day2/one.log already there"})
	want(t, attempts(t, st), []string{"a 4", "b 1"})
	s = runForms(t, st, run.Options{}, dir+"/day3")
	if r := s.Results[0]; r.Status != run.Read || !strings.Contains(r.Reason, "one.log") || !strings.Contains(r.Reason, "counts twice") {
		t.Errorf("%s: %s, %q", r.Name, r.Status, r.Reason)
	}
}

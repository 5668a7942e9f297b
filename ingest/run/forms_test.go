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

// identified returns the toy format, with applications identified by the names that their logs start with.
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

// One log in several forms is read once: as one file and rolled, compressed, with other line ends, truncated, without what
// compaction removed. The form with all records is read.
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

// Logs that only share some records are all read, and those of other applications are not compared. What counts twice is
// reported.
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

// A log that the store has in another form is not counted again, and one that has more records replaces it. If the log in the
// store is gone, so that nothing can be compared, the new one is read with a caveat that it may count twice.
func TestFormInStore(t *testing.T) {
	whole := toyLog("a", 4)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	dir := tree(t, map[string][]byte{
		"day1/rolled.toys/part1": slices.Concat(lines[0], lines[1]),
		"day1/rolled.toys/part2": slices.Concat(lines[2], lines[3], lines[4]),
		"day2/one.log":           whole,
		"day2/b.log":             toyLog("b", 1),
		"day3/longer.log":        append(slices.Clone(whole), "run more\n"...),
		"day4/same-size.log":     append(slices.Clone(whole), "run MORE\n"...),
		"day5/gone.log":          append(slices.Clone(whole), "run most\n"...),
	})
	st := newStore(t)
	runForms(t, st, run.Options{}, dir+"/day1")
	for range 2 {
		s := runForms(t, st, run.Options{}, dir+"/day2")
		if r := s.Results[1]; r.Status != run.AlreadyThere || !strings.Contains(r.Reason, "rolled.toys") {
			t.Errorf("%s: %s, %s", r.Name, r.Status, r.Reason)
		}
		want(t, attempts(t, st), []string{"a 4", "b 1"})
	}
	s := runForms(t, st, run.Options{}, dir+"/day3")
	want(t, statuses(dir, s), []string{"day3/longer.log read"})
	want(t, attempts(t, st), []string{"a 5", "b 1"})
	s = runForms(t, st, run.Options{}, dir+"/day1", dir+"/day2", dir+"/day3")
	want(t, statuses(dir, s), []string{"day1/rolled.toys duplicate", "day2/b.log already there", "day2/one.log duplicate", "day3/longer.log already there"})
	s = runForms(t, st, run.Options{}, dir+"/day4")
	if r := s.Results[0]; r.Status != run.Read || !strings.Contains(r.Reason, "counts twice") {
		t.Errorf("%s: %s, %s", r.Name, r.Status, r.Reason)
	}
	want(t, attempts(t, st), []string{"a 10", "b 1"})

	st = newStore(t)
	runForms(t, st, run.Options{}, dir+"/day5")
	write(t, dir+"/day5/gone.log", toyLog("c", 1))
	s = runForms(t, st, run.Options{}, dir+"/day1")
	if r := s.Results[0]; r.Status != run.Read || !strings.Contains(r.Reason, "gone.log") || !strings.Contains(r.Reason, "counts twice") {
		t.Errorf("%s: %s, %s", r.Name, r.Status, r.Reason)
	}
}

// A form in the store that has changed is replaced by another form of the same run that has all of its records.
func TestFormInStoreThatGrew(t *testing.T) {
	dir := tree(t, map[string][]byte{"rolled.toys/part1": toyLog("a", 2)})
	st := newStore(t)
	runForms(t, st, run.Options{}, dir)
	write(t, dir+"/rolled.toys/part2", []byte("run more\n"))
	write(t, dir+"/complete.log", append(toyLog("a", 2), "run more\n"...))
	s := runForms(t, st, run.Options{}, dir)
	want(t, statuses(dir, s), []string{"complete.log read", "rolled.toys duplicate"})
	want(t, attempts(t, st), []string{"a 3"})
}

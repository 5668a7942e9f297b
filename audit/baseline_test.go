package audit

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// history makes runs of a program with three stages.
func someRuns(n int) []Run {
	r := rand.New(rand.NewPCG(3, 3))
	p := newProgram(r, 3, 100)
	var runs []Run
	for i := range n {
		runs = append(runs, p.night(r, i, -1, 1))
	}
	return runs
}

func baselineOf(runs []Run, keep int) *Baseline {
	b := &Baseline{}
	for _, r := range runs {
		b.Add(r, keep)
	}
	return b
}

func content(t *testing.T, b *Baseline) string {
	t.Helper()
	data, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Writing and reading again gives the same bytes, in whatever order runs were added, and the last N are kept.
func TestBaselineIsStable(t *testing.T) {
	runs := someRuns(8)
	want := content(t, baselineOf(runs, 5))
	if strings.Count(want, `{"run":`) != 5 || strings.Count(want, `{"stage":`) != 15 || strings.Contains(want, `"id":"app-2"`) {
		t.Errorf("not the last five runs with three stages each:\n%.2000s", want)
	}
	backwards := slices.Clone(runs)
	slices.Reverse(backwards)
	if got := content(t, baselineOf(backwards, 5)); got != want {
		t.Error("the order of adding shows")
	}
	b, err := parseBaseline("b", []byte(want))
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, b); got != want {
		t.Error("reading and writing changes the file")
	}
	if n := len(want); n > 5*4096 {
		t.Errorf("%d bytes for five runs of three stages", n)
	}
}

// Two branches of a baseline, joined line by line in any order, are their union.
func TestBaselinesMerge(t *testing.T) {
	runs := someRuns(6)
	ours, theirs := baselineOf(runs[:4], 30), baselineOf(append(slices.Clone(runs[:3]), runs[4:]...), 30)
	ours.open(Open{ID: "F1", Group: "nightly", First: "2026-01-02", Last: "2026-01-04"})
	theirs.open(Open{ID: "F1", Group: "nightly", First: "2026-01-01", Last: "2026-01-03"})
	theirs.decide(Decision{ID: "F2", From: "2026-01-01"})
	joined, err := parseBaseline("b", []byte(content(t, ours)+content(t, theirs)))
	if err != nil {
		t.Fatal(err)
	}
	want := baselineOf(runs, 30)
	want.Open = []Open{{ID: "F1", Group: "nightly", First: "2026-01-01", Last: "2026-01-04"}}
	want.Decisions = []Decision{{ID: "F2", From: "2026-01-01"}}
	if content(t, joined) != content(t, want) {
		t.Errorf("joined:\n%.1000s\nwant:\n%.1000s", content(t, joined), content(t, want))
	}
}

func TestBaselineErrorsNameTheLine(t *testing.T) {
	head := "{\"straggler_baseline\":1}\n"
	for _, c := range []struct{ text, want string }{
		{"{}\n", "b:1: the first line is not"},
		{"hello\n", "b:1: "},
		{"\n\n", "b:2: the first line is not"},
		{head + "\n{\"run\": 5}\n", "b:3: "},
		{head + "{}\n", "b:2: it is no run"},
		{"{\"straggler_baseline\":9}\n", "b:1: version 9"},
		{head + strings.Repeat("x", longestLine+1), "b:2: "},
		{head + "{\"run\":{\"group\":\"a\",\"id\":\"1\",\"values\":{\"time_s\":1e999}}}\n", "b:2: "},
	} {
		_, err := parseBaseline("b", []byte(c.text))
		if err == nil || !errors.Is(err, ErrBaseline) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %s", c.text, err, c.want)
		}
	}
}

// A save is all or nothing, and does not overwrite what somebody else saved.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "b.jsonl")
	one, err := ReadBaseline(name)
	if err != nil {
		t.Fatal(err)
	}
	two, _ := ReadBaseline(name)
	runs := someRuns(2)
	one.Add(runs[0], 30)
	if err := one.Save(name); err != nil {
		t.Fatal(err)
	}
	saved, _ := os.ReadFile(name)
	two.Add(runs[1], 30)
	if err := two.Save(name); !errors.Is(err, ErrChanged) {
		t.Errorf("saved over another's: %v", err)
	}
	if now, _ := os.ReadFile(name); !bytes.Equal(now, saved) {
		t.Error("a failed save changed the file")
	}
	one.Add(runs[1], 30)
	if err := one.Save(name); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func FuzzBaseline(f *testing.F) {
	data, _ := baselineOf(someRuns(2), 30).Bytes()
	f.Add(data)
	f.Add([]byte("{\"straggler_baseline\":1}\n{\"finding\":{\"id\":\"F1\"}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := parseBaseline("f", data)
		if err != nil {
			return
		}
		once, err := b.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseBaseline("f", once)
		if err != nil {
			t.Fatalf("%v of what was written:\n%s", err, once)
		}
		if twice, _ := again.Bytes(); !bytes.Equal(once, twice) {
			t.Errorf("not stable:\n%s\n%s", once, twice)
		}
		for i := range b.Runs { // judging what somebody edited must not fail
			judge(&b.Runs[i], historyOf(&b.Runs[i], nil, b, 30), DefaultConfig(), func(string, *Run) bool { return false })
		}
	})
}

package baseline_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"straggler/audit"
	"straggler/audit/audittest"
	"straggler/audit/baseline"
	"straggler/audit/measure"
)

func baselineOf(runs []measure.Run, keep int) *baseline.Baseline {
	b := &baseline.Baseline{}
	for _, r := range runs {
		b.Add(keep, r)
	}
	return b
}

func content(t *testing.T, b *baseline.Baseline) string {
	t.Helper()
	data, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Writing a baseline and reading it back gives the same bytes, in whatever order runs were added, and keeps the last N.
func TestBaselineIsStable(t *testing.T) {
	runs := audittest.Runs(8)
	want := content(t, baselineOf(runs, 5))
	if strings.Count(want, `{"run":`) != 5 || strings.Count(want, `{"stage":`) != 15 || strings.Contains(want, `"id":"app-2"`) {
		t.Errorf("not the last five runs with three stages each:\n%.2000s", want)
	}
	backwards := slices.Clone(runs)
	slices.Reverse(backwards)
	if got := content(t, baselineOf(backwards, 5)); got != want {
		t.Error("the order of adding shows")
	}
	b, err := baseline.Parse("b", []byte(want))
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

// Two branches of a baseline, merged line by line in any order, are their union.
func TestBaselinesMerge(t *testing.T) {
	runs := audittest.Runs(6)
	ours, theirs := baselineOf(runs[:4], 30), baselineOf(append(slices.Clone(runs[:3]), runs[4:]...), 30)
	ours.Reopen(baseline.Open{ID: "F1", Group: "nightly", First: "2026-01-02", Last: "2026-01-04"})
	theirs.Reopen(baseline.Open{ID: "F1", Group: "nightly", First: "2026-01-01", Last: "2026-01-03"})
	theirs.Decide(baseline.Decision{ID: "F2", From: "2026-01-01"})
	joined, err := baseline.Parse("b", []byte(content(t, ours)+content(t, theirs)))
	if err != nil {
		t.Fatal(err)
	}
	want := baselineOf(runs, 30)
	want.Open = []baseline.Open{{ID: "F1", Group: "nightly", First: "2026-01-01", Last: "2026-01-04"}}
	want.Decisions = []baseline.Decision{{ID: "F2", From: "2026-01-01"}}
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
		{head + "{}\n", "b:2: it is not a run"},
		{"{\"straggler_baseline\":9}\n", "b:1: version 9"},
		{head + strings.Repeat("x", 4<<20+1), "b:2: "},
		{head + "{\"run\":{\"group\":\"a\",\"id\":\"1\",\"values\":{\"time_s\":1e999}}}\n", "b:2: "},
	} {
		_, err := baseline.Parse("b", []byte(c.text))
		if err == nil || !errors.Is(err, baseline.ErrUnreadable) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %s", c.text, err, c.want)
		}
	}
}

// A save is atomic, and does not overwrite what another process saved.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "b.jsonl")
	one, err := baseline.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	two, _ := baseline.Read(name)
	runs := audittest.Runs(2)
	one.Add(30, runs[0])
	if err := one.Save(name); err != nil {
		t.Fatal(err)
	}
	saved, _ := os.ReadFile(name)
	two.Add(30, runs[1])
	if err := two.Save(name); !errors.Is(err, baseline.ErrChanged) {
		t.Errorf("saved over another's: %v", err)
	}
	if now, _ := os.ReadFile(name); !bytes.Equal(now, saved) {
		t.Error("a failed save changed the file")
	}
	one.Add(30, runs[1])
	if err := one.Save(name); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// Of two audits that read the same baseline and save at the same time, one succeeds and the other is told to run again: no night
// is lost.
func TestSaveAtOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "b.jsonl")
	runs := audittest.Runs(60)
	for n := 0; n+1 < len(runs); n += 2 {
		begin, saved := make(chan struct{}), make(chan error)
		for _, r := range runs[n : n+2] {
			b, err := baseline.Read(name)
			if err != nil {
				t.Fatal(err)
			}
			b.Add(len(runs), r)
			go func() {
				<-begin
				saved <- b.Save(name)
			}()
		}
		close(begin)
		one, two := <-saved, <-saved
		if (one == nil) == (two == nil) || !errors.Is(errors.Join(one, two), baseline.ErrChanged) {
			t.Fatalf("pair %d: %v and %v, want one to succeed", n/2, one, two)
		}
	}
}

func FuzzBaseline(f *testing.F) {
	data, _ := baselineOf(audittest.Runs(2), 30).Bytes()
	f.Add(data)
	f.Add([]byte("{\"straggler_baseline\":1}\n{\"finding\":{\"id\":\"F1\"}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := baseline.Parse("f", data)
		if err != nil {
			return
		}
		once, err := b.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		again, err := baseline.Parse("f", once)
		if err != nil {
			t.Fatalf("%v of what was written:\n%s", err, once)
		}
		if twice, _ := again.Bytes(); !bytes.Equal(once, twice) {
			t.Errorf("not stable:\n%s\n%s", once, twice)
		}
		// Judging an edited baseline must not fail.
		if _, err := audit.Judge(b.Runs, b, audit.DefaultConfig(), audit.Options{}); err != nil {
			t.Error(err)
		}
	})
}

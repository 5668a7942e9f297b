package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/ingest/formats"
	"straggler/live"
	"straggler/live/eventlog"
	"straggler/schema"
)

func plainLog(tb testing.TB) []byte {
	tb.Helper()
	paths, err := filepath.Glob("../../testdata/labelled/plain/app-*")
	if err != nil || len(paths) != 1 {
		tb.Fatalf("%v, %v", paths, err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func poll(tb testing.TB, s *eventlog.Source) *live.State {
	tb.Helper()
	st, err := s.Poll(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return st
}

// A log is followed while it grows: what was reported about an attempt remains, an attempt keeps its key, running ones end,
// and once the log has its end and its final name the application has ended.
func TestGrowingLog(t *testing.T) {
	data := plainLog(t)
	dir := t.TempDir()
	name := filepath.Join(dir, "app-1.inprogress")
	s := eventlog.New(dir, "", formats.All(), nil)
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Poll(context.Background()); !errors.Is(err, live.ErrAway) {
		t.Errorf("a log that has not begun: %v", err)
	}
	keys := map[string]schema.Key{}
	var last schema.Time
	ran, ended := 0, map[string]bool{}
	for _, share := range []int{10, 25, 40, 55, 70, 85, 99} { // truncated in the middle of a line
		if err := os.WriteFile(name, data[:len(data)*share/100], 0o666); err != nil {
			t.Fatal(err)
		}
		st := poll(t, s)
		if st.Ended || st.Now < last {
			t.Errorf("%d %%: ended %v, at %d after %d", share, st.Ended, st.Now, last)
		}
		last = st.Now
		for i := range st.Trace.Attempts {
			a := &st.Trace.Attempts[i]
			if k, ok := keys[a.NativeID]; ok && k != a.AttemptID {
				t.Fatalf("%d %%: attempt %s was %d and is %d", share, a.NativeID, k, a.AttemptID)
			}
			keys[a.NativeID] = a.AttemptID
			if a.Status == schema.Running {
				ran++
				if ended[a.NativeID] {
					t.Errorf("%d %%: attempt %s had ended and runs", share, a.NativeID)
				}
			} else {
				ended[a.NativeID] = true
			}
		}
	}
	if ran == 0 || len(ended) < 80 {
		t.Errorf("%d running attempts and %d ended ones were seen", ran, len(ended))
	}
	seen := map[schema.Key]bool{}
	for _, k := range keys {
		seen[k] = true
	}
	if len(seen) != len(keys) {
		t.Errorf("%d keys of %d attempts", len(seen), len(keys))
	}
	os.Remove(name)
	if err := os.WriteFile(filepath.Join(dir, "app-1"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	st := poll(t, s)
	if !st.Ended {
		t.Error("the log has its end, and the application none")
	}
	for i := range st.Trace.Attempts {
		if a := &st.Trace.Attempts[i]; keys[a.NativeID] != 0 && keys[a.NativeID] != a.AttemptID {
			t.Fatalf("at the end attempt %s is %d, and was %d", a.NativeID, a.AttemptID, keys[a.NativeID])
		}
	}
}

// Paths that are not logs, and those that vanish, are reported.
func TestAbsentLogs(t *testing.T) {
	dir := t.TempDir()
	for path, is := range map[string]error{filepath.Join(dir, "nothing"): live.ErrGone, dir: live.ErrAway} {
		if _, err := eventlog.New(path, "", formats.All(), nil).Poll(context.Background()); !errors.Is(err, is) {
			t.Errorf("%s: %v", path, err)
		}
	}
	sub := filepath.Join(dir, "logs")
	os.Mkdir(sub, 0o777)
	data := plainLog(t)
	os.WriteFile(filepath.Join(sub, "app-1.inprogress"), data[:len(data)/2], 0o666)
	s := eventlog.New(sub, "", formats.All(), nil)
	poll(t, s)
	os.WriteFile(filepath.Join(sub, "app-1.inprogress"), bytes.Repeat([]byte("garbage\n"), 1000), 0o666)
	if st, err := s.Poll(context.Background()); err == nil {
		t.Errorf("a log overwritten with garbage gives %v", st)
	}
	os.RemoveAll(sub)
	if _, err := s.Poll(context.Background()); !errors.Is(err, live.ErrGone) || !strings.Contains(err.Error(), "vanished") {
		t.Errorf("a directory that vanished: %v", err)
	}
}

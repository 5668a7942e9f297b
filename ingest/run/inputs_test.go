package run_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/ingest/run"
)

// One bad input spoils nothing.
func TestBadInputs(t *testing.T) {
	dir := tree(t, map[string][]byte{
		"fail.log":  []byte("toy fail\nrun a\nfail\n"),
		"fail2.log": []byte("toy \xff\x1b[31m\n"),
		"good.log":  toyLog("good", 2),
		"panic.log": []byte("panic\n"),
		"mid.log":   []byte("toy mid\nrun a\npanic\nrun b\n"),
		"zero.log":  []byte("toy nul\nrun \x00\xff<script>\n\x00\n"),
	})
	if err := os.WriteFile(filepath.Join(dir, "panic.log"), []byte("toy \npanic\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	st := newStore(t)
	s := mustRun(t, st, run.Options{}, dir)
	want(t, statuses(dir, s), []string{"fail.log read in part", "fail2.log read", "good.log read", "mid.log read in part",
		"panic.log read in part", "zero.log read"})
	if bad := s.Unread(); len(bad) != 3 || !errors.Is(bad[1].Err, ingest.ErrInternal) {
		t.Errorf("%d inputs unread", len(bad))
	}
	// Inputs that could not be read are remembered: the next run does not read them again, but reports them.
	s = mustRun(t, st, run.Options{}, dir)
	want(t, statuses(dir, s), []string{"fail.log already there", "fail2.log already there", "good.log already there",
		"mid.log already there", "panic.log already there", "zero.log already there"})
	if r := s.Results[4]; !strings.Contains(r.Reason, "this toy breaks") {
		t.Errorf("the reason %q does not say what broke", r.Reason)
	}
	if !strings.Contains(s.Results[0].Reason, "gives up") {
		t.Errorf("the reason %q does not say why it was read in part", s.Results[0].Reason)
	}
}

func TestNothingGood(t *testing.T) {
	dir := tree(t, map[string][]byte{"empty": nil, "junk": {1, 2, 3}, "d/README": []byte("hello"), "fail.log": []byte("toy x\n")})
	refuses := toy()
	refuses.Read = func(context.Context, *ingest.Input, *ingest.Sink) error { return errors.New("refused") }
	other := toy()
	other.Name = "other"
	for _, c := range []struct {
		name    string
		formats []ingest.Format
		paths   []string
		o       run.Options
		kinds   []error
	}{
		{"directory without logs", []ingest.Format{toy()}, []string{dir + "/d"}, run.Options{}, []error{run.ErrNothingToRead}},
		{"no arguments", []ingest.Format{toy()}, nil, run.Options{}, []error{run.ErrNothingToRead}},
		{"named empty file", []ingest.Format{toy()}, []string{dir + "/empty"}, run.Options{}, []error{run.ErrUnreadable, discover.ErrNotRecognised}},
		{"named junk", []ingest.Format{toy()}, []string{dir + "/junk"}, run.Options{}, []error{run.ErrUnreadable, discover.ErrNotRecognised}},
		{"missing file", []ingest.Format{toy()}, []string{dir + "/none"}, run.Options{}, []error{run.ErrUnreadable, os.ErrNotExist}},
		{"pattern that matches nothing", []ingest.Format{toy()}, []string{dir + "/*.none"}, run.Options{}, []error{run.ErrUnreadable, os.ErrNotExist}},
		{"reader that refuses", []ingest.Format{refuses}, []string{dir + "/fail.log"}, run.Options{}, []error{run.ErrUnreadable}},
		{"two formats", []ingest.Format{toy(), other}, []string{dir + "/fail.log"}, run.Options{}, []error{run.ErrUnreadable, discover.ErrAmbiguous}},
		{"unknown --from", []ingest.Format{toy()}, []string{dir + "/fail.log"}, run.Options{From: "toys"}, []error{discover.ErrUnknownFormat}},
	} {
		st := newStore(t)
		s, err := run.Run(t.Context(), st, c.formats, c.paths, c.o)
		for _, kind := range c.kinds {
			if !errors.Is(err, kind) {
				t.Errorf("%s: error %v is not %v", c.name, err, kind)
			}
		}
		if inputs, err := st.Inputs(t.Context()); err != nil || len(inputs) != 0 || s.Commit != nil {
			t.Errorf("%s: the store holds %d inputs, error %v", c.name, len(inputs), err)
		}
	}
	st := newStore(t)
	if s, err := run.Run(t.Context(), st, []ingest.Format{toy(), other}, []string{dir + "/fail.log"},
		run.Options{From: "other"}); err != nil || s.Results[0].Format != "other" {
		t.Errorf("--from does not settle a tie: %v", err)
	}
	other.Sniff = func(ingest.Head) ingest.Match { return ingest.Match{} }
	mixed := tree(t, map[string][]byte{"d/toy.log": toyLog("toy", 1)})
	s, err := run.Run(t.Context(), st, []ingest.Format{toy(), other}, []string{mixed + "/d"}, run.Options{From: "other"})
	if !errors.Is(err, run.ErrNothingToRead) || len(s.Results) != 1 || !strings.Contains(s.Results[0].Reason, "it is toy") {
		t.Errorf("--from does not say what the files of a directory are: %v, %+v", err, s.Results)
	}
}

// Files that disappear between being listed and being read, and files whose reading fails.
func TestVanishing(t *testing.T) {
	dir := tree(t, map[string][]byte{"gone.log": toyLog("gone", 1), "good.log": toyLog("good", 1), "dir.log": toyLog("dir", 1)})
	f := toy()
	f.Sniff = func(h ingest.Head) ingest.Match {
		switch h.Name {
		case "gone.log":
			os.Remove(filepath.Join(dir, h.Name))
		case "dir.log":
			os.Remove(filepath.Join(dir, h.Name))
			os.Mkdir(filepath.Join(dir, h.Name), 0o777)
		}
		return sniffToy(h)
	}
	s, err := run.Run(t.Context(), newStore(t), []ingest.Format{f}, []string{dir}, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want(t, statuses(dir, s), []string{"dir.log failed", "gone.log failed", "good.log read"})
	if !errors.Is(s.Results[1].Err, os.ErrNotExist) || !strings.Contains(s.Results[1].Reason, "vanished") {
		t.Errorf("error %v", s.Results[1].Err)
	}
}

func TestUnreadable(t *testing.T) {
	dir := tree(t, map[string][]byte{"good.log": toyLog("good", 1), "secret.log": toyLog("secret", 1), "closed/in.log": toyLog("in", 1)})
	s := run.Summary{}
	switch {
	case os.Geteuid() != 0:
		os.Chmod(filepath.Join(dir, "secret.log"), 0)
		os.Chmod(filepath.Join(dir, "closed"), 0)
		defer os.Chmod(filepath.Join(dir, "closed"), 0o777)
		s = mustRun(t, newStore(t), run.Options{}, dir)
		want(t, statuses(dir, s), []string{"closed failed", "good.log read", "secret.log failed"})
	case runtime.GOOS == "linux":
		// Root reads everything, except the memory of a process at address 0.
		s = mustRun(t, newStore(t), run.Options{}, filepath.Join(dir, "good.log"), "/proc/self/mem")
		if got := s.Unread(); len(got) != 1 || got[0].Name != "/proc/self/mem" || s.Count(run.Read) != 1 {
			t.Errorf("%v", statuses(dir, s))
		}
	default:
		t.Skip("no file can be made unreadable for this user")
	}
}

func TestSymbolicLinks(t *testing.T) {
	dir := tree(t, map[string][]byte{"z/real.log": toyLog("real", 2), "other.log": toyLog("other", 1)})
	for link, to := range map[string]string{
		"a-loop":       ".",
		"z/up":         "..",
		"b-dir":        "z",
		"c-file.log":   "other.log",
		"d-broken.log": "nowhere",
		"e-self":       "e-self",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	st := newStore(t)
	s := mustRun(t, st, run.Options{}, dir)
	want(t, statuses(dir, s), []string{"d-broken.log not recognised", "e-self not recognised", "other.log read", "z/real.log read"})
	// A link that is itself named is followed.
	s = mustRun(t, newStore(t), run.Options{}, filepath.Join(dir, "b-dir"), filepath.Join(dir, "c-file.log"))
	want(t, statuses(dir, s), []string{"b-dir/real.log read", "b-dir/up/d-broken.log not recognised", "b-dir/up/e-self not recognised", "c-file.log read"})
}

func TestStandardInput(t *testing.T) {
	for name, data := range map[string][]byte{"plain": toyLog("in", 5), "gzip": gzipped(t, toyLog("in", 5))} {
		st := newStore(t)
		for round, status := range []run.Status{run.Read, run.AlreadyThere} {
			s := mustRun(t, st, run.Options{Stdin: pipe(t, data)}, "-")
			if s.Results[0].Status != status || s.Results[0].Bytes != int64(len(data)) {
				t.Errorf("%s, round %d: %+v", name, round, s.Results[0])
			}
		}
		want(t, attempts(t, st), []string{"in 5"})
	}
}

// A stream that is not read to its end leaves no goroutine waiting for it.
func TestUnwantedStream(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, "what is this\n")
		w.Close()
		if _, err := run.Run(t.Context(), newStore(t), []ingest.Format{toy()}, []string{"-"}, run.Options{Stdin: r}); !errors.Is(err, discover.ErrNotRecognised) {
			t.Fatal(err)
		}
	}
	for tries := 0; runtime.NumGoroutine() > before+5; tries++ {
		if tries == 1000 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

func pipe(t testing.TB, data []byte) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		w.Write(data)
		w.Close()
	}()
	t.Cleanup(func() { r.Close() })
	return r
}

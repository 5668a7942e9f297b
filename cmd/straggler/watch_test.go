package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"straggler/live/livetest"
)

func recordedServer(t *testing.T) *livetest.Server {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/labelled/bad-machine/*.zstd")
	if err != nil || len(paths) != 1 {
		t.Fatalf("%v, %v", paths, err)
	}
	return livetest.New(t, livetest.Log(t, paths[0]))
}

// runWatched runs the program, and returns its output and exit code.
func runWatched(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	cmd := exec.Command("straggler", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &out, &err
	cmd.Run()
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

// hook receives messages, and gives all of them the same answer.
type hook struct {
	file string // contains its address
	mu   sync.Mutex
	got  []string
}

func newHook(t *testing.T, code int) *hook {
	h := &hook{file: filepath.Join(t.TempDir(), "hook")}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		h.got = append(h.got, string(body))
		h.mu.Unlock()
		w.WriteHeader(code)
	}))
	t.Cleanup(s.Close)
	if err := os.WriteFile(h.file, []byte(s.URL+"/SECRET\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *hook) bodies() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.got
}

// An application that has ended is watched to its end at once: what is known is printed in every encoding, a report follows,
// and the store has the application in one commit.
func TestWatchToTheEnd(t *testing.T) {
	t.Parallel()
	s := recordedServer(t)
	s.Set(s.End())
	lake := filepath.Join(t.TempDir(), "lake")
	hook := newHook(t, http.StatusOK)
	out, errs, code := runWatched(t, "watch", s.URL, "--store", lake, "--notify", "slack", "--notify-address", hook.file)
	if got := hook.bodies(); len(got) != 1 || !strings.Contains(got[0], `{"text":`) || !strings.Contains(got[0], "m03") {
		t.Errorf("told %q", got)
	}
	if code != 0 || !strings.Contains(out, "the application has ended") || !strings.Contains(out, "Stragglers cost") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	out, errs, code = runWatched(t, "sql", "--store", lake,
		"SELECT count(*) AS n FROM applications a JOIN caveats c USING (application_id) WHERE c.code = 'watched'", "--as", "csv")
	if code != 0 || strings.TrimSpace(out) != "n\n1" {
		t.Errorf("the store: exit %d\n%s%s", code, out, errs)
	}
	out, errs, code = runWatched(t, "watch", s.URL, "--as", "jsonl", "--store", lake)
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	records := map[string]int{}
	for line := range strings.Lines(out) {
		var r struct{ Record, Time string }
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Record == "" || r.Time == "" {
			t.Fatalf("%v: %s", err, line)
		}
		records[r.Record]++
	}
	if records["application"] == 0 || records["machine"] == 0 {
		t.Errorf("records %v", records)
	}
}

// Wrong usage, a missing server, and a server that forbids access have their exit codes and messages.
func TestWatchFaults(t *testing.T) {
	t.Parallel()
	s := recordedServer(t)
	for _, x := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"watch"}, 2, "argument"},
		{[]string{"watch", "ftp://driver:4040"}, 2, "ftp"},
		{[]string{"watch", "driver:4040"}, 2, "http://HOST:PORT"},
		{[]string{"watch", "http://me:secret@driver:4040"}, 2, "environment or a file"},
		{[]string{"watch", s.URL, "--as", "xml"}, 2, "there are text, jsonl"},
		{[]string{"watch", s.URL, "--every", "10ms"}, 2, "once a second"},
		{[]string{"watch", s.URL, "--policy", "lat"}, 2, "lat"},
		{[]string{"watch", s.URL, "--app", "app-nothere"}, 3, "knows no application app-nothere: "},
		{[]string{"watch", "http://127.0.0.1:1", "--patience", "1ms"}, 3, "refused"},
		{[]string{"watch", s.URL + "/app-20200101000000-0000"}, 3, "knows no application"},
	} {
		out, errs, code := runWatched(t, x.args...)
		if code != x.code || !strings.Contains(errs, x.says) || strings.Contains(errs, "secret") {
			t.Errorf("%v: exit %d\n%s%s", x.args, code, out, errs)
		}
	}
}

// Ctrl-C ends a watch, and the store has what was seen, in one commit. An undelivered message is reported once, and not sent
// again with every poll.
func TestWatchInterrupted(t *testing.T) {
	t.Parallel()
	s := recordedServer(t)
	s.Set(s.End().Add(-5))
	lake := filepath.Join(t.TempDir(), "lake")
	hook := newHook(t, http.StatusForbidden)
	cmd := exec.Command("straggler", "watch", s.URL, "--store", lake, "--notify", "json", "--notify-address", hook.file)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	waitFor := func(what string, happened func() bool) {
		for !happened() {
			select {
			case err := <-ended:
				t.Fatalf("%v before %s\n%s", err, what, out.String())
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	waitFor("a message was sent", func() bool { return len(hook.bodies()) > 0 })
	told := s.Polls()
	waitFor("the next polls, which do not send it again", func() bool { return s.Polls() > told+2 })
	cmd.Process.Signal(os.Interrupt)
	<-ended
	if code := cmd.ProcessState.ExitCode(); code != 130 && code != -1 || cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
		t.Errorf("exit %d\n%s", code, out.String())
	}
	if n, errs := len(hook.bodies()), out.String(); n != 1 || strings.Count(errs, "not delivered") != 1 || strings.Contains(errs, "SECRET") {
		t.Errorf("%d messages were sent\n%s", n, errs)
	}
	if _, errs, code := runWatched(t, "store", "verify", "--store", lake); code != 0 {
		t.Errorf("the store: %d %s", code, errs)
	}
}

// The logs of a History Server are downloaded, read, and found again in the cache and in the store.
func TestHistoryServer(t *testing.T) {
	s := recordedServer(t)
	s.Set(s.End())
	paths, _ := filepath.Glob("../../testdata/labelled/bad-machine/*.zstd")
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, errs, code := runWatched(t, "ingest", s.URL, "--store", "lake", "--cache", t.TempDir()); code != 3 || !strings.Contains(errs, "has no log") {
		t.Errorf("a server without logs: exit %d\n%s", code, errs)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, _ := z.Create(filepath.Base(paths[0]))
	f.Write(data)
	z.Close()
	s.Zip = b.Bytes()
	lake, cache := filepath.Join(t.TempDir(), "lake"), t.TempDir()
	for _, want := range []string{"1 log read", "1 already there"} {
		if _, errs, code := runWatched(t, "ingest", s.URL, "--store", lake, "--cache", cache); code != 0 || !strings.Contains(errs, want) {
			t.Errorf("exit %d, and not %q\n%s", code, want, errs)
		}
	}
	n := 0
	for _, path := range s.Asked {
		if strings.HasSuffix(path, "/logs") {
			n++
		}
	}
	if n != 2 { // one by the server without logs, and one more
		t.Errorf("%d downloads", n)
	}
}

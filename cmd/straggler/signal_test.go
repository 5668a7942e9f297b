package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"straggler/store"
)

// After Ctrl-C in the middle of an ingest, the exit code is 130, and the store has nothing incomplete.
func TestInterruptLeavesStoreWhole(t *testing.T) {
	dir := t.TempDir()
	lake := filepath.Join(dir, "lake")
	if err := unpackInto(dir); err != nil {
		t.Fatal(err)
	}
	straggler(t, dir, "ingest", "eventlogs", "--store", lake)
	cmd := exec.Command("straggler", "ingest", "-", "--store", lake)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// This is more than a pipe's buffer: once it is written, reading has begun, and it cannot end before the pipe does.
	if _, err := io.WriteString(in, `{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}`+"\n"+
		strings.Repeat(`{"Event":"SparkListenerBlockUpdated"}`+"\n", 40_000)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("ended with %v, want exit code %d", err, exitInterrupted)
	}
	if errs.String() != "straggler: interrupted\n" {
		t.Errorf("it says %q", errs.String())
	}
	st, err := store.Open(context.Background(), lake, store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := st.List(context.Background()); err != nil || len(entries) != 1 {
		t.Errorf("the store has %d commits, want the one from before: %v", len(entries), err)
	}
	if found, err := st.Verify(context.Background()); err != nil || len(found) > 0 {
		t.Errorf("the store is not whole: %v, %v", found, err)
	}
	straggler(t, dir, "ingest", "eventlogs", "--store", lake, "--again") // the store can still be written
}

// If the reader of the output stops, as head does, the program ends quietly, and removes its temporary store and the engine's
// files.
func TestNobodyReads(t *testing.T) {
	dir := t.TempDir()
	if err := unpackInto(dir); err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(dir, ".tmp")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("straggler", "report", "eventlogs", "--as", "json") // more than a pipe's buffer
	var errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), "TMPDIR="+temp), w, &errs
	r.Close()
	if err = cmd.Start(); err == nil {
		w.Close()
		err = cmd.Wait()
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitUnread || errs.Len() > 0 {
		t.Errorf("ended with %v and says %q", err, errs.String())
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
}

// straggler runs a command that must succeed.
func straggler(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("straggler", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("straggler %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// onTerminal returns a command line that sh runs on a terminal made by script(1).
func onTerminal(t *testing.T, dir, command string, env ...string) *exec.Cmd {
	t.Helper()
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("script(1) is not here to make a terminal")
	}
	cmd := exec.Command("script", "-qefc", command, os.DevNull)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "SHELL=/bin/sh"), env...)
	return cmd
}

// On a terminal the shell answers, Ctrl-C ends a statement but not the shell, and Ctrl-D ends the shell. Keys are pressed at
// a prompt, where the terminal passes them on one by one; before it, Ctrl-C would make the terminal discard its input.
func TestShellOnTerminal(t *testing.T) {
	dir := t.TempDir()
	if err := unpackInto(dir); err != nil {
		t.Fatal(err)
	}
	straggler(t, dir, "ingest", "eventlogs", "--store", "lake")
	// without exec, Ctrl-C would end an sh that waits for its child
	cmd := onTerminal(t, dir, "exec straggler sql --store lake", "HOME="+dir, "XDG_STATE_HOME=", "TERM=xterm")
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	screen := &transcript{}
	cmd.Stdout = screen
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	screen.wait(t, prompt)
	io.WriteString(keys, "SELECT count(*) AS n FROM attempts;\r")
	screen.wait(t, "1244", prompt)
	io.WriteString(keys, "SELECT count(*) FROM range(1000000000000) a, range(1000000) b;\r")
	screen.wait(t, " b;\r\n")
	for !screen.has("stopped") { // pressed until the statement has started, as people do
		io.WriteString(keys, "\x03")
		time.Sleep(50 * time.Millisecond)
		if screen.tooLate() {
			t.Fatalf("Ctrl-C does not stop the statement:\n%s", screen)
		}
	}
	screen.wait(t, "stopped", prompt)
	io.WriteString(keys, "SELECT 'still' || ' here' AS s;\r")
	screen.wait(t, "still here", prompt)
	io.WriteString(keys, "\x04")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the shell ended with %v:\n%s", err, screen)
	}
	if history, err := os.ReadFile(filepath.Join(dir, ".local/state/straggler/history")); err != nil || !strings.Contains(string(history), "FROM attempts;") {
		t.Errorf("the history is %q, %v", history, err)
	}
}

const prompt = "straggler> "

// Colours appear on terminals only, unless they are disabled; progress bars appear on standard error if it is a terminal.
func TestColoursOnTerminal(t *testing.T) {
	dir := t.TempDir()
	if err := unpackInto(dir); err != nil {
		t.Fatal(err)
	}
	straggler(t, dir, "ingest", "eventlogs", "--store", "lake")
	for _, c := range []struct {
		command string
		env     string
		sign    string
		want    bool
	}{
		{"straggler report --store lake 2>errors", "TERM=xterm", "\x1b[", true},
		{"straggler report --store lake 2>errors", "NO_COLOR=1", "\x1b[", false},
		{"straggler report --store lake 2>errors", "TERM=dumb", "\x1b[", false},
		{"straggler report --store lake 2>errors | cat", "TERM=xterm", "\x1b[", false},
		{"straggler ingest eventlogs --again --store lake >results", "TERM=xterm", "reading", true},
		{"straggler ingest eventlogs --again --store lake >results 2>errors", "TERM=xterm", "reading", false},
	} {
		out, err := onTerminal(t, dir, c.command, "NO_COLOR=", c.env).Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.command, err, out)
		}
		if got := bytes.Contains(out, []byte(c.sign)); got != c.want {
			t.Errorf("%s with %s shows %q: %v, want %v", c.command, c.env, c.sign, got, c.want)
		}
		if errs, err := os.ReadFile(filepath.Join(dir, "errors")); err == nil && bytes.Contains(errs, []byte("\x1b")) {
			t.Errorf("%s with %s: escapes in a file: %q", c.command, c.env, errs)
		}
	}
}

// transcript is the output of a terminal.
type transcript struct {
	mu    sync.Mutex
	text  bytes.Buffer
	since time.Time
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// has reports whether the terminal has shown these texts, in this order.
func (s *transcript) has(texts ...string) bool {
	shown := s.String()
	for _, text := range texts {
		_, after, found := strings.Cut(shown, text)
		if !found {
			return false
		}
		shown = after
	}
	return true
}

// tooLate reports whether a minute has passed since it was first called.
func (s *transcript) tooLate() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		s.since = time.Now()
	}
	return time.Since(s.since) > time.Minute
}

func (s *transcript) wait(t *testing.T, texts ...string) {
	t.Helper()
	for !s.has(texts...) {
		if s.tooLate() {
			t.Fatalf("%q does not appear:\n%s", texts, s)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// After Ctrl-C in the middle of a simulation, the exit code is 130, and the store holds exactly the runs that are reported as
// kept.
func TestInterruptKeepsFinishedRuns(t *testing.T) {
	dir := t.TempDir()
	lake := filepath.Join(dir, "lake")
	cmd := exec.Command("straggler", "simulate", "--example", "fair", "--seeds", "1000", "--store", lake)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun := func() bool {
		entries, err := os.ReadDir(filepath.Join(lake, "staging"))
		return err == nil && len(entries) > 0
	}
	for deadline := time.Now().Add(time.Minute); !begun(); {
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			t.Fatal("nothing was begun within a minute")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted || !strings.HasSuffix(errs.String(), "straggler: interrupted\n") {
		t.Fatalf("ended with %v, want exit code %d; it says %q", err, exitInterrupted, errs.String())
	}
	kept := 0
	fmt.Sscanf(errs.String(), "interrupted: %d of", &kept)
	st, err := store.Open(context.Background(), lake, store.Options{ReadOnly: true})
	if kept == 0 && errors.Is(err, store.ErrNotStore) { // a new store that stayed empty is removed
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	commit, err := st.Result(t.Context(), store.Simulate)
	if err != nil || (commit != nil) != (kept > 0) {
		t.Fatalf("%d runs are kept, and the commit is %v: %v", kept, commit, err)
	}
	if found, err := st.Verify(context.Background()); err != nil || len(found) > 0 {
		t.Errorf("the store is damaged: %v %v", found, err)
	}
	if kept == 0 {
		return
	}
	text, err := exec.Command("straggler", "sql", "--store", lake, "--as", "csv",
		"SELECT count(*) AS n, count(DISTINCT run_id) AS runs FROM simulate_runs").Output()
	if want := fmt.Sprintf("%d,%d", kept, kept); err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%d runs are kept, and the store has %q", kept, text)
	}
}

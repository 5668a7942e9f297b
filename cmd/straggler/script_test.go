package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The whole program as users see it: each script in testdata is a directory, some commands, and their expected results.
// Scripts find the built-in logs in eventlogs, those of testdata/labelled in $LABELLED, and logs of queries with known plans
// in $PLANS.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"straggler": main})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata", Setup: furnish, RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "night": night}})
}

// Every verb has a script, except those that serve until they are stopped, which have their own tests, and those that only
// other programs call.
func TestEveryVerbHasAScript(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var scripts strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(text)
	}
	for _, c := range newRoot(&env{}).Commands() {
		if c.RunE == nil || slices.Contains([]string{"watch", "serve", "mcp", "copy", "man", "help"}, c.Name()) {
			continue
		}
		if !strings.Contains(scripts.String(), "straggler "+c.Name()) {
			t.Errorf("no script of testdata runs straggler %s", c.Name())
		}
	}
}

// exits runs a command that must end with an exit code: exits 2 straggler frobnicate.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if want, err := strconv.Atoi(args[0]); err != nil || code != want {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// furnish fills the directory of a script.
func furnish(e *testscript.Env) error {
	labelled, err := filepath.Abs("../../testdata/labelled")
	if err != nil {
		return err
	}
	plans, err := filepath.Abs("../../plans/testdata")
	if err != nil {
		return err
	}
	nights, err := filepath.Abs("../../testdata/nights")
	if err != nil {
		return err
	}
	racks, err := filepath.Abs("../../testdata/racks")
	if err != nil {
		return err
	}
	e.Setenv("LABELLED", labelled)
	e.Setenv("NIGHTS", nights)
	e.Setenv("RACKS", racks)
	e.Setenv("PLANS", plans)
	e.Setenv("HOME", e.WorkDir)
	e.Setenv("TMPDIR", filepath.Join(e.WorkDir, ".tmp"))
	return unpackInto(e.WorkDir)
}

func unpackInto(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "eventlogs"), 0o777); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, ".tmp"), 0o777); err != nil {
		return err
	}
	return fs.WalkDir(demoLogs, "demo", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(name, "0006") { // two of the three suffice
			return err
		}
		data, err := demoLogs.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "eventlogs", d.Name()), data, 0o666)
	})
}

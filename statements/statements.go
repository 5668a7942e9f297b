// Package statements takes a program and returns how often each of its statements runs, to test how work grows with the size
// of its input.
package statements

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Program is a program whose statements are counted by the compiler, including any that are added later.
type Program string

// Build builds the main package of a directory so that the statements of some packages are counted; the main package must be
// among them.
func Build(t *testing.T, dir string, packages ...string) Program {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-cover", "-covermode=count", "-coverpkg="+strings.Join(packages, ","), "-o",
		program, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return Program(program)
}

// Run runs the program and returns how often each block of statements ran, by position.
func (p Program) Run(t *testing.T, args ...string) map[string]int {
	t.Helper()
	dir := t.TempDir()
	run := exec.Command(string(p), args...)
	run.Env = append(os.Environ(), "GOCOVERDIR="+dir)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := filepath.Join(dir, "text")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i", dir, "-o", text).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for line := range strings.Lines(string(data)) { // file:from,to statements times
		if f := strings.Fields(line); len(f) == 3 {
			n, err := strconv.Atoi(f[2])
			if err != nil {
				t.Fatal(err)
			}
			ran[f[0]] += n
		}
	}
	return ran
}

// Linear fails if a program with four times the tasks runs a statement more than eight times as often; 16 times would be
// quadratic, and sorting runs five times. A loop may just be reaching its bound, which adds a few runs per task: spare.
func Linear(t *testing.T, of string, tasks, spare int, before, after map[string]int) {
	t.Helper()
	total := 0
	for _, at := range slices.Sorted(maps.Keys(after)) {
		total += after[at]
		if n := before[at]; after[at] > 8*n+spare*tasks {
			t.Errorf("four times the %s: %s runs %d times, and %d before", of, at, after[at], n)
		}
	}
	if total < 100*tasks {
		t.Errorf("%s: %d statements for %d tasks: they are not counted", of, total, tasks)
	}
}

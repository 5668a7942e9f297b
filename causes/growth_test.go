package causes

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

// Four times the tasks of a phase, its machines with them, or phases run each statement of the model about four times as often: what sorts, five
// times. Loops over what lies near a task are bounded. The compiler counts, so what is new counts too.
func TestGrowth(t *testing.T) {
	program := filepath.Join(t.TempDir(), "growth")
	if out, err := exec.Command("go", "build", "-cover", "-covermode=count",
		"-coverpkg=straggler/causes,straggler/causes/fit,straggler/causes/jobcost,straggler/causes/machines,straggler/causes/model,straggler/causes/stats,straggler/causes/testdata/growth",
		"-o", program, "./testdata/growth").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		of        string
		few, many [3]int // phases, tasks of each, machines
	}{
		{"tasks of a phase", [3]int{1, 2000, 16}, [3]int{1, 8000, 16}},
		{"tasks and machines of a phase", [3]int{1, 1600, 200}, [3]int{1, 6400, 800}},
		{"phases", [3]int{40, 60, 20}, [3]int{160, 60, 20}},
	} {
		tasks, total := c.many[0]*c.many[1], 0
		before, after := statements(t, program, c.few), statements(t, program, c.many)
		for _, at := range slices.Sorted(maps.Keys(after)) {
			total += after[at]
			if n := before[at]; after[at] > 8*n+tasks { // 16 times would be the square; a bounded loop may just be reaching its bound
				t.Errorf("four times the %s: %s runs %d times, and %d before", c.of, at, after[at], n)
			}
		}
		if total < 100*tasks {
			t.Errorf("%s: %d statements for %d tasks: they are not counted", c.of, total, tasks)
		}
	}
}

// statements runs the program and says how often each block of statements ran.
func statements(t *testing.T, program string, size [3]int) map[string]int {
	t.Helper()
	dir := t.TempDir()
	run := exec.Command(program, strconv.Itoa(size[0]), strconv.Itoa(size[1]), strconv.Itoa(size[2]))
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

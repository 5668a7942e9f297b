package notebooks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// python is an interpreter with the packages of requirements.txt.
func python(t *testing.T) string {
	t.Helper()
	name := os.Getenv("STRAGGLER_PYTHON")
	if name == "" {
		name = "python3"
	}
	out, err := exec.Command(name, "-c", "import nbclient, ipykernel, duckdb, matplotlib").CombinedOutput()
	if err != nil {
		if strings.Contains(os.Getenv("STRAGGLER_REQUIRE"), "python") {
			t.Fatalf("%s lacks what notebooks/requirements.txt names: %v\n%s", name, err, out)
		}
		t.Skipf("%s lacks what notebooks/requirements.txt names; STRAGGLER_PYTHON names one that has it", name)
	}
	return name
}

// freshStores are stores of the logs that the notebooks discuss, with all results: those with labelled faults, and one with
// plans.
func freshStores(t *testing.T) (store, plans string) {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "straggler")
	store, plans = filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "plans")
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	run("go", "build", "-o", bin, "../cmd/straggler")
	logs := []string{"ingest", "--store", store}
	for _, name := range []string{"mixed", "mixed-spec", "skew", "bad-machine", "network-up", "recompute", "clean"} {
		logs = append(logs, filepath.Join("..", "testdata", "labelled", name))
	}
	run(bin, logs...)
	run(bin, "detect", "--store", store)
	run(bin, "causes", "--store", store)
	run(bin, "whatif", "--store", store, "--sweep", "spark3.multiplier=1.1:3:0.1", "--policy", "mantri,dolly,mapreduce,dryad,spark3,mrv2,medianrate", "--seeds", "10")
	run(bin, "report", filepath.Join("..", "plans", "testdata", "spark3-aqe-on.zstd"), "--store", plans, "-o", filepath.Join(t.TempDir(), "report.md"))
	return store, plans
}

// Every notebook runs on fresh stores and prints its saved output, which its text discusses.
func TestNotebooks(t *testing.T) {
	py := python(t)
	store, plans := freshStores(t)
	out, err := exec.Command(py, "run.py", store, plans).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	saved, _ := filepath.Glob("*.ipynb")
	if n := strings.Count(string(out), ".ipynb runs"); n != len(saved) || n == 0 {
		t.Errorf("%d of %d notebooks ran:\n%s", n, len(saved), out)
	}
}

// The starter opens the given store, even with quotes in its path, and has no saved output.
func TestStarter(t *testing.T) {
	const path = `/data/it's "mine"\store`
	b, err := Starter(path)
	if err != nil {
		t.Fatal(err)
	}
	var nb struct {
		Cells []struct {
			Type    string          `json:"cell_type"`
			Source  any             `json:"source"`
			Outputs json.RawMessage `json:"outputs"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(b, &nb); err != nil {
		t.Fatal(err)
	}
	opened := false
	for _, c := range nb.Cells {
		source, _ := json.Marshal(c.Source)
		if c.Type == "code" && string(c.Outputs) != "[]" {
			t.Errorf("a cell carries output: %s", c.Outputs)
		}
		var text string
		if json.Unmarshal(source, &text) != nil {
			var lines []string
			if err := json.Unmarshal(source, &lines); err != nil {
				t.Fatal(err)
			}
			text = strings.Join(lines, "")
		}
		opened = opened || strings.Contains(text, `open_store("/data/it's \"mine\"\\store")`)
	}
	if !opened {
		t.Error("no cell opens the store")
	}
}

package notebooks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// python returns an interpreter with the packages of requirements.txt.
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

// freshStores returns stores of the logs that the notebooks discuss, with all results: those with labelled faults, and one with
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
	run(bin, "whatif", "--store", store, "--sweep", "spark3.multiplier=1.1:3:0.1", "--policy",
		"mantri,dolly,mapreduce,dryad,spark3,mrv2,medianrate", "--seeds", "10")
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

// counts prints the number of rows of each table as the notebooks open a store.
const counts = `
import json, sys
cells = json.load(open(sys.argv[1]))["cells"]
source = next("".join(c["source"]) for c in cells if c["cell_type"] == "code")
exec(source.split("db = open_store")[0])
db = open_store(sys.argv[2])
for name, in sorted(db.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()):
    print(name, *db.execute(f"SELECT count(*) FROM {name}").fetchone())
`

// Every notebook reads the rows that straggler sql reads, whatever happened to the store: logs that were read again, results
// that later ones added to, results without rows, and compactions.
func TestNotebooksReadWhatIsVisible(t *testing.T) {
	py := python(t)
	bin, store := filepath.Join(t.TempDir(), "straggler"), filepath.Join(t.TempDir(), "store")
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v", name, args, err)
		}
		return string(out)
	}
	run("go", "build", "-o", bin, "../cmd/straggler")
	on := func(verb string, args ...string) {
		t.Helper()
		run(bin, append(append(strings.Fields(verb), "--store", store), args...)...)
	}
	labelled := func(name string) string { return filepath.Join("..", "testdata", "labelled", name) }
	notebooks, err := filepath.Glob("*.ipynb")
	if err != nil || len(notebooks) == 0 {
		t.Fatal(notebooks, err)
	}
	for i, step := range []func(){
		func() { on("report", labelled("clean"), labelled("skew"), "-o", filepath.Join(t.TempDir(), "r.md")) },
		func() { on("ingest", labelled("recompute")); on("detect"); on("causes") },
		func() { on("ingest", "--again", labelled("clean")) },
		func() { on("causes"); on("store compact") },
	} {
		step()
		for k, notebook := range notebooks {
			if k > 0 && i > 0 {
				break // their code is the same, which the first step checks
			}
			for line := range strings.Lines(run(py, "-c", counts, notebook, store)) {
				name, n, _ := strings.Cut(strings.TrimSpace(line), " ")
				if got := strings.Fields(run(bin, "sql", "--store", store, "SELECT count(*) AS n FROM "+name, "--as", "csv")); len(got) != 2 || got[1] != n {
					t.Errorf("step %d, %s, %s: %s rows, straggler sql says %v", i, notebook, name, n, got)
				}
			}
		}
	}
}

// execute executes the code of a notebook, without drawing.
const execute = `
import json, sys
import matplotlib
matplotlib.use("Agg")
for c in json.load(open(sys.argv[1]))["cells"]:
    if c["cell_type"] == "code":
        exec("".join(c["source"]))
`

// The starter and every notebook run on other stores than those that the text discusses: on one in which nothing is slow, so that
// many tables have no rows, and on one of a JobTracker, which logs much less than Spark does.
func TestNotebooksOfOtherStores(t *testing.T) {
	py := python(t)
	dir := t.TempDir()
	bin, log := filepath.Join(dir, "straggler"), filepath.Join(dir, "a.log")
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	run("go", "build", "-o", bin, "../cmd/straggler")
	run(bin, "generate", "--scenario", "identical", "-o", log)
	notebooks, err := filepath.Glob("*.ipynb")
	if err != nil || len(notebooks) == 0 {
		t.Fatal(notebooks, err)
	}
	for name, input := range map[string]string{"identical": log, "jobtracker": filepath.Join("..", "ingest", "formats", "testdata", "samples", "jobtracker-skewed")} {
		t.Run(name, func(t *testing.T) {
			store, starter := filepath.Join(dir, name), filepath.Join(dir, name+".ipynb")
			run(bin, "report", input, "--store", store, "-o", filepath.Join(dir, "r.md"))
			run(bin, "notebook", "--store", store, "-o", starter)
			t.Setenv("STRAGGLER_STORE", store)
			for _, notebook := range append([]string{starter}, notebooks...) {
				run(py, "-c", execute, notebook)
			}
		})
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

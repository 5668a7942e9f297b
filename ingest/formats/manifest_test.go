package formats

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/ingest/ingesttest"
)

// Every real log has as many rows as MANIFEST.tsv says, whose counts were made by other programs. Spark's logs have tests of
// their own.
func TestCorpusCounts(t *testing.T) {
	manifest := ingesttest.Corpus(t, "MANIFEST.tsv")[0]
	f, err := os.Open(manifest)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range lines[0] {
		at[name] = i
	}
	checked := 0
	for _, line := range lines[1:] {
		name := line[at["file"]]
		if strings.HasPrefix(name, "spark/") || strings.HasPrefix(name, "labelled/") || strings.HasPrefix(name, "ml/") || line[at["jobs"]] == "" {
			continue
		}
		checked++
		t.Run(name, func(t *testing.T) {
			got := counted(t, filepath.Join(filepath.Dir(manifest), name))
			for _, column := range []string{"jobs", "attempts"} {
				if want, err := strconv.Atoi(line[at[column]]); err == nil && got[column] != want {
					t.Errorf("%d %s, MANIFEST.tsv says %d", got[column], column, want)
				}
			}
			// The manifest also counts tasks that never ran, and machines that only hold data.
			if want, err := strconv.Atoi(line[at["tasks"]]); err == nil && (got["ran"] > want || got["planned"] < want) {
				t.Errorf("%d tasks ran and %d were planned, MANIFEST.tsv says %d", got["ran"], got["planned"], want)
			}
			if want, err := strconv.Atoi(line[at["machines"]]); err == nil && (got["machines"] > want || got["machines"] == 0) {
				t.Errorf("%d machines, MANIFEST.tsv says %d", got["machines"], want)
			}
		})
	}
	if checked < 20 {
		t.Errorf("only %d logs were counted", checked)
	}
}

// counted returns the numbers of jobs, tasks that ran, planned tasks, attempts, and machines in a log.
func counted(t *testing.T, path string) map[string]int {
	found, err := discover.Find(t.Context(), All(), []string{path}, discover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	if len(found.Inputs) != 1 {
		t.Fatalf("%d inputs, skipped %+v", len(found.Inputs), found.Skipped)
	}
	r := ingesttest.Read(t, found.Inputs[0].Format, found.Inputs[0].Input, ingest.Limits{})
	tasks, machines := map[string]bool{}, map[string]bool{}
	for _, a := range r.Attempts {
		tasks[fmt.Sprint(a.PhaseID, " ", a.Task)] = true
		if a.Machine.OK {
			machines[a.Machine.V] = true
		}
	}
	planned := 0
	for _, p := range r.Phases {
		planned += int(p.TaskCount.V)
	}
	if len(machines) == 0 {
		for _, m := range r.Machines {
			machines[m.Machine] = true
		}
	}
	return map[string]int{"jobs": len(r.Jobs), "ran": len(tasks), "planned": planned, "attempts": len(r.Attempts), "machines": len(machines)}
}

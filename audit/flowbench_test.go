package audit

import (
	"archive/tar"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"straggler/audit/baseline"
	"straggler/audit/measure"
	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest/formats"
	"straggler/ingest/run"
	"straggler/stats"
	"straggler/store"
)

// Runs of workflows disturbed and labelled by others (FlowBench; see the README beside them): the first 30 normal runs are
// learned, and each other run is a night. Normal nights raise no alarm. Nights with more than a tenth of their tasks slowed
// raise one, with the kind of fault, and name a bad worker first among the machines.
//
// Uses a sample of one workflow; STRAGGLER_FLOWBENCH=all uses every night of both, which takes up to half an hour of
// processor time.
func TestFlowBench(t *testing.T) {
	t.Parallel()
	workflows, every := []string{"eht_imaging"}, 8
	if os.Getenv("STRAGGLER_FLOWBENCH") == "all" {
		workflows, every = []string{"eht_imaging", "1000-genome"}, 1
	}
	for _, w := range workflows {
		flowBench(t, workflow(t, w), every)
	}
}

// workflow unpacks a workflow of the corpus and returns its directory.
func workflow(t *testing.T, name string) string {
	t.Helper()
	packed, err := os.Open(filepath.Join(cmp.Or(os.Getenv("STRAGGLER_CORPUS"), "../../shared/corpus"), "flowbench", name+".tar.zst"))
	if errors.Is(err, os.ErrNotExist) && !strings.Contains(os.Getenv("STRAGGLER_REQUIRE"), "corpus") {
		t.Skip("no corpus: set STRAGGLER_CORPUS")
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	err = unpack(packed, dir)
	if err = errors.Join(err, packed.Close()); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// flowBench audits every k-th night of a workflow after its first 30 normal ones.
func flowBench(t *testing.T, dir string, every int) {
	truth, normal, disturbed := flowTruth(t, dir)
	b, cfg := &baseline.Baseline{}, DefaultConfig()
	audited := func(name string) (*Night, measure.Run) {
		r := measuredNight(t, filepath.Join(dir, "night", name))
		return assessed(assess([]measure.Run{r}, b, cfg, Options{})), r
	}
	for _, name := range normal[:30] {
		n, _ := audited(name)
		n.Update(b, cfg)
	}
	medians := map[measure.Signature][]float64{}
	for _, r := range b.Runs {
		for i := range r.Stages {
			medians[r.Stages[i].Signature] = append(medians[r.Stages[i].Signature], r.Stages[i].Values["median_s"])
		}
	}
	judged, alarms := 0, 0
	for i, name := range normal[30:] {
		if i%min(every, 4) == 0 {
			n, _ := audited(name)
			judged++
			if n.Failing > 0 {
				alarms++
				t.Logf("alarm on normal night %s: %s", name, n.Findings()[0].Subject())
			}
		}
	}
	t.Logf("%s: alarms on %d of %d normal nights", filepath.Base(dir), alarms, judged)
	if alarms*50 > max(judged, 50) {
		t.Errorf("%s: alarms on %d of %d normal nights", filepath.Base(dir), alarms, judged)
	}
	slowed, found, kinds, few, first := 0, 0, 0, 0, 0
	for i, name := range disturbed {
		if i%every != 0 {
			continue
		}
		n, r := audited(name)
		if !isSlowed(&r, medians) {
			continue
		}
		slowed++
		if n.Failing == 0 {
			continue
		}
		found++
		kind, machine := "", ""
		for _, f := range n.Findings() {
			kind, machine = cmp.Or(kind, f.Kind), cmp.Or(machine, f.Machine)
		}
		if processor := strings.HasPrefix(truth[name].experiment, "cpu"); kind != "" && processor == (kind == "processor") {
			kinds++
		}
		if bad := truth[name].bad; len(bad) <= 5 {
			few++
			if slices.Contains(bad, machine) {
				first++
			}
		}
	}
	t.Logf("%s: of %d nights with more than a tenth of the tasks slowed, %d raise an alarm, %d with the right kind; a bad worker is first on %d of %d with at most five", filepath.Base(dir), slowed, found, kinds, first, few)
	const enough = 30 // nights needed to distinguish 60 % from 40 %
	if found*100 < 98*slowed || kinds*100 < 80*found || few >= enough && first*100 < 60*few {
		t.Errorf("less than 98 %% found, 80 %% of the right kind, or 60 %% with a bad worker first")
	}
}

// isSlowed reports whether more than a tenth of the tasks took longer than 1.5 × the median of the learned nights.
func isSlowed(r *measure.Run, medians map[measure.Signature][]float64) bool {
	slow, tasks := 0.0, 0.0
	for _, s := range r.Stages {
		tasks += s.Values["tasks"]
		if s.Kind == "compute" {
			slow += s.Values["tasks"] * above(s.Sketch, 1.5*stats.Median(slices.Clone(medians[s.Signature])))
		}
	}
	return slow > 0.1*tasks
}

type flowRun struct {
	experiment string
	bad        []string
}

// flowTruth returns the fault of each run, and the normal and the disturbed runs in order of time.
func flowTruth(t *testing.T, dir string) (truth map[string]flowRun, normal, disturbed []string) {
	t.Helper()
	column := func(name string) (rows [][]string, at func(string) int) {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if rows, err = csv.NewReader(f).ReadAll(); err != nil {
			t.Fatal(err)
		}
		head := rows[0]
		return rows[1:], func(c string) int { return slices.Index(head, c) }
	}
	start := map[string]string{}
	rows, at := column(filepath.Join("run", "applications.csv"))
	for _, r := range rows {
		start[r[at("application_id")]] = r[at("start_time")]
	}
	truth = map[string]flowRun{}
	rows, at = column("truth.csv")
	for _, r := range rows {
		truth[r[at("run")]] = flowRun{r[at("experiment")], strings.Fields(r[at("bad_hosts")])}
	}
	for _, name := range sortedKeys(truth) {
		if truth[name].experiment == "normal" {
			normal = append(normal, name)
		} else {
			disturbed = append(disturbed, name)
		}
	}
	byTime := func(a, b string) int { return cmp.Compare(start[a], start[b]) }
	slices.SortStableFunc(normal, byTime)
	slices.SortStableFunc(disturbed, byTime)
	return truth, normal, disturbed
}

func measuredNight(t *testing.T, dir string) measure.Run {
	t.Helper()
	eng, done := analysed(t, dir, 1)
	defer done()
	runs, err := measure.Runs(t.Context(), eng, measure.Grouping{})
	if err != nil || len(runs) != 1 {
		t.Fatalf("%s: %d runs, %v", dir, len(runs), err)
	}
	if err := measure.Tasks(t.Context(), eng, &runs[0]); err != nil {
		t.Fatal(err)
	}
	return runs[0]
}

func unpack(packed io.Reader, dir string) error {
	z, err := zstd.NewReader(packed)
	if err != nil {
		return err
	}
	defer z.Close()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) {
			continue
		}
		name := filepath.Join(dir, h.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}

// analysed opens a store of the runs in a directory, with their outliers and causes, until done is called; 0 threads means
// one per processor.
func analysed(t *testing.T, dir string, threads int) (eng engine.Engine, done func()) {
	t.Helper()
	ctx := context.Background()
	st, err := store.Temp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Run(ctx, st, formats.All(), []string{dir}, run.Options{From: "canonical"}); err != nil {
		t.Fatal(err)
	}
	if eng, err = engines.Open(ctx, st, engine.Options{Threads: threads}); err != nil {
		t.Fatal(err)
	}
	if _, err = detect.Run(ctx, st, eng, detect.Options{Tool: "test"}); err == nil {
		_, err = causes.Run(ctx, st, eng, causes.Options{Tool: "test"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return eng, func() { eng.Close(); st.Close() }
}

package causes

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest"
	ingestrun "straggler/ingest/run"
	"straggler/ingest/spark"
	"straggler/schema"
	"straggler/store"
)

// TestLabelled scores the attribution on logs with known causes. STRAGGLER_LABELLED names a directory of runs, each a Spark
// event log with a truth.json; without it the runs in the repository are scored, and must reach the goals.
func TestLabelled(t *testing.T) {
	dir, goals := os.Getenv("STRAGGLER_LABELLED"), false
	if dir == "" {
		dir, goals = "../testdata/labelled", true
	}
	runs := labelledRuns(t, dir)
	total, hard := newScores(), newScores()
	for _, r := range runs {
		own := newScores()
		for _, s := range []*scores{own, total} {
			s.score(r)
		}
		if strings.HasPrefix(r.name, "hard-") {
			hard.score(r)
		}
		t.Logf("%s (%s)\n%s", r.name, r.truth.Scenario, own)
	}
	if len(hard.runs) > 0 {
		t.Logf("the hard runs\n%s", hard)
	}
	t.Logf("all runs\n%s%s", total, total.calibration())
	if !goals {
		return
	}
	if f := total.by["causes"].macroF1(); f < 0.98 {
		t.Errorf("macro-F1 is %.3f, under 0.98", f)
	}
	if f := hard.by["causes"].macroF1(); f < 0.95 {
		t.Errorf("macro-F1 of the hard runs is %.3f, under 0.95", f)
	}
	if a := total.by["causes"]; a.accusedShare() >= 0.005 {
		t.Errorf("%d of %d clean tasks are accused", a.accused, a.clean)
	}
	for _, r := range runs {
		if strings.HasPrefix(r.name, "clean") && len(r.named) > 0 {
			t.Errorf("%s: bad machines are named: %v", r.name, r.named)
		}
	}
}

const observedSQL = `SELECT a.attempt_id, p.native_id AS stage, p.attempt AS again, a.task, a.number, a.machine, a.duration_s,
  coalesce(CAST(a.input_bytes AS DOUBLE), 0e0) AS input_bytes, coalesce(CAST(a.remote_bytes AS DOUBLE), 0e0) AS remote_bytes,
  coalesce(a.fetch_wait_s, 0e0) AS fetch_wait_s, coalesce(a.gc_s, 0e0) AS gc_s,
  t.cause, t.confidence, o.excess_s, s.seconds
FROM attempts a
  JOIN phases p ON p.phase_id = a.phase_id
  LEFT JOIN (SELECT attempt_id, cause, confidence FROM attributions WHERE rank = 1) AS t ON t.attempt_id = a.attempt_id
  LEFT JOIN (SELECT attempt_id, coalesce(max(CASE WHEN rule = 'recompute' THEN excess_s END), max(excess_s)) AS excess_s
             FROM outliers WHERE rule IN ('high_runtime', 'recompute') GROUP BY attempt_id) AS o ON o.attempt_id = a.attempt_id
  LEFT JOIN (SELECT attempt_id, sum(seconds) AS seconds FROM attributions GROUP BY attempt_id) AS s ON s.attempt_id = a.attempt_id
WHERE a.status = 'success' ORDER BY a.attempt_id NULLS LAST`

// labelledRuns reads, detects and attributes every run under a directory.
func labelledRuns(t *testing.T, dir string) (runs []*labelled) {
	t.Helper()
	for _, path := range truths(t, dir) {
		r := &labelled{name: filepath.Base(filepath.Dir(path))}
		readTruth(t, path, &r.truth)
		err := attributeLogs(t.Context(), filepath.Dir(path), func(eng engine.Engine) error { return r.read(t.Context(), eng) })
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		r.label()
		r.check(t)
		runs = append(runs, r)
	}
	return runs
}

// truths lists the truth.json of each run under a directory.
func truths(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*", "truth.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has no runs: directories with a truth.json (%v)", dir, err)
	}
	return paths
}

func readTruth(t *testing.T, path string, to any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// logs lists the logs beside the truth.
func logs(dir string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir || d.Name() == "truth.json" {
			return err
		}
		paths = append(paths, path)
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return paths, err
}

// attributeLogs takes the logs beside a truth from ingest to verdicts, and passes the store to read.
func attributeLogs(ctx context.Context, dir string, read func(engine.Engine) error) error {
	st, err := store.Temp(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	paths, err := logs(dir)
	if err != nil {
		return err
	}
	if _, err := ingestrun.Run(ctx, st, []ingest.Format{spark.Format()}, paths, ingestrun.Options{}); err != nil {
		return err
	}
	eng, err := engines.Open(ctx, st, engine.Options{})
	if err != nil {
		return err
	}
	defer eng.Close()
	if _, err := detect.Run(ctx, st, eng, detect.Options{}); err != nil {
		return err
	}
	if _, err := Run(ctx, st, eng, Options{}); err != nil {
		return err
	}
	return read(eng)
}

// read reads the attempts of a run and the machines that are named.
func (r *labelled) read(ctx context.Context, eng engine.Engine) (err error) {
	for a, err := range engine.Read[observed](ctx, eng, observedSQL) {
		if err != nil {
			return err
		}
		r.tasks = append(r.tasks, *a)
	}
	r.named, err = namedIn(ctx, eng)
	return err
}

// namedIn returns the machines of a store that are called slow or flaky.
func namedIn(ctx context.Context, eng engine.Engine) (names []string, err error) {
	type machine struct {
		Name string `col:"machine"`
	}
	for m, err := range engine.Read[machine](ctx, eng, "SELECT DISTINCT machine FROM machine_health WHERE verdict IN ('slow', 'flaky') ORDER BY machine NULLS LAST") {
		if err != nil {
			return nil, err
		}
		names = append(names, m.Name)
	}
	return names, nil
}

// label keeps the attempts of planned stages and adds their labels and ratios.
func (r *labelled) label() {
	planned := map[string]bool{}
	for _, j := range r.truth.Jobs {
		for _, s := range j.Stages {
			planned[fmt.Sprint(s.ID)] = j.Name != "warm-up" && j.Name != "processes"
		}
	}
	by := map[string][]float64{}
	kept := r.tasks[:0]
	for _, a := range r.tasks {
		if planned[a.Stage] {
			kept = append(kept, a)
			by[a.Stage] = append(by[a.Stage], a.Duration)
		}
	}
	r.tasks = kept
	for _, d := range by {
		sort.Float64s(d)
	}
	for i := range r.tasks {
		a := &r.tasks[i]
		median := middle(by[a.Stage])
		a.ratio, a.excess = a.Duration/median, a.Duration-median
		for _, l := range r.truth.Labels {
			if l.fits(a) {
				a.labels = append(a.labels, l)
			}
			a.beside = a.beside || l.Cause == schema.GC && fmt.Sprint(l.StageID) == a.Stage && l.Host != nil && *l.Host != a.Machine
		}
	}
}

// check checks what holds for every run, whatever its faults: each outlier is attributed, and its seconds sum to its excess.
func (r *labelled) check(t *testing.T) {
	t.Helper()
	for i := range r.tasks {
		a := &r.tasks[i]
		if a.Excess.OK != a.Cause.OK {
			t.Errorf("%s: attempt %d: outlier %v, attributed %v", r.name, a.Attempt, a.Excess.OK, a.Cause.OK)
		}
		if d := a.Excess.V - a.Seconds.V; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: attempt %d: the seconds of its causes are %g, its excess is %g", r.name, a.Attempt, a.Seconds.V, a.Excess.V)
		}
	}
}

package whatif

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest/formats"
	"straggler/ingest/run"
	"straggler/store"
	"straggler/whatif/policy"
	"straggler/whatif/workload"
)

// corpus returns the directory of real logs outside of the repository.
func corpus(t *testing.T) string {
	dir := os.Getenv("STRAGGLER_CORPUS")
	if dir == "" {
		dir = "../../shared/corpus"
	}
	if _, err := os.Stat(dir); err != nil {
		if strings.Contains(os.Getenv("STRAGGLER_REQUIRE"), "corpus") {
			t.Fatalf("no corpus: %v", err)
		}
		t.Skipf("no corpus: %v; set STRAGGLER_CORPUS", err)
	}
	return dir
}

// Policy none repeats every job of every real log whose completion time the log says, and every policy of the table
// comes to an end on it. The replay error is what the program prints beside every saving; here it may be half a percent.
func TestRealLogs(t *testing.T) {
	dir := corpus(t)
	folders, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	jobs := 0
	for _, f := range folders {
		if !f.IsDir() {
			continue
		}
		w := workload.Build(loadLogs(t, filepath.Join(dir, f.Name())))
		c := newComparison(w, Options{Policies: everyPolicy(t), Seeds: 1, Errors: []float64{0.1}})
		r := newResults(c)
		err := c.replayNone(t.Context())
		if err == nil {
			err = r.add(t.Context(), c, nil)
		}
		if err == nil {
			_, err = r.summary(&survey{}, nil)
		}
		s := &r.s
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
			continue
		}
		worst, worstJob := 0.0, 0
		for i, p := range w.Pools {
			for j := range p.NumJobs() {
				o := p.Observed(j)
				if o <= 0 {
					continue
				}
				jobs++
				if e := math.Abs(float64(c.none[c.first[i]+j].Took-o)) / float64(o); e > worst {
					worst, worstJob = e, c.first[i]+j
				}
			}
		}
		t.Logf("%-22s %5d jobs %6d attempts %4d pools: replay error %.2g %% over all, worst job %.2g %% (%d)  %+v", f.Name(),
			s.Jobs, s.Attempts, len(w.Pools), 100*s.ReplayError, 100*worst, worstJob, s.Notes)
		if s.ReplayError > 0.005 {
			t.Errorf("%s: policy none misses the log by %.2g %%", f.Name(), 100*s.ReplayError)
		}
	}
	if jobs == 0 {
		t.Error("the corpus has no jobs")
	}
}

func everyPolicy(t *testing.T) []policy.Policy {
	var out []policy.Policy
	for _, s := range policy.Specs() {
		out = append(out, mustPolicy(t, s.Name))
	}
	return out
}

// loadLogs reads logs as a replay takes them. What could not be read of them is left out.
func loadLogs(t *testing.T, paths ...string) *workload.Rows {
	t.Helper()
	ctx := context.Background()
	st, err := store.Temp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, err := run.Run(ctx, st, formats.All(), paths, run.Options{}); err != nil {
		t.Logf("%s: %v", filepath.Base(paths[0]), err)
	}
	eng, err := engines.Open(ctx, st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	r, err := Load(ctx, eng)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

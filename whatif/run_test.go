package whatif

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/ingest/formats"
	"straggler/ingest/run"
	"straggler/schema"
	"straggler/selection"
	"straggler/store"
	"straggler/whatif/policy"
	"straggler/whatif/workload"
)

// labelled returns a real log of the repository.
func labelled(t testing.TB, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../testdata/labelled", name, "app-*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no log %s in testdata/labelled", name)
	}
	return files[0]
}

func storeOf(t testing.TB, paths ...string) (*store.Store, engine.Engine) {
	t.Helper()
	ctx := context.Background()
	st, err := store.Temp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	if _, err := run.Run(ctx, st, formats.All(), paths, run.Options{}); err != nil {
		t.Fatal(err)
	}
	eng, err := engines.Open(ctx, st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	return st, eng
}

// Run writes what it says: rows for every policy, seed and job, and savings that are the means of their differences.
func TestRun(t *testing.T) {
	st, eng := storeOf(t, labelled(t, "transient"))
	var ps []policy.Policy
	for _, name := range []string{"late", "spark", "noskew"} {
		p, err := policy.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
	ctx := context.Background()
	s, err := Run(ctx, st, eng, Options{Policies: ps, Seeds: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Results) != 4 { // late at two error levels
		t.Fatalf("%d results, want 4", len(s.Results))
	}
	if s.ReplayError > 1e-9 {
		t.Errorf("policy none misses the log by %g", s.ReplayError)
	}
	runs := enginetest.ReadAll[schema.WhatifRun](t, eng, "SELECT * FROM whatif_runs ORDER BY run_id NULLS LAST, job_id NULLS LAST")
	savings := enginetest.ReadAll[schema.WhatifSaving](t, eng, "SELECT * FROM whatif_savings WHERE job_id IS NULL ORDER BY policy NULLS LAST")
	if want := s.Jobs * (1 + 5); len(runs) < want {
		t.Errorf("%d rows of whatif_runs, want at least %d", len(runs), want)
	}
	for _, row := range savings {
		sum, seeds := 0.0, map[int64]bool{}
		for _, r := range runs {
			if r.Policy == row.Policy && r.Parameters == row.Parameters {
				sum += r.ReplayS.V - r.PredictedS.V
				seeds[r.Seed] = true
			}
		}
		if mean := sum / float64(len(seeds)); mean-row.SavingS.V > 1e-6 || row.SavingS.V-mean > 1e-6 {
			t.Errorf("%s: saving %g s, the runs say %g", row.Policy, row.SavingS.V, mean)
		}
		if row.SavingLow.V > row.SavingS.V || row.SavingHigh.V < row.SavingS.V {
			t.Errorf("%s: the saving %g is outside its interval %g … %g", row.Policy, row.SavingS.V, row.SavingLow.V, row.SavingHigh.V)
		}
		if same := row.ThisRunHigh.V - row.ThisRunLow.V; !row.ThisRunLow.OK || same < 0 || same > row.SavingHigh.V-row.SavingLow.V {
			t.Errorf("%s: in this run %v … %v, in another %v … %v", row.Policy, row.ThisRunLow, row.ThisRunHigh, row.SavingLow, row.SavingHigh)
		}
	}
}

// The same store and options give the same rows, whatever the number of workers.
func TestRunDeterministic(t *testing.T) {
	_, eng := storeOf(t, labelled(t, "mixed"))
	var before []string
	for _, workers := range []int{1, 3} {
		s, err := replayed(context.Background(), eng, Options{Seeds: 4, Workers: workers}, false, batchAttempts, nil)
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for i := range s.Results {
			rows = append(rows, encode(assume(&s.Results[i], &s)))
		}
		for i := range before {
			if before[i] != rows[i] {
				t.Errorf("%s: with 1 worker %s, with %d %s", s.Results[i].Name, before[i], workers, rows[i])
			}
		}
		before = rows
	}
	if len(before) == 0 {
		t.Error("no results")
	}
}

// Pools that are replayed one after the other, with the attempts of one in memory, give what all give at once: the model of
// machines and work is of all of them either way.
func TestRunInBatches(t *testing.T) {
	_, eng := storeOf(t, labelled(t, "mixed"), labelled(t, "clean"), labelled(t, "transient"), labelled(t, "recompute"))
	o := Options{Seeds: 3, Policies: []policy.Policy{mustPolicy(t, "spark"), mustPolicy(t, "mantri"), mustPolicy(t, "noskew"),
		mustPolicy(t, "protect")}, Optimize: true}
	var whole []Result
	for _, most := range []int64{batchAttempts, 1} {
		s, err := replayed(t.Context(), eng, o, false, most, nil)
		if err != nil {
			t.Fatal(err)
		}
		if most > 1 {
			if whole = s.Results; len(whole) != 6 || whole[5].Changed() == "" {
				t.Fatalf("%d results, want mantri twice, and settings of Spark that are better than its own", len(whole))
			}
			if r := whole[4]; r.Name != "protect" || r.All.Saving.Mean == 0 {
				t.Errorf("%s saves %v, want protection of the outputs that were lost", r.Name, r.All.Saving)
			}
			continue
		}
		if len(s.Results) != len(whole) {
			t.Fatalf("%d results in batches, %d at once", len(s.Results), len(whole))
		}
		for i, r := range s.Results {
			w := whole[i]
			if r.Parameters() != w.Parameters() || r.Best != w.Best || r.All.Copies != w.All.Copies || r.All.Jobs != w.All.Jobs ||
				!alike(r.All.Saving, w.All.Saving) || !alike(r.Small.Saving, w.Small.Saving) || r.All.After != w.All.After {
				t.Errorf("%s: in batches %+v, at once %+v", r.Name, r.All, w.All)
			}
		}
	}
}

// A pool that does not fit in memory is refused before its attempts are read.
func TestRunInMemory(t *testing.T) {
	_, eng := storeOf(t, labelled(t, "clean"))
	l, err := newLoader(t.Context(), eng, selection.Applications{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		may  int64
		fits bool
	}{{0, true}, {l.total * attemptBytes, true}, {l.total*attemptBytes - 1, false}} {
		l.may = c.may
		seen := 0
		l.divide(1)
		err := l.observe(t.Context(), func(w *workload.Workload) { seen += w.Notes.Attempts })
		if fits := err == nil; fits != c.fits || !fits && (!errors.Is(err, ErrMemory) || seen > 0) {
			t.Errorf("%d attempts and %d bytes: %v, %d attempts read", l.total, c.may, err, seen)
		}
	}
}

// alike is equal but for the order of sums.
func alike(a, b Interval) bool {
	near := func(x, y float64) bool { return x == y || math.Abs(x-y) <= 1e-6*math.Max(math.Abs(x), math.Abs(y)) }
	return near(a.Mean, b.Mean) && near(a.Low, b.Low) && near(a.High, b.High)
}

// A replay that is cancelled stops and writes nothing.
func TestRunCancelled(t *testing.T) {
	st, eng := storeOf(t, labelled(t, "clean"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, st, eng, Options{}); err == nil {
		t.Error("no error from a cancelled run")
	}
	if c, err := st.Result(t.Context(), store.Whatif); err != nil || c != nil {
		t.Errorf("a cancelled run left the commit %v (error %v)", c, err)
	}
	if entries, _ := os.ReadDir(filepath.Join(st.Where(), "staging")); len(entries) > 0 {
		t.Errorf("a cancelled run left %d entries in staging", len(entries))
	}
}

// After causes, machines have the factors that it found, and the ideals of single causes can be replayed; before, asking
// for one is an error of its kind.
func TestRunWithCauses(t *testing.T) {
	ctx := context.Background()
	st, eng := storeOf(t, labelled(t, "bad-machine"))
	bad := mustPolicy(t, "no-bad-machine")
	if _, err := Run(ctx, st, eng, Options{Policies: []policy.Policy{bad}}); !errors.Is(err, ErrNoCauses) {
		t.Fatalf("without causes: %v", err)
	}
	if _, err := detect.Run(ctx, st, eng, detect.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := causes.Run(ctx, st, eng, causes.Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := Run(ctx, st, eng, Options{Seeds: 2})
	if err != nil {
		t.Fatal(err)
	}
	saved := map[string]float64{}
	for _, r := range s.Results {
		saved[r.Name] = r.All.Saving.Mean
	}
	if len(saved) < 16 || saved["no-bad-machine"] <= saved["no-network"] || saved["no-bad-machine"] <= 0 {
		t.Errorf("a log with a bad machine: savings %v", saved)
	}
	if s.Notes.MachinesSlow != 1 {
		t.Errorf("%d machines are slow", s.Notes.MachinesSlow)
	}
}

// blind is an engine that does not read attempts.
type blind struct{ engine.Engine }

var errBlind = errors.New("attempts are read")

func (b blind) Query(ctx context.Context, sql string) (*engine.Rows, error) {
	if strings.Contains(sql, "FROM attempts") {
		return nil, errBlind
	}
	return b.Engine.Query(ctx, sql)
}

// The picture of the job that gains most is the same from the pools that were replayed as from a store that is read again, and
// those are let go once they were used.
func TestMostGained(t *testing.T) {
	st, eng := storeOf(t, labelled(t, "transient"), labelled(t, "bad-machine"))
	s, err := Run(t.Context(), st, eng, Options{Policies: []policy.Policy{known("mantri"), known("late")}, Seeds: 3})
	if err != nil {
		t.Fatal(err)
	}
	want, err := MostGained(t.Context(), eng, nil)
	if err != nil || want == nil {
		t.Fatalf("%v, %v", want, err)
	}
	got, err := MostGained(t.Context(), blind{eng}, &s)
	if err != nil || fmt.Sprint(got.Job, got.Variant.Parameters(), got.Before, got.After) !=
		fmt.Sprint(want.Job, want.Variant.Parameters(), want.Before, want.After) {
		t.Errorf("%+v of the pools that were replayed, %+v of the store: %v", got, want, err)
	}
	if _, err := MostGained(t.Context(), blind{eng}, &s); !errors.Is(err, errBlind) {
		t.Errorf("a second time: %v", err)
	}
}

package whatif

import (
	"context"
	"strings"
	"testing"

	"straggler/schema"
	"straggler/whatif/policy"
	"straggler/whatif/workload"
)

// Optimize never advises what saves less than Spark's defaults do, and gives lines that Spark reads.
func TestOptimize(t *testing.T) {
	w := workload.Build(loadRun(t, "../testdata/labelled/mixed"))
	a, err := optimizeOf(context.Background(), w, Options{Seeds: 6})
	if err != nil {
		t.Fatal(err)
	}
	defaults, err := Compare(context.Background(), w, Options{Seeds: 6, Policies: []policy.Policy{mustPolicy(t, "spark")}})
	if err != nil {
		t.Fatal(err)
	}
	if got, least := a.Result.All.Saving.Mean, defaults.Results[0].All.Saving.Low; got < least {
		t.Errorf("the best settings save %g s, the defaults at least %g s", got, least)
	}
	if a.Verdict != schema.Saves || a.Lines[0] != "spark.speculation true" || len(a.Lines) < 2 {
		t.Errorf("advice %q", a.Lines)
	}
	for _, line := range a.Lines {
		if !strings.HasPrefix(line, "spark.speculation") || len(strings.Fields(line)) != 2 {
			t.Errorf("line %q", line)
		}
	}
	t.Logf("%q: saves %.1f s of %.1f s a job, slot time %+.1f %%, %d settings tried", a.Lines, a.Result.All.Saving.Mean,
		a.Result.All.Before.Mean, 100*a.Result.All.SlotChange, a.Tried)

	// A clean run has nothing to save.
	if a, err = optimizeOf(context.Background(), workload.Build(loadRun(t, "../testdata/labelled/clean")), Options{Seeds: 6}); err != nil {
		t.Fatal(err)
	}
	if a.Verdict == schema.Saves || len(a.Lines) > 1 || len(a.Lines) == 1 && a.Lines[0] != "spark.speculation false" {
		t.Errorf("a clean run: %s, %q, saves %+v", a.Verdict, a.Lines, a.Result.All.Saving)
	}

	// Of a log that lacks the ends of most attempts nothing can be told.
	w.Notes.Unended = w.Notes.Attempts/2 + 1
	if a, err = optimizeOf(context.Background(), w, Options{Seeds: 6}); err != nil {
		t.Fatal(err)
	}
	if a.Verdict != schema.CannotTell || a.Lines != nil {
		t.Errorf("without most ends: %s, %q", a.Verdict, a.Lines)
	}

	// Where the replay misses the log by more than is saved, nothing can be told, and nothing is advised.
	if v := verdict(Interval{5, 4, 6}, 7, 3); v != schema.CannotTell {
		t.Errorf("a saving of 5 s and a replay that is 7 s off: %s", v)
	}
	if l := lines(&Advice{Verdict: schema.CannotTell}); l != nil {
		t.Errorf("advice %q where nothing can be told", l)
	}
}

func mustPolicy(t *testing.T, name string) policy.Policy {
	t.Helper()
	p, err := policy.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A timeline shows the whole job: before, every attempt of the log; after, copies and kills as well.
func TestTimeline(t *testing.T) {
	w := workload.Build(loadRun(t, "../testdata/labelled/transient"))
	s, err := Compare(context.Background(), w, Options{Seeds: 3, Policies: []policy.Policy{mustPolicy(t, "spark")}})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Results[0]
	before, after, err := timeline(context.Background(), w, r.Variant, r.Best, 1)
	if err != nil {
		t.Fatal(err)
	}
	copies, kills, last := 0, 0, [2]float64{}
	for n, bars := range [][]Bar{before, after} {
		for _, b := range bars {
			if b.StartS < 0 || b.EndS < b.StartS {
				t.Errorf("bar %+v", b)
			}
			last[n] = max(last[n], b.EndS)
			copies += one(b.Copy)
			kills += one(b.Killed)
		}
	}
	if len(before) == 0 || copies == 0 || kills == 0 || last[1] >= last[0] {
		t.Errorf("%d bars before, %d after with %d copies and %d kills; ends at %g s, before %g s", len(before), len(after), copies, kills, last[1], last[0])
	}
	if _, _, err := timeline(context.Background(), w, r.Variant, 1, 1); err == nil {
		t.Error("a timeline of a job that is not there")
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// optimizeOf is Optimize over a workload in memory.
func optimizeOf(ctx context.Context, w *workload.Workload, o Options) (Advice, error) {
	f := newSurvey(&o)
	f.add(w)
	return optimum(ctx, f, only(w), o)
}

package whatif

import (
	"context"
	"slices"
	"strings"
	"testing"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
)

func TestSweep(t *testing.T) {
	ps, err := Sweep("late.cap=0.05:0.5:0.05")
	if err != nil {
		t.Fatal(err)
	}
	var caps []string
	for _, p := range ps {
		v, _ := p.Option("cap")
		caps = append(caps, v)
	}
	if want := []string{"0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4", "0.45", "0.5"}; !slices.Equal(caps, want) {
		t.Errorf("late.cap=0.05:0.5:0.05 gives %v, want %v", caps, want)
	}
	if ps, err = Sweep("dolly.admission=admission,fcfs"); err != nil || len(ps) != 2 {
		t.Errorf("a sweep of words gives %d policies and the error %v", len(ps), err)
	}
	for _, bad := range []string{"", "late", "late.cap", "late.cap=", "late.cap=1:0:0.1", "late.cap=0:1:0", "late.cap=0:1", "late.cap=x",
		"late.nothing=1", "nobody.cap=1", "late.cap=0:1e9:0.001", "late.cap=NaN:1:1", "late.cap=0:Inf:1", "late.cap=-1", "none.x=1", "dolly.admission=no"} {
		if _, err := Sweep(bad); err == nil {
			t.Errorf("the sweep %q is accepted", bad)
		}
	}
}

func TestSet(t *testing.T) {
	ps, err := Set(Default(), "late.cap=0.2", "mantri.longest=false")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ps {
		if v, ok := p.Option("cap"); p.Name == "late" && (!ok || v != "0.2") {
			t.Errorf("late.cap is %s", v)
		}
	}
	late, err := policy.ByName("late")
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := late.Option("cap"); v != "0.1" {
		t.Errorf("the default of late.cap has become %s", v)
	}
	for _, bad := range []string{"spark3.quantile=0.5", "late.cap=two", "cap=1"} {
		if _, err := Set(Default(), bad); err == nil {
			t.Errorf("the setting %q is accepted", bad)
		}
	}
}

// Optimize never advises what saves less than Spark's defaults do, and gives lines that Spark reads.
func TestOptimize(t *testing.T) {
	w := replay.Build(loadLog(t, "../testdata/labelled/mixed"))
	a, err := Optimize(context.Background(), w, Options{Seeds: 6})
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
	if !a.Clear || a.Lines[0] != "spark.speculation true" || len(a.Lines) < 2 {
		t.Errorf("advice %q", a.Lines)
	}
	for _, line := range a.Lines {
		if !strings.HasPrefix(line, "spark.speculation") || len(strings.Fields(line)) != 2 {
			t.Errorf("line %q", line)
		}
	}
	t.Logf("%q: saves %.1f s of %.1f s a job, slot time %+.1f %%, %d settings tried", a.Lines, a.Result.All.Saving.Mean, a.Result.All.Before.Mean, 100*a.Result.All.SlotChange, a.Tried)

	// A clean run has nothing to save.
	if a, err = Optimize(context.Background(), replay.Build(loadLog(t, "../testdata/labelled/clean")), Options{Seeds: 6}); err != nil {
		t.Fatal(err)
	}
	t.Logf("clean: %q, saves %+v", a.Lines, a.Result.All.Saving)
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
	w := replay.Build(loadLog(t, "../testdata/labelled/transient"))
	s, err := Compare(context.Background(), w, Options{Seeds: 3, Policies: []policy.Policy{mustPolicy(t, "spark")}})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Results[0]
	before, after, err := Timeline(context.Background(), w, r.Variant, r.Best, 1)
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
	if _, _, err := Timeline(context.Background(), w, r.Variant, 1, 1); err == nil {
		t.Error("a timeline of a job that is not there")
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

package whatif

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/selection"
	"straggler/store"
	"straggler/whatif/policy"
)

// A replay of some applications is that of a store of their logs alone, and leaves the tables as they are.
func TestApplications(t *testing.T) {
	st, eng := storeOf(t, labelled(t, "transient"), labelled(t, "mixed"), labelled(t, "gc"))
	one, alone := storeOf(t, labelled(t, "mixed"))
	id := enginetest.ReadAll[struct {
		NativeID string `col:"native_id"`
	}](t, alone, "SELECT native_id FROM applications")[0].NativeID
	chosen, err := policy.Choose([]string{"late", "spark", "noskew", "choptail"}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Run(t.Context(), st, eng, Options{Policies: chosen, Seeds: 2})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Try(t.Context(), one, alone, Options{Policies: chosen, Seeds: 3})
	if err != nil {
		t.Fatal(err)
	}
	apps := selection.Applications{Named: id}
	got, err := Run(t.Context(), st, eng, Options{Policies: chosen, Seeds: 3, Applications: apps})
	if err != nil || said(&got) != said(&want) || got.Jobs == 0 || got.Jobs >= all.Jobs {
		t.Errorf("of one application of three: %v\n%s\nof a store of its log alone:\n%s", err, said(&got), said(&want))
	}
	if c, err := st.Result(t.Context(), store.Whatif); err != nil || c.Sequence != all.Commit.Sequence {
		t.Errorf("the tables are of commit %v: %v", c, err)
	}
	advice, err := Optimize(t.Context(), eng, Options{Seeds: 2, Applications: apps})
	if err != nil {
		t.Fatal(err)
	}
	if want, err := Optimize(t.Context(), alone, Options{Seeds: 2}); err != nil ||
		fmt.Sprint(advice.Lines, advice.Result.All) != fmt.Sprint(want.Lines, want.Result.All) {
		t.Errorf("the best settings of one application: %v %+v, of a store of its log alone: %v %+v, %v", advice.Lines,
			advice.Result.All, want.Lines, want.Result.All, err)
	}
	picture, err := got.MostGained(t.Context(), eng, apps)
	if err != nil {
		t.Fatal(err)
	}
	if alike, err := want.MostGained(t.Context(), alone, selection.Applications{}); err != nil || fmt.Sprint(picture) != fmt.Sprint(alike) {
		t.Errorf("pictures: %v, %v, %v", picture, alike, err)
	}
	if _, err := Run(t.Context(), st, eng, Options{Policies: chosen, Applications: selection.Applications{Named: "nobody"}}); !errors.Is(err, selection.ErrNone) {
		t.Errorf("of nobody: %v", err)
	}
}

// The ideals of causes can be replayed of applications whose causes are known, although those of others are not.
func TestApplicationsWithCauses(t *testing.T) {
	st, eng := storeOf(t, labelled(t, "bad-machine"), labelled(t, "gc"))
	first := enginetest.ReadAll[struct {
		NativeID string `col:"native_id"`
	}](t, eng, "SELECT native_id FROM applications ORDER BY start_time")
	apps, others := selection.Applications{Named: first[0].NativeID}, selection.Applications{Named: first[1].NativeID}
	if _, err := detect.Run(t.Context(), st, eng, detect.Options{Applications: apps}); err != nil {
		t.Fatal(err)
	}
	if _, err := causes.Run(t.Context(), st, eng, causes.Options{Applications: apps}); err != nil {
		t.Fatal(err)
	}
	o := Options{Policies: []policy.Policy{mustPolicy(t, "no-gc")}, Seeds: 2}
	for _, c := range []struct {
		apps  selection.Applications
		knows bool
	}{{selection.Applications{}, false}, {apps, true}, {others, false}} {
		o.Applications = c.apps
		if _, err := Try(t.Context(), st, eng, o); errors.Is(err, ErrNoCauses) == c.knows || c.knows && err != nil {
			t.Errorf("%v: %v", c.apps, err)
		}
	}
}

// Applications that share slots wait for one another: they are replayed together, and what is said of each adds up to what is
// said of all.
func TestApplicationsThatShare(t *testing.T) {
	const start = schema.Time(1_700_000_000_000_000)
	tr := &schema.Trace{Machines: []schema.Machine{{Machine: "m0", Slots: schema.Some(int64(2))}, {Machine: "m1", Slots: schema.Some(int64(2))}}}
	for a := schema.Key(1); a <= 3; a++ {
		tr.Applications = append(tr.Applications,
			schema.Application{ApplicationID: a, NativeID: fmt.Sprint("app", a), Framework: "spark", Status: schema.RunSucceeded,
				Complete: true, TimeOrigin: "epoch"})
		tr.Jobs = append(tr.Jobs, schema.Job{JobID: a, ApplicationID: a, NativeID: "0", SubmitTime: schema.Some(start),
			StartTime: schema.Some(start), FinishTime: schema.Some(start.Add(90)), Status: schema.RunSucceeded})
		tr.Phases = append(tr.Phases, schema.Phase{PhaseID: a, JobID: a, NativeID: "0", Kind: "map",
			SubmitTime: schema.Some(start), StartTime: schema.Some(start), Status: schema.RunSucceeded})
		for i := range int64(12) { // four slots are free for each application in turn
			took := 10.0
			if i == 9 {
				took = 10 + 15*float64(a)
			}
			begin := start.Add(30*float64(a-1) + 10*float64(i/4))
			tr.Attempts = append(tr.Attempts,
				schema.Attempt{AttemptID: 100*a + schema.Key(i), PhaseID: a, JobID: a, ApplicationID: a, Task: i, NativeID: "0",
					Machine:   schema.Some(fmt.Sprintf("m%d", i%2)),
					StartTime: schema.Some(begin), FinishTime: schema.Some(begin.Add(took)), DurationS: schema.Some(took), Status: schema.Success})
		}
	}
	st := enginetest.Store(t)
	enginetest.IngestTrace(t, st, tr)
	eng, err := engines.Open(t.Context(), st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	o := Options{Policies: []policy.Policy{mustPolicy(t, "choptail"), mustPolicy(t, "late")}, Errors: []float64{0}, Seeds: 3}
	all, err := Try(t.Context(), st, eng, o)
	if err != nil {
		t.Fatal(err)
	}
	jobs, saved := 0, make([]float64, len(all.Results))
	for a := 1; a <= 3; a++ {
		o.Applications = selection.Applications{Named: fmt.Sprint("app", a)}
		s, err := Try(t.Context(), st, eng, o)
		if err != nil {
			t.Fatal(err)
		}
		jobs += s.Jobs
		for i := range s.Results {
			saved[i] += s.Results[i].All.Saving.Mean
			if s.Results[i].All.Jobs != 1 {
				t.Errorf("application %d: %+v", a, s.Results[i].All)
			}
		}
	}
	for i := range all.Results {
		if want := all.Results[i].All.Saving.Mean; math.Abs(saved[i]-want) > 1e-9 || i == 0 && want == 0 {
			t.Errorf("%s: %g s of all, %g s of each added up", all.Results[i].Name, want, saved[i])
		}
	}
	if jobs != all.Jobs || jobs != 3 {
		t.Errorf("%d jobs of all, %d of each added up", all.Jobs, jobs)
	}
}

package causes

import (
	"fmt"
	"slices"
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/copies/copiestest"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/store"
)

// pair is two concurrent jobs of six phases each: in those of the first, tasks on machine m2 collect garbage occasionally.
type pair struct {
	apart bool // they are two applications
	// changes a task of the first job on m2; nil: those in the middle collect for 4 s
	collect func(t *fit.Task)
	on      []string // machines of the second
	// changes a task of the second job on a machine, given whether the process on m2 collects meanwhile
	spoil func(t *fit.Task, on string, in bool)
}

// trace makes them as one log.
func (p *pair) trace(input schema.Key, seed uint64) *schema.Trace {
	var tr schema.Trace
	applications, jobs := schema.NewKeys(input, "applications"), schema.NewKeys(input, "jobs")
	phases, attempts := schema.NewKeys(input, "phases"), schema.NewKeys(input, "attempts")
	application := applications.Next()
	tr.Applications = append(tr.Applications, schema.Application{ApplicationID: application, NativeID: "a", Name: schema.Some("pair"),
		Framework: "spark", Status: schema.RunSucceeded, TimeOrigin: "epoch"})
	run := func(name string, application schema.Key) func(q *fit.Phase, on []string) {
		job := jobs.Next()
		tr.Jobs = append(tr.Jobs, schema.Job{JobID: job, ApplicationID: application, NativeID: name, Status: schema.RunSucceeded})
		return func(q *fit.Phase, on []string) { addPhase(&tr, application, job, name, phases, attempts, q, on) }
	}
	first := run("first", application)
	if p.apart {
		application = applications.Next()
		tr.Applications = append(tr.Applications, schema.Application{ApplicationID: application, NativeID: "b",
			Name: schema.Some("pair"), Framework: "spark", Status: schema.RunSucceeded, TimeOrigin: "epoch"})
	}
	second := run("second", application)
	all := []string{"m0", "m1", "m2", "m3", "m4", "m5"}
	a, b := causestest.New(seed, len(all)), causestest.New(seed+1000, len(p.on))
	for range 6 {
		var from, to schema.Time
		q := a.Phase(180, 2, nil, func(t *fit.Task, body *float64) {
			t.Wait = 0.01
			switch {
			case t.Machine != 2:
			case p.collect != nil:
				p.collect(t)
			case t.Index >= 84 && t.Index < 108:
				if t.GC = 4; from == 0 {
					from = t.Start.V
				}
				to = t.Start.V.Add(*body + t.GC)
			}
		})
		first(q, all)
		b.Now = q.Tasks[0].Start.V
		second(b.Phase(180, 2, nil, func(t *fit.Task, body *float64) {
			t.Wait, t.Remote = 0.01, 20e6
			p.spoil(t, p.on[t.Machine], from != 0 && t.Start.V.Add(2) < to && t.Start.V.Add(*body) > from.Add(1))
		}), p.on)
		a.Now, b.Now = max(a.Now, b.Now), max(a.Now, b.Now)
	}
	return &tr
}

// addPhase adds a phase to a log, with names for its machines.
func addPhase(tr *schema.Trace, application, job schema.Key, name string, phases, attempts *schema.Keys, q *fit.Phase, on []string) {
	row := schema.Phase{PhaseID: phases.Next(), JobID: job, NativeID: fmt.Sprint(name, len(tr.Phases)), Name: schema.Some(name),
		Kind: "map", Status: schema.RunSucceeded,
		StartTime: q.Tasks[0].Start, FinishTime: q.Tasks[0].Start}
	for i := range q.Tasks {
		t := &q.Tasks[i]
		end := t.Start.V.Add(t.Duration)
		row.FinishTime.V = max(row.FinishTime.V, end)
		tr.Attempts = append(tr.Attempts, schema.Attempt{AttemptID: attempts.Next(), PhaseID: row.PhaseID, JobID: job, ApplicationID: application, Task: t.Index,
			NativeID: fmt.Sprint(len(tr.Attempts)), Machine: schema.Some(on[t.Machine]), StartTime: t.Start, FinishTime: schema.Some(end), DurationS: schema.Some(end.Sub(t.Start.V)),
			Status: schema.Success, InputBytes: schema.Some(int64(t.Bytes)), RemoteBytes: schema.Some(int64(t.Remote)), InputRecords: schema.Some(int64(t.Records)),
			GCS: schema.Some(t.GC), FetchWaitS: schema.Some(t.Wait), SchedulerDelayS: schema.Some(t.Delay), DeserializeS: schema.Some(t.Convert)})
	}
	tr.Phases = append(tr.Phases, row)
}

// waitsForTheFirst makes a quarter of the tasks of the second job wait while m2, on which none of them runs, collects in the
// first.
var waitsForTheFirst = pair{on: []string{"m0", "m1", "m3", "m4", "m5"}, spoil: func(t *fit.Task, _ string, in bool) {
	if in && t.Index%4 == 0 {
		t.Wait = 3
	}
}}

// Tasks of one job wait for a process that collects garbage while it runs tasks of another job, or are launched on it during
// a collection. If the other job belongs to another application, or its tasks collect all the time, that is not the cause.
func TestPauseOfAnotherPhase(t *testing.T) {
	all := []string{"m0", "m1", "m2", "m3", "m4", "m5"}
	for _, c := range []struct {
		name string
		pair
		want  schema.Cause
		place string
		least int
	}{
		{"it waits", waitsForTheFirst, schema.GC, "machine m2", 20},
		{"it waits, of another application", pair{apart: true, on: waitsForTheFirst.on, spoil: waitsForTheFirst.spoil}, schema.Network, "", 20},
		{"it waits at any time", pair{on: waitsForTheFirst.on, spoil: func(t *fit.Task, _ string, _ bool) {
			if t.Index%7 == 0 {
				t.Wait = 3
			}
		}}, schema.Network, "", 60},
		{"they collect all the time", pair{on: waitsForTheFirst.on, collect: func(t *fit.Task) { t.GC = 2 }, spoil: func(t *fit.Task, _ string, _ bool) {
			if t.Index%9 == 0 {
				t.Wait = 3
			}
		}}, schema.Network, "", 60},
		{"it is launched late", pair{on: all, spoil: func(t *fit.Task, on string, in bool) {
			if in && on == "m2" && t.Index%2 == 0 {
				t.Delay = 4
			}
		}}, schema.GC, "", 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			trace := c.trace(1, 40)
			of := map[schema.Key]*schema.Attempt{}
			for i := range trace.Attempts {
				of[trace.Attempts[i].AttemptID] = &trace.Attempts[i]
			}
			n := 0
			for _, r := range Attribute(trace, outliersOf(trace), 3600) {
				a := of[r.AttemptID]
				if r.Rank != 1 || a.FetchWaitS.V < 3 && a.SchedulerDelayS.V < 4 {
					continue
				}
				if n++; r.Cause != c.want || c.place != "" && r.Place.V != c.place {
					t.Errorf("task %d on %s: %s at %q, want %s at %q: %s", a.Task, a.Machine.V, r.Cause, r.Place.V, c.want, c.place, r.Evidence)
				}
			}
			if n < c.least {
				t.Errorf("%d outliers, want %d", n, c.least)
			}
		})
	}
}

// Collections of tasks of other phases are known equally in a store filled night by night or at once, and in copies of the
// program.
func TestPauseOfAnotherPhaseOnAStore(t *testing.T) {
	st, eng := Filled(t, func(*store.Store) error { return nil })
	logs := enginetest.NewLogs(st)
	verdicts := func(work engine.Engine, o Options) (out []string) {
		t.Helper()
		if _, err := detect.Run(t.Context(), st, eng, detect.Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), st, work, o); err != nil {
			t.Fatal(err)
		}
		type row struct {
			Attempt schema.Key          `col:"attempt_id"`
			Cause   schema.Cause        `col:"cause"`
			Place   schema.Null[string] `col:"place"`
		}
		for _, r := range enginetest.ReadAll[row](t, eng, "SELECT attempt_id, cause, place FROM attributions WHERE rank = 1 ORDER BY attempt_id NULLS LAST") {
			out = append(out, fmt.Sprintln(r.Attempt, r.Cause, r.Place.V))
		}
		return out
	}
	var nightly []string
	paused := 0
	for input := schema.Key(1); input <= 3; input++ {
		trace := waitsForTheFirst.trace(input, uint64(50+input))
		logs.Ingest(t, map[schema.Key]*schema.Trace{input: trace})
		nightly = verdicts(eng, Options{})
		for i := range trace.Attempts {
			if a := &trace.Attempts[i]; a.FetchWaitS.V == 3 && slices.Contains(nightly, fmt.Sprintln(a.AttemptID, schema.GC, "machine m2")) {
				paused++
			}
		}
	}
	if paused < 60 {
		t.Errorf("%d tasks waited for m2 to collect, want 60", paused)
	}
	if got := verdicts(eng, Options{Again: true}); !slices.Equal(got, nightly) {
		t.Errorf("at once: %d verdicts, and night by night %d, and not the same", len(got), len(nightly))
	}
	if got := verdicts(&copiestest.Cluster{Engine: eng, T: t, Store: st, Work: Copy}, Options{Again: true}); !slices.Equal(got, nightly) {
		t.Errorf("by copies: %d verdicts, and here %d, and not the same", len(got), len(nightly))
	}
	small := Options{Again: true, shareAttempts: 500, spreadAttempts: 1000} // two or three phases per share, and five per statement
	if got := verdicts(&copiestest.Cluster{Engine: eng, T: t, Store: st, Work: Copy}, small); !slices.Equal(got, nightly) {
		t.Errorf("by copies that get shares of an application: %d verdicts, and here %d, and not the same", len(got), len(nightly))
	}
	of := map[schema.Key]schema.Key{} // input of each attempt
	for input, trace := range logs.Shown {
		for i := range trace.Attempts {
			of[trace.Attempts[i].AttemptID] = input
		}
	}
	logs.Retire(t, 2)
	want := slices.DeleteFunc(nightly, func(v string) bool { return of[attemptOf(t, v)] == 2 })
	if got := verdicts(eng, Options{}); len(got) != len(want) || slices.ContainsFunc(got, func(v string) bool { return of[attemptOf(t, v)] == 2 }) {
		t.Errorf("without the second log: %d verdicts that copies found, want %d", len(got), len(want))
	}
}

// attemptOf returns the attempt of a verdict.
func attemptOf(t *testing.T, verdict string) (id schema.Key) {
	t.Helper()
	if _, err := fmt.Sscan(verdict, &id); err != nil {
		t.Fatal(err)
	}
	return id
}

// The amount that each copy must read of the store grows with its machines and stages, and not with its applications,
// attempts, outliers and collections.
func TestCopiesAreToldOfNoAttempts(t *testing.T) {
	st, eng := Filled(t, func(*store.Store) error { return nil })
	logs := enginetest.NewLogs(st)
	var told [2]int
	for i, applications := range [...]schema.Key{2, 6} {
		for input := schema.Key(1); input <= applications; input++ {
			logs.Ingest(t, map[schema.Key]*schema.Trace{input: waitsForTheFirst.trace(input, 60)})
		}
		if _, err := detect.Run(t.Context(), st, eng, detect.Options{}); err != nil {
			t.Fatal(err)
		}
		m := &copiestest.Cluster{Engine: eng, T: t, Store: st, Work: Copy}
		s, err := Run(t.Context(), st, m, Options{Again: true})
		if err != nil {
			t.Fatal(err)
		}
		told[i] = slices.Max(append(m.Told, 0))
		t.Logf("%d applications with %d outliers: %v bytes", applications, s.Outliers, m.Told)
	}
	if told[0] == 0 || told[1] > told[0]+told[0]/20 {
		t.Errorf("%d bytes for each copy, and %d of three times as many applications", told[0], told[1])
	}
}

// A phase gets the collections of other phases of its application that happened while it ran, however long before these
// began.
func TestCollectionsMeanwhile(t *testing.T) {
	var m collections
	for i, c := range []collection{
		{Phase: 1, Start: 0, Duration: 50},  // begins first and ends last
		{Phase: 2, Start: 10, Duration: 10}, // the phase in question
		{Phase: 3, Start: 11, Duration: 2},  // has ended before
		{Phase: 4, Start: 14, Duration: 2},
		{Phase: 5, Start: 25, Duration: 2}, // begins as it ends
	} {
		c.Application, c.Attempt, c.Start = 9, schema.Key(i), schema.Time(0).Add(float64(c.Start))
		m.add(c)
	}
	m.settle()
	m.mayWait(2, 9)
	m.mayWait(7, 8)
	for phase, want := range map[schema.Key][]schema.Key{2: {1, 4}, 7: nil} {
		var got []schema.Key
		for c := range m.meanwhile(phase, schema.Time(0).Add(15), schema.Time(0).Add(25)) {
			got = append(got, c.Phase)
		}
		if !slices.Equal(got, want) {
			t.Errorf("phase %d is told of %v, want %v", phase, got, want)
		}
	}
}

package causes_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/schema/synth"
	"straggler/store"
)

// storeOf puts generated clusters of a scenario into a store.
func storeOf(t testing.TB, scenario string, seeds ...uint64) (*store.Store, engine.Engine) {
	t.Helper()
	return causes.Filled(t, generated(t, scenario, nil, seeds...))
}

// detected is storeOf with results of detect.
func detected(t testing.TB, scenario string, seeds ...uint64) (*store.Store, engine.Engine) {
	t.Helper()
	return detectedWithout(t, scenario, nil, seeds...)
}

// detectedWithout is detected for logs whose attempts lack what hide removes; nil: nothing.
func detectedWithout(t testing.TB, scenario string, hide func(*schema.Attempt), seeds ...uint64) (*store.Store, engine.Engine) {
	t.Helper()
	return causes.Stored(t, generated(t, scenario, hide, seeds...))
}

func generated(t testing.TB, scenario string, hide func(*schema.Attempt), seeds ...uint64) func(*store.Store) error {
	t.Helper()
	s, ok := synth.ByName(scenario)
	if !ok {
		t.Fatalf("no scenario %s", scenario)
	}
	return func(st *store.Store) error {
		for _, seed := range seeds {
			err := causes.Commit(t.Context(), st, func(tx *store.Tx) error {
				return synth.Stream(t.Context(), s.Make(seed), func(b *synth.Batch) error {
					for i := range b.Trace.Attempts {
						if hide != nil {
							hide(&b.Trace.Attempts[i])
						}
					}
					return causes.PutTrace(tx, b.Trace)
				})
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// rowsOf reads a result table.
func rowsOf[R any](t testing.TB, eng engine.Engine, sql string) (out []R) {
	t.Helper()
	for r, err := range engine.Read[R](t.Context(), eng, sql) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, *r)
	}
	return out
}

const (
	attributionsSQL = "SELECT * FROM attributions ORDER BY attempt_id NULLS LAST, rank NULLS LAST"
	healthSQL       = "SELECT * FROM machine_health ORDER BY machine NULLS LAST, window_start NULLS LAST, application_id NULLS LAST"
	costsSQL        = "SELECT * FROM job_costs ORDER BY job_id NULLS LAST, cause NULLS LAST"
)

// The rows are the same however the store is read: in one chunk or many, by one worker or several, once or again.
func TestRunIsDeterministic(t *testing.T) {
	st, eng := detected(t, "speculation", 1, 2)
	var first []schema.Attribution
	var health []schema.MachineHealth
	var costs []schema.JobCost
	for i, o := range []causes.Options{{}, {ChunkAttempts: 50, Workers: 1}, {ChunkAttempts: 700, Workers: 5}, {}} {
		s, err := causes.Run(t.Context(), st, eng, o)
		if err != nil {
			t.Fatal(err)
		}
		rows, h, c := rowsOf[schema.Attribution](t, eng, attributionsSQL), rowsOf[schema.MachineHealth](t, eng, healthSQL), rowsOf[schema.JobCost](t, eng, costsSQL)
		if i == 0 {
			first, health, costs = rows, h, c
			if len(rows) == 0 || len(h) == 0 || len(c) == 0 || s.Outliers == 0 {
				t.Fatalf("%d attributions, %d windows of machines, %d costs", len(rows), len(h), len(c))
			}
			continue
		}
		if !slices.Equal(rows, first) || !slices.Equal(h, health) || !slices.Equal(c, costs) {
			t.Errorf("options %+v give other rows", o)
		}
	}
}

// Engines sum in any order on several threads; results must not depend on it, to the last bit. The logs are in several
// commits, so that several files are read concurrently.
func TestThreadsDoNotShow(t *testing.T) {
	st, _ := storeOf(t, "busy", 1, 2, 3)
	tables := []string{"phase_stats", "outliers", "attributions", "machine_health", "skew_repeats", "job_costs"}
	var first []string
	for _, threads := range []int{1, 4, 4, 4} {
		eng, err := engines.Open(t.Context(), st, engine.Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		defer eng.Close()
		if _, err := detect.Run(t.Context(), st, eng, detect.Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := causes.Run(t.Context(), st, eng, causes.Options{}); err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, table := range tables {
			_, rows := answer(t, eng, "SELECT * FROM "+table+" ORDER BY ALL NULLS LAST")
			text := make([]string, len(rows))
			for i := range rows {
				text[i] = fmt.Sprint(rows[i]) // floats in the shortest form that reads back the same
			}
			found = append(found, strings.Join(text, "\n"))
		}
		if first == nil {
			first = found
			continue
		}
		for i := range tables {
			if found[i] != first[i] {
				t.Errorf("%s differs between one thread and %d", tables[i], threads)
			}
		}
	}
	if len(first[0]) == 0 || len(first[2]) == 0 {
		t.Error("nothing was found to compare")
	}
}

// Run on a store and Attribute on the same trace in memory give the same causes and seconds.
func TestRunAgreesWithAttribute(t *testing.T) {
	for name, hide := range map[string]func(*schema.Attempt){
		"all that a log can say":         func(*schema.Attempt) {},
		"no counts":                      noCounts,
		"a value in one attempt only":    func(a *schema.Attempt) { a.GCS.OK = a.Task == 7 && a.Number == 0; a.CPUS = schema.Null[float64]{} },
		"no measured parts, no locality": func(a *schema.Attempt) { *a = withoutParts(*a) },
	} {
		t.Run(name, func(t *testing.T) { agrees(t, hide) })
	}
}

func withoutParts(a schema.Attempt) schema.Attempt {
	none := schema.Null[float64]{}
	a.FetchWaitS, a.GCS, a.SchedulerDelayS, a.DeserializeS, a.ResultS, a.Locality = none, none, none, none, none, schema.Null[schema.Locality]{}
	return a
}

// agrees compares them on a log whose attempts lack what hide removes.
func agrees(t *testing.T, hide func(*schema.Attempt)) {
	st, eng := detectedWithout(t, "mixed", hide, 4)
	if _, err := causes.Run(t.Context(), st, eng, causes.Options{}); err != nil {
		t.Fatal(err)
	}
	s, _ := synth.ByName("mixed")
	trace, _, err := synth.Generate(s.Make(4))
	if err != nil {
		t.Fatal(err)
	}
	for i := range trace.Attempts {
		hide(&trace.Attempts[i])
	}
	want := causes.Attribute(trace, rowsOf[schema.Outlier](t, eng, "SELECT * FROM outliers"), 3600)
	got := map[string]schema.Attribution{}
	for _, r := range rowsOf[schema.Attribution](t, eng, attributionsSQL) {
		got[fmt.Sprint(r.AttemptID, r.Cause)] = r
	}
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%d rows in the store, %d in memory", len(got), len(want))
	}
	for _, w := range want {
		if g := got[fmt.Sprint(w.AttemptID, w.Cause)]; g.Rank != w.Rank || math.Abs(g.Seconds-w.Seconds) > 1e-9*max(1, math.Abs(w.Seconds)) {
			t.Fatalf("in the store %+v, in memory %+v", g, w)
		}
	}
}

func TestRunNeedsOutliers(t *testing.T) {
	st, eng := storeOf(t, "uniform", 1)
	if _, err := causes.Run(t.Context(), st, eng, causes.Options{}); !errors.Is(err, causes.ErrNotDetected) {
		t.Errorf("without detect: %v", err)
	}
	st, eng = storeOf(t, "uniform")
	if s, err := causes.Run(t.Context(), st, eng, causes.Options{}); err != nil || s.Outliers != 0 {
		t.Errorf("an empty store: %+v, %v", s, err)
	}
}

// A cancelled run keeps the results of the previous one.
func TestRunCancelled(t *testing.T) {
	st, eng := detected(t, "mixed", 5)
	if _, err := causes.Run(t.Context(), st, eng, causes.Options{}); err != nil {
		t.Fatal(err)
	}
	before := rowsOf[schema.Attribution](t, eng, attributionsSQL)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := causes.Run(ctx, st, eng, causes.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run: %v", err)
	}
	if after := rowsOf[schema.Attribution](t, eng, attributionsSQL); !slices.Equal(before, after) {
		t.Error("a cancelled run changed the results")
	}
}

// The cost of each cause is within its interval and, for a single cause, within the job's duration; sums are those of the
// rows.
func TestJobCosts(t *testing.T) {
	st, eng := detected(t, "mixed", 6)
	if _, err := causes.Run(t.Context(), st, eng, causes.Options{}); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Cost    float64 `col:"cost_s"`
		Low     float64 `col:"cost_low"`
		High    float64 `col:"cost_high"`
		Sum     float64 `col:"sum_s"`
		Job     float64 `col:"job_s"`
		Seconds float64 `col:"seconds"`
	}
	rows := rowsOf[row](t, eng, `SELECT c.cost_s, c.cost_low, c.cost_high, c.sum_s, s.seconds,
  CAST(unix_micros(j.finish_time) - unix_micros(j.start_time) AS DOUBLE) / 1e6 AS job_s
FROM job_costs c JOIN jobs j ON j.job_id = c.job_id
  JOIN (SELECT a.job_id, t.cause, sum(t.seconds) AS seconds FROM attributions t JOIN attempts a ON a.attempt_id = t.attempt_id
        WHERE t.seconds > 0 GROUP BY a.job_id, t.cause) AS s ON s.job_id = c.job_id AND s.cause = c.cause`)
	if len(rows) < 10 {
		t.Fatalf("%d rows", len(rows))
	}
	some := false
	for _, r := range rows {
		some = some || r.Cost > 0
		if r.Cost < r.Low || r.Cost > r.High || r.Cost > r.Job || math.Abs(r.Sum-r.Seconds) > 1e-6*max(1, r.Sum) {
			t.Errorf("%+v", r)
		}
	}
	if !some {
		t.Error("no cause cost any job anything")
	}
}

// A program that runs every night with the same skew repeats it; the table counts the nights.
func TestSkewRepeats(t *testing.T) {
	st, eng := detected(t, "nightly", 1)
	if _, err := causes.Run(t.Context(), st, eng, causes.Options{}); err != nil {
		t.Fatal(err)
	}
	repeats, ratio := 0, 0.0
	for _, r := range rowsOf[schema.SkewRepeat](t, eng, "SELECT * FROM skew_repeats") {
		if r.Skewed > r.Executions || r.Skewed < 1 || r.Executions != 14 || !r.Ratio.OK {
			t.Errorf("%+v", r)
		}
		if r.Repeats.V {
			repeats++
			ratio = max(ratio, r.Ratio.V)
		}
	}
	if repeats < 5 || ratio < 3 || ratio > 10.5 { // the scenario's factors are 3 to 10
		t.Errorf("%d tasks repeat their skew, of at most %.1f times the median", repeats, ratio)
	}
}

// The curves of the figures fall or rise as shares over a threshold do; every figure has a title.
func TestPaperFigures(t *testing.T) {
	st, eng := detected(t, "mixed", 1, 2)
	if _, err := causes.Run(t.Context(), st, eng, causes.Options{}); err != nil {
		t.Fatal(err)
	}
	figures, err := causes.PaperFigures(t.Context(), eng)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	var last causes.Figure
	for _, f := range figures {
		seen[f.Figure]++
		if causes.FigureTitle(f.Figure) == "" {
			t.Errorf("%s has no title", f.Figure)
		}
		rising := f.Figure == "mantri-6" || f.Series == "lost outputs by machine" || f.Figure == "dolly-2" || f.Figure == "dolly-3"
		if f.Figure != "dolly-1" && f.Y.OK && (f.Y.V < 0 || f.Y.V > 1) {
			t.Errorf("%+v is no share", f)
		}
		if f.Figure == last.Figure && f.Series == last.Series && f.Figure != "dolly-1" && f.Y.OK && last.Y.OK && f.Y.V != last.Y.V && f.Y.V > last.Y.V != rising {
			t.Errorf("%s %s: %g at %g, then %g at %g", f.Figure, f.Series, last.Y.V, last.X, f.Y.V, f.X)
		}
		last = f
	}
	for _, name := range []string{"mantri-2a", "mantri-2b", "mantri-3a", "mantri-3b", "mantri-4", "mantri-5a", "mantri-5b", "mantri-6", "mantri-7", "dolly-1", "dolly-2", "dolly-2b", "dolly-3"} {
		if seen[name] == 0 {
			t.Errorf("%s is missing", name)
		}
	}
}

// Two phases of ten tasks, the first with two outliers, one of which read more; counted by hand.
func TestPaperFiguresByHand(t *testing.T) {
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	var attempts []schema.Attempt
	var phases []schema.Phase
	for p := range 2 {
		phases = append(phases, schema.Phase{PhaseID: schema.Key(p + 1), JobID: 1, NativeID: fmt.Sprint(p), Kind: "map",
			StartTime: at(0), FinishTime: at(9), Status: schema.RunSucceeded})
		for i := range 10 {
			a := schema.Attempt{AttemptID: schema.Key(10*p + i + 1), PhaseID: schema.Key(p + 1), JobID: 1, ApplicationID: 1, Task: int64(i), NativeID: "t",
				Machine: schema.Some(fmt.Sprint("m", i%2)), StartTime: at(0), DurationS: schema.Some(1 + 0.01*float64(i)), Status: schema.Success, InputBytes: schema.Some[int64](1000 + int64(i))}
			switch {
			case p == 0 && i == 4:
				a.InputBytes, a.DurationS = schema.Some[int64](6000), schema.Some(6.0)
			case p == 0 && i == 6:
				a.DurationS = schema.Some(4.0)
			case p == 1 && i == 9:
				a.DurationS = schema.Some(1.5) // not an outlier, but 1.22 times the prediction of the line through the phase, 1.23 s
			}
			a.FinishTime = at(a.DurationS.V)
			attempts = append(attempts, a)
		}
	}
	trace := schema.Trace{Phases: phases, Attempts: attempts,
		Applications: []schema.Application{{ApplicationID: 1, NativeID: "a", Framework: "f", SourceFile: "f", TimeOrigin: "epoch",
			Status: schema.RunSucceeded, Complete: true}},
		Jobs: []schema.Job{{JobID: 1, ApplicationID: 1, NativeID: "j", StartTime: at(0), FinishTime: at(9), Status: schema.RunSucceeded}}}
	figures := paperFigures(t, trace)
	for _, w := range []causes.Figure{
		// 2 of 10 tasks, in one of two phases
		{Figure: "mantri-2a", Series: "high_runtime", X: 0.15, Y: schema.Some(0.5), N: schema.Some[int64](2)},
		{Figure: "mantri-2a", Series: "high_runtime", X: 0.2, Y: schema.Some(0.0), N: schema.Some[int64](2)},
		{Figure: "mantri-2b", Series: "high_runtime", X: 3, Y: schema.Some(1.0), N: schema.Some[int64](2)}, // 5.7 and 3.8 times
		{Figure: "mantri-2b", Series: "high_runtime", X: 5, Y: schema.Some(0.5), N: schema.Some[int64](2)},
		// one of the two
		{Figure: "mantri-3a", Series: "explained by data", X: 0.3, Y: schema.Some(1.0), N: schema.Some[int64](1)},
		{Figure: "mantri-3a", Series: "explained by data", X: 0.5, Y: schema.Some(0.0), N: schema.Some[int64](1)},
		// both on m0, of two machines
		{Figure: "mantri-6", Series: "outliers by machine", X: 0.5, Y: schema.Some(1.0), N: schema.Some[int64](2)},
		{Figure: "dolly-2", Series: "smallest jobs", X: 0.75, Y: schema.Some(0.0), N: schema.Some[int64](29)},
		{Figure: "dolly-2b", Series: "jobs", X: 10, Y: schema.Some(1.0), N: schema.Some[int64](1)},
		{Figure: "dolly-2b", Series: "jobs", X: 100, Y: schema.Some(0.0), N: schema.Some[int64](1)},
		{Figure: "mantri-5a", N: schema.Some[int64](0), Note: "cannot tell: it needs lost outputs, with their machines"},
		{Figure: "mantri-3b", Series: "slow for their data", X: 0.05, Y: schema.Some(0.5), N: schema.Some[int64](2)},
	} {
		if !slices.Contains(figures, w) {
			t.Errorf("%+v is not among the figures", w)
		}
	}
}

// paperFigures returns the figures of a trace once its outliers have causes.
func paperFigures(t *testing.T, trace schema.Trace) []causes.Figure {
	t.Helper()
	st, eng := causes.Stored(t, func(st *store.Store) error {
		return causes.Commit(t.Context(), st, func(tx *store.Tx) error { return causes.PutTrace(tx, trace) })
	})
	if _, err := causes.Run(t.Context(), st, eng, causes.Options{}); err != nil {
		t.Fatal(err)
	}
	figures, err := causes.PaperFigures(t.Context(), eng)
	if err != nil {
		t.Fatal(err)
	}
	return figures
}

// A hundred tasks of 0.01 s use 1 s of slots, and not more: in doubles they sum to 1.0000000000000007.
func TestSlotTimeIsExact(t *testing.T) {
	trace := schema.Trace{
		Applications: []schema.Application{{ApplicationID: 1, NativeID: "a", Framework: "f", SourceFile: "f", TimeOrigin: "epoch",
			Status: schema.RunSucceeded, Complete: true}},
		Jobs:   []schema.Job{{JobID: 1, ApplicationID: 1, NativeID: "j", Status: schema.RunSucceeded}},
		Phases: []schema.Phase{{PhaseID: 1, JobID: 1, NativeID: "p", Kind: "map", Status: schema.RunSucceeded}},
	}
	for i := range 100 {
		trace.Attempts = append(trace.Attempts, schema.Attempt{AttemptID: schema.Key(i + 1), PhaseID: 1, JobID: 1, ApplicationID: 1, Task: int64(i), NativeID: "t",
			DurationS: schema.Some(0.01), Status: schema.Success})
	}
	figures := paperFigures(t, trace)
	if w := (causes.Figure{Figure: "dolly-2b", Series: "jobs", X: 1, Y: schema.Some(0.0), N: schema.Some[int64](1)}); !slices.Contains(figures, w) {
		t.Errorf("%+v is not among the figures", w)
	}
}

// The line through a phase does not depend on the order of its attempts: summed one after another, these durations have the mean
// 4.5, and in the reverse order 4.500000000000001, of which 5.4 is not over 1.2 times.
func TestFiguresInAnyOrder(t *testing.T) {
	durations := []float64{5.2, 5.4, 2.1, 2.5, 8.1, 3.9, 3.6, 5.2}
	var figures [2][]causes.Figure
	for k := range figures {
		trace := schema.Trace{
			Applications: []schema.Application{{ApplicationID: 1, NativeID: "a", Framework: "f", SourceFile: "f", TimeOrigin: "epoch",
				Status: schema.RunSucceeded, Complete: true}},
			Jobs:   []schema.Job{{JobID: 1, ApplicationID: 1, NativeID: "j", Status: schema.RunSucceeded}},
			Phases: []schema.Phase{{PhaseID: 1, JobID: 1, NativeID: "p", Kind: "map", Status: schema.RunSucceeded}},
		}
		for i, d := range durations {
			trace.Attempts = append(trace.Attempts, schema.Attempt{AttemptID: schema.Key(i + 1), PhaseID: 1, JobID: 1, ApplicationID: 1, Task: int64(i), NativeID: "t",
				DurationS: schema.Some(d), InputBytes: schema.Some[int64](1000), Status: schema.Success})
		}
		figures[k] = paperFigures(t, trace)
		slices.Reverse(durations)
	}
	if diff := gocmp.Diff(figures[0], figures[1]); diff != "" {
		t.Errorf("in the reverse order:\n%s", diff)
	}
}

// A damaged log may contain any number: the sum of two of the largest is not an error.
func TestHugeValues(t *testing.T) {
	st, eng := detectedWithout(t, "speculation", func(a *schema.Attempt) {
		if a.Task%3 == 0 {
			a.OutputBytes, a.ShuffleWriteBytes, a.InputRecords = schema.Some(int64(math.MaxInt64)), schema.Some(int64(math.MaxInt64)), schema.Some(int64(math.MaxInt64))
		}
	}, 1)
	if _, err := causes.Run(t.Context(), st, eng, causes.Options{}); err != nil {
		t.Fatal(err)
	}
}

package causes_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/schema/synth"
	"straggler/selection"
	"straggler/store"
)

// nights is a store whose logs are added and changed between runs.
type nights struct {
	*enginetest.Logs
	eng engine.Engine
}

func newNights(t *testing.T) *nights {
	t.Helper()
	st, eng := causes.Filled(t, func(*store.Store) error { return nil })
	return &nights{enginetest.NewLogs(st), eng}
}

// someLogs returns applications of several days on the same machines, one log each, with their inputs in the order of time. Each
// day has its own bad machines.
func someLogs(t *testing.T) (map[schema.Key]*schema.Trace, []schema.Key) {
	t.Helper()
	logs, err := generatedLogs()
	if err != nil {
		t.Fatal(err)
	}
	return logs, slices.SortedFunc(maps.Keys(logs), func(a, b schema.Key) int {
		return cmp.Compare(logs[a].Applications[0].StartTime.V, logs[b].Applications[0].StartTime.V)
	})
}

var generatedLogs = sync.OnceValues(func() (map[schema.Key]*schema.Trace, error) {
	logs := map[schema.Key]*schema.Trace{}
	for day := range 8 {
		if err := logsOfDay(logs, []string{"mixed", "busy"}[day%2], day, 1500); err != nil {
			return nil, err
		}
	}
	return logs, nil
})

// logsOfDay adds the applications of a day.
func logsOfDay(logs map[schema.Key]*schema.Trace, scenario string, day int, tasks int64) error {
	s, _ := synth.ByName(scenario)
	o := s.Make(uint64(day + 1)).WithTasks(tasks)
	o.Start = o.Start.Add(86400 * float64(day))
	return synth.Stream(context.Background(), o, func(b *synth.Batch) error {
		if logs[b.Input] == nil {
			logs[b.Input] = &schema.Trace{}
		}
		logs[b.Input].Append(&b.Trace)
		return nil
	})
}

// run runs detect and causes.
func (n *nights) run(t *testing.T, o causes.Options) causes.Summary {
	t.Helper()
	if _, err := detect.Run(t.Context(), n.Store, n.eng, detect.Options{Tool: o.Tool}); err != nil {
		t.Fatal(err)
	}
	s, err := causes.Run(t.Context(), n.Store, n.eng, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// causeTables are the tables written by causes.
type causeTables struct {
	attributions []schema.Attribution
	totals       []schema.ApplicationCause
	health, runs []schema.MachineHealth
	history      []schema.HistoryAttribution
	costs        []schema.JobCost
	repeats      []schema.SkewRepeat
	machines     []schema.MachineStatistics
	stages       []schema.StageStatistics
	skewed       []schema.SkewedTask
}

func (n *nights) found(t *testing.T) *causeTables {
	t.Helper()
	f := &causeTables{
		attributions: rowsOf[schema.Attribution](t, n.eng, attributionsSQL),
		totals:       rowsOf[schema.ApplicationCause](t, n.eng, "SELECT * FROM application_causes ORDER BY ALL NULLS LAST"),
		health:       rowsOf[schema.MachineHealth](t, n.eng, "SELECT * FROM machine_health WHERE application_id IS NULL ORDER BY ALL NULLS LAST"),
		runs:         rowsOf[schema.MachineHealth](t, n.eng, "SELECT * FROM machine_health WHERE application_id IS NOT NULL ORDER BY ALL NULLS LAST"),
		history:      rowsOf[schema.HistoryAttribution](t, n.eng, "SELECT * FROM history_attributions ORDER BY ALL NULLS LAST"),
		costs:        rowsOf[schema.JobCost](t, n.eng, costsSQL),
		repeats:      rowsOf[schema.SkewRepeat](t, n.eng, "SELECT * FROM skew_repeats ORDER BY ALL NULLS LAST"),
		machines:     rowsOf[schema.MachineStatistics](t, n.eng, "SELECT * FROM machine_statistics ORDER BY ALL NULLS LAST"),
		stages:       rowsOf[schema.StageStatistics](t, n.eng, "SELECT * FROM stage_statistics ORDER BY ALL NULLS LAST"),
		skewed:       rowsOf[schema.SkewedTask](t, n.eng, "SELECT * FROM skewed_tasks ORDER BY ALL NULLS LAST"),
	}
	// Sums that were kept must equal the sums of the attributions too.
	summed := rowsOf[schema.ApplicationCause](t, n.eng, `SELECT j.application_id, t.cause, count(*) FILTER (WHERE t.rank = 1) AS verdicts,
  CAST(sum(CAST(t.seconds AS DECIMAL(28, 6))) AS DOUBLE) AS seconds
FROM attributions t JOIN phases p ON p.phase_id = t.phase_id JOIN jobs j ON j.job_id = p.job_id GROUP BY j.application_id, t.cause ORDER BY ALL NULLS LAST`)
	if diff := gocmp.Diff(summed, f.totals); diff != "" {
		t.Fatalf("application_causes: -sums of attributions +got\n%.3000s", diff)
	}
	for _, r := range rowsOf[schema.SkewRepeat](t, n.eng, wrongRepeatsSQL) {
		t.Fatalf("skew_repeats: %+v is not what skewed_tasks say", r)
	}
	return f
}

// wrongRepeatsSQL returns the rows of skew_repeats whose worst execution has no such skewed task, and those with a name to
// which the skewed tasks do not sum.
const wrongRepeatsSQL = `WITH skewed AS (
  SELECT s.*, app.name AS program, p.kind, p.name AS stage FROM skewed_tasks s
    JOIN phases p ON p.phase_id = s.phase_id JOIN jobs j ON j.job_id = p.job_id JOIN applications app ON app.application_id = j.application_id
),
sums AS (
  SELECT program, kind, stage, task, count(DISTINCT phase_id) AS skewed, sum(seconds) AS seconds FROM skewed GROUP BY program, kind, stage, task
)
SELECT r.* FROM skew_repeats r
WHERE r.task IS NOT NULL AND r.exchange IS NULL AND (
  NOT EXISTS (SELECT 1 FROM skewed s WHERE s.phase_id = r.phase_id AND s.task = r.task AND s.program = r.program AND s.kind = r.kind AND s.stage = r.stage)
  OR r.ordinal IS NULL AND NOT EXISTS (SELECT 1 FROM sums s WHERE s.program = r.program AND s.kind = r.kind AND s.stage = r.stage AND s.task = r.task
    AND s.skewed = r.skewed AND abs(s.seconds - r.seconds) <= 1e-9 * r.seconds))`

// sums removes from the statistics the columns with the model under which attempts were attributed.
func (f *causeTables) sums() *causeTables {
	g := *f
	g.machines, g.stages = slices.Clone(f.machines), slices.Clone(f.stages)
	for i := range g.machines {
		s := &g.machines[i]
		s.KnownFactor, s.KnownVariance, s.WithRack = schema.Null[float64]{}, schema.Null[float64]{}, false
	}
	for i := range g.stages {
		s := &g.stages[i]
		*s = schema.StageStatistics{ApplicationID: s.ApplicationID, Signature: s.Signature, Tasks: s.Tasks, LogSigma: s.LogSigma,
			ElasticityWeight: s.ElasticityWeight, Elasticity: s.Elasticity, SpillWeight: s.SpillWeight, Spill: s.Spill,
			Known: s.Known, Alone: s.Alone, AloneFactor: s.AloneFactor, AloneSquared: s.AloneSquared,
			AloneCPUKnown: s.AloneCPUKnown, AloneComputing: s.AloneComputing}
	}
	return &g
}

// same checks that two stores have the same results, to the last bit.
func same(t *testing.T, what string, want, got *causeTables) {
	t.Helper()
	if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(causeTables{})); diff != "" {
		t.Errorf("%s: -want +got\n%.3000s", what, diff)
	}
}

// fromScratch returns the results of a store to which the same logs were added at once.
func (n *nights) fromScratch(t *testing.T) *causeTables {
	t.Helper()
	fresh := newNights(t)
	if len(n.Shown) > 0 {
		fresh.Ingest(t, n.Shown)
	}
	fresh.run(t, causes.Options{})
	return fresh.found(t)
}

// comparison counts how attributions that were kept differ from those of all logs at once.
type comparison struct {
	outliers, verdicts int       // all, and those with another verdict
	moved              []float64 // by outlier: half of the seconds that moved between causes, as a share of the excess
}

func (c *comparison) add(t *testing.T, what string, want, got *causeTables) {
	t.Helper()
	type parts struct {
		verdict schema.Cause
		by      map[schema.Cause]float64
		sum     float64
	}
	gather := func(rows []schema.Attribution) map[schema.Key]*parts {
		out := map[schema.Key]*parts{}
		for i := range rows {
			r := &rows[i]
			p := out[r.AttemptID]
			if p == nil {
				p = &parts{by: map[schema.Cause]float64{}}
				out[r.AttemptID] = p
			}
			if r.Rank == 1 {
				p.verdict = r.Cause
			}
			p.by[r.Cause] += r.Seconds
			p.sum += r.Seconds
		}
		return out
	}
	a, b := gather(want.attributions), gather(got.attributions)
	if len(a) != len(b) {
		t.Fatalf("%s: %d outliers have causes, and %d of all logs at once", what, len(b), len(a))
	}
	for attempt, p := range a {
		q := b[attempt]
		if q == nil || math.Abs(p.sum-q.sum) > 1e-9*max(1, math.Abs(p.sum)) {
			t.Fatalf("%s: attempt %d: %+v, and of all logs at once %+v", what, attempt, q, p)
		}
		c.outliers++
		if p.verdict != q.verdict {
			c.verdicts++
		}
		moved := 0.0
		for cause := range p.by {
			moved += math.Abs(p.by[cause] - q.by[cause])
		}
		for cause, s := range q.by {
			if _, ok := p.by[cause]; !ok {
				moved += math.Abs(s)
			}
		}
		c.moved = append(c.moved, moved/2/max(math.Abs(p.sum), 1e-9))
	}
}

// For any order of logs, any distribution over ingests, logs that are read again, removed or replaced together, and any runs
// of causes in between, the sums of the model, and what follows from them alone, equal those of all logs at once to the last
// bit; with Again everything does. Attributions that were kept differ as the help of straggler causes says.
func TestMovedModel(t *testing.T) {
	logs, keys := someLogs(t)
	var c comparison
	kept, renewed := 0, 0
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 41))
		n := newNights(t)
		left := slices.Clone(keys)
		if seed > 0 { // otherwise in the order of time
			r.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		}
		for step := 0; len(left) > 0; step++ {
			night := map[schema.Key]*schema.Trace{}
			for range min(len(left), 1+r.IntN(len(keys)/3)) {
				night[left[0]], left = logs[left[0]], left[1:]
			}
			what := fmt.Sprintf("seed %d, step %d: %d logs", seed, step, len(night))
			n.Ingest(t, night)
			switch op := r.IntN(6); {
			case op == 0:
				gone := slices.Sorted(maps.Keys(n.Shown))[r.IntN(len(n.Shown))]
				n.Retire(t, gone)
				left = append(left, gone)
				what += ", one gone"
			case op == 1:
				again := slices.Sorted(maps.Keys(n.Shown))[r.IntN(len(n.Shown))]
				n.Ingest(t, map[schema.Key]*schema.Trace{again: logs[again]})
				what += ", one read again"
			case op == 2:
				if _, err := n.Compact(t.Context(), "test"); err != nil {
					t.Fatal(err)
				}
				what += ", compacted"
			case op == 3 && len(left) > 0:
				continue // causes sees two nights at once
			}
			s := n.run(t, causes.Options{})
			if s.Kept {
				kept++
			}
			renewed += s.Renewed
			if len(left) > 0 && r.IntN(2) == 0 {
				continue
			}
			got, want := n.found(t), n.fromScratch(t)
			c.add(t, what, want, got)
			a, b := want.sums(), got.sums()
			if diff := gocmp.Diff(a.machines, b.machines) + gocmp.Diff(a.stages, b.stages) + gocmp.Diff(a.health, b.health); diff != "" {
				t.Fatalf("%s: the sums: -want +got\n%.3000s", what, diff)
			}
			if s.Outliers != int64(len(verdictsOf(want.attributions))) {
				t.Errorf("%s: the summary says %+v", what, s)
			}
			if len(left) == 0 {
				n.run(t, causes.Options{Again: true})
				same(t, what+", again", want, n.found(t))
			}
		}
	}
	slices.Sort(c.moved)
	at := func(q float64) float64 { return c.moved[int(q*float64(len(c.moved)-1))] }
	t.Logf("%d runs kept results, %d logs were attributed again; of %d outliers %d have another verdict; shares of the excess with another cause: 90 %% %.4f, 99 %% %.4f, most %.4f",
		kept, renewed, c.outliers, c.verdicts, at(0.9), at(0.99), at(1))
	if kept < 3 || at(0.9) > 0.01 || at(0.99) > 0.05 || 500*c.verdicts > c.outliers {
		t.Error("kept attributions differ by more than the help says, or none were kept")
	}
}

func verdictsOf(rows []schema.Attribution) (out []schema.Attribution) {
	for _, r := range rows {
		if r.Rank == 1 {
			out = append(out, r)
		}
	}
	return out
}

// Only what is new is processed; if nothing is new, nothing is committed. Another version, other options or another history
// start from scratch.
func TestKeepsEarlierCauses(t *testing.T) {
	logs, keys := someLogs(t)
	n := newNights(t)
	n.Ingest(t, logs)
	if s := n.run(t, causes.Options{}); s.Kept || s.Inputs != len(keys) || s.Outliers == 0 {
		t.Errorf("the first run says %+v", s)
	}
	small := map[schema.Key]*schema.Trace{}
	if err := logsOfDay(small, "mixed", 9, 100); err != nil || len(small) != 1 {
		t.Fatalf("%d logs, %v", len(small), err)
	}
	n.Ingest(t, small)
	s := n.run(t, causes.Options{})
	if !s.Kept || s.Inputs != 1 || s.Renewed == len(keys) {
		t.Errorf("the second run says %+v", s)
	}
	c, err := n.Result(t.Context(), store.Causes)
	if err != nil || len(c.Saw) != 1+s.Renewed || len(c.Kept) != 1 {
		t.Errorf("the second run committed %+v, %v", c, err)
	}
	if again := n.run(t, causes.Options{}); !again.Kept || again.Inputs != 0 || again.Outliers != s.Outliers ||
		again.ExcessS != s.ExcessS || again.Machines != s.Machines {
		t.Errorf("a run of nothing says %+v, the one before %+v", again, s)
	}
	if d, err := n.Result(t.Context(), store.Causes); err != nil || d.Sequence != c.Sequence {
		t.Errorf("a run of nothing committed %+v, %v", d, err)
	}
	for _, o := range []causes.Options{{Again: true}, {WindowS: 7200}, {WindowS: 7200, FalseShare: 0.1}, {Tool: "another"}} {
		if s := n.run(t, o); s.Kept || s.Inputs != len(n.Shown) {
			t.Errorf("%+v says %+v", o, s)
		}
		o.Again = false
		if s := n.run(t, o); !s.Kept || s.Inputs != 0 {
			t.Errorf("after %+v a run says %+v", o, s)
		}
	}
}

// With selected applications, their rows are those of a complete run, and rows about others stay as they are.
func TestCausesOfSomeApplications(t *testing.T) {
	logs, keys := someLogs(t)
	n := newNights(t)
	for _, half := range [][]schema.Key{keys[:len(keys)/2], keys[len(keys)/2:]} {
		night := map[schema.Key]*schema.Trace{}
		for _, k := range half {
			night[k] = logs[k]
		}
		n.Ingest(t, night)
		if len(n.Shown) < len(keys) {
			n.run(t, causes.Options{})
		}
	}
	before := n.found(t)
	if _, err := detect.Run(t.Context(), n.Store, n.eng, detect.Options{}); err != nil {
		t.Fatal(err)
	}
	mine := logs[keys[len(keys)-1]]
	o := causes.Options{Applications: selection.Applications{Named: mine.Applications[0].NativeID}}
	s, err := causes.Run(t.Context(), n.Store, n.eng, o)
	if err != nil || s.Inputs != 1 || s.Outliers == 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	own := map[schema.Key]bool{}
	for i := range mine.Phases {
		own[mine.Phases[i].PhaseID] = true
	}
	var others []schema.Attribution
	for _, r := range n.found(t).attributions {
		if !own[r.PhaseID] {
			others = append(others, r)
		} else if r.Rank == 1 {
			s.Outliers--
		}
	}
	if s.Outliers != 0 || !slices.Equal(others, before.attributions) {
		t.Errorf("the summary is off by %d; rows about others changed: %t", s.Outliers, !slices.Equal(others, before.attributions))
	}
	if state, err := n.State(t.Context()); err != nil {
		t.Fatal(err)
	} else if c, err := n.Result(t.Context(), store.Causes); err != nil || c.State == state {
		t.Errorf("results of some applications pass for those of all: %v", err)
	}
	if s := n.run(t, causes.Options{}); s.Inputs != len(keys)-len(keys)/2-1 {
		t.Errorf("a run of everything after that says %+v", s)
	}
	if _, err := causes.Run(t.Context(), n.Store, n.eng, causes.Options{Tool: "another", Applications: o.Applications}); !errors.Is(err, detect.ErrReplaces) {
		t.Errorf("another version for some applications: %v", err)
	}
	if _, err := causes.Run(t.Context(), n.Store, n.eng, causes.Options{Applications: selection.Applications{Named: "nobody"}}); !errors.Is(err, selection.ErrNone) {
		t.Errorf("of no application: %v", err)
	}
}

// Logs without outliers so far are left to a later run, and two concurrent runs do not harm each other.
func TestTwoRunsOfCauses(t *testing.T) {
	logs, keys := someLogs(t)
	n := newNights(t)
	night := map[schema.Key]*schema.Trace{}
	for _, k := range keys[:4] {
		night[k] = logs[k]
	}
	n.Ingest(t, night)
	n.run(t, causes.Options{})
	n.Ingest(t, map[schema.Key]*schema.Trace{keys[4]: logs[keys[4]], keys[0]: logs[keys[0]]})
	if s, err := causes.Run(t.Context(), n.Store, n.eng, causes.Options{}); err != nil || s.Inputs != 0 {
		t.Errorf("before detect: %+v, %v", s, err)
	}
	if _, err := detect.Run(t.Context(), n.Store, n.eng, detect.Options{}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	failed := make([]error, 3)
	for i := range failed {
		eng, err := engines.Open(t.Context(), n.Store, engine.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer eng.Close()
		wg.Go(func() { _, failed[i] = causes.Run(t.Context(), n.Store, eng, causes.Options{}) })
	}
	wg.Wait()
	done := 0
	for _, err := range failed {
		if err == nil {
			done++
		} else if !errors.Is(err, store.ErrConflict) {
			t.Error(err)
		}
	}
	if done == 0 {
		t.Errorf("none of them committed: %v", failed)
	}
	n.run(t, causes.Options{})
	var c comparison
	c.add(t, "after three at once", n.fromScratch(t), n.found(t))
	n.run(t, causes.Options{Again: true})
	same(t, "again", n.fromScratch(t), n.found(t))
}

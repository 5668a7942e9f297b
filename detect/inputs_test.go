package detect

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/selection"
	"straggler/store"
)

// night is a store to which logs are added, and in which they change, between runs.
type night struct {
	*enginetest.Logs
	changed map[schema.Key]bool // since the last run of detect on everything
}

func newNight(t *testing.T) *night {
	t.Helper()
	st, err := store.Temp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return &night{enginetest.NewLogs(st), map[schema.Key]bool{}}
}

// owned assigns keys that the input allocates to the rows of a trace, as formats do.
func owned(input schema.Key, tr *schema.Trace) *schema.Trace {
	phases, apps, attempts := schema.NewKeys(input, "phases"), schema.NewKeys(input, "applications"), schema.NewKeys(input, "attempts")
	jobs := schema.NewKeys(input, "jobs")
	for i := range tr.Applications {
		tr.Applications[i].ApplicationID = apps.Nth(tr.Applications[i].ApplicationID)
	}
	for i := range tr.Jobs {
		tr.Jobs[i].JobID, tr.Jobs[i].ApplicationID = jobs.Nth(1), apps.Nth(tr.Jobs[i].ApplicationID)
	}
	for i := range tr.Phases {
		tr.Phases[i].PhaseID, tr.Phases[i].JobID = phases.Nth(tr.Phases[i].PhaseID), jobs.Nth(1)
	}
	for i := range tr.Attempts {
		a := &tr.Attempts[i]
		a.JobID = jobs.Nth(1)
		a.AttemptID, a.PhaseID, a.ApplicationID = attempts.Nth(a.AttemptID), phases.Nth(a.PhaseID), apps.Nth(a.ApplicationID)
	}
	return tr
}

// execution returns a run of a program at a random time, with stages of all shapes.
func execution(input schema.Key, r *rand.Rand, phases int) *schema.Trace {
	tr := random(r, phases)
	tr.Applications[0].Name, tr.Applications[0].NativeID = schema.Some("program"), appOf(input)
	tr.Applications[0].StartTime = schema.Some(origin.Add(float64(r.IntN(1e6))))
	for i := range tr.Phases {
		tr.Phases[i].Name, tr.Phases[i].Gang = schema.Some("stage"), i%3 == 0
	}
	for i := range tr.Attempts {
		tr.Attempts[i].FetchWaitS = schema.Null[float64]{V: float64(i % 7), OK: i%4 > 0}
	}
	return owned(input, tr)
}

// appOf returns the native id of the application of a log.
func appOf(input schema.Key) string { return fmt.Sprint("app-", input) }

// ingest commits logs, replacing what the store has under their keys.
func (n *night) ingest(t *testing.T, logs map[schema.Key]*schema.Trace) {
	t.Helper()
	n.Ingest(t, logs)
	for input := range logs {
		n.changed[input] = true
	}
}

// fromScratch returns the results of a store to which the same logs are added at once.
func (n *night) fromScratch(t *testing.T) *detected {
	t.Helper()
	fresh := newNight(t)
	if len(n.Shown) > 0 {
		fresh.ingest(t, n.Shown)
	}
	return runStore(t, fresh.Store, Options{})
}

// Results do not depend on the order in which logs were added, on how they were spread over ingests, on what was read again,
// grew, was removed or was written together, nor on when detect ran in between.
func TestOnlyWhatIsNew(t *testing.T) {
	compared, overtaken := 0, 0
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 31))
		n := newNight(t)
		for range 9 {
			what := n.change(t, r)
			switch r.IntN(4) {
			case 0:
				continue
			case 1:
				n.narrowed(t, r, what)
			}
			got, want := runStore(t, n.Store, Options{}), n.fromScratch(t)
			overtaken += n.overtaken(t)
			clear(n.changed)
			differ(t, fmt.Sprintf("seed %d, after %s", seed, what), want, got)
			if diff := gocmp.Diff(want.history, got.history); diff != "" {
				t.Errorf("seed %d, after %s, the history:\n%.3000s", seed, what, diff)
			}
			compared += int(got.summary.Repeated)
			if got.summary.Phases != want.summary.Phases || got.summary.Judged != want.summary.Judged || got.summary.Attempts != want.summary.Attempts {
				t.Errorf("seed %d: the summary says %+v, and of all at once %+v", seed, got.summary, want.summary)
			}
		}
	}
	if compared == 0 || overtaken < 5 {
		t.Errorf("%d phases had a history, of %d logs it was worked out again: the law was hardly tried", compared, overtaken)
	}
}

// overtaken counts the unchanged logs whose results the last run wrote.
func (n *night) overtaken(t *testing.T) (out int) {
	last, err := n.Result(t.Context(), store.Detect)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range last.Saw {
		if !n.changed[schema.Key(in.Key)] {
			out++
		}
	}
	return out
}

// A night is compared with executions whose tasks no run of that night reads, and a log that arrives late changes what is known
// of the nights after it: tasks that are slower than usual are found either way, the same as from scratch, here and on a
// cluster.
func TestSlowerThanUsualNightByNight(t *testing.T) {
	log := func(night int) map[schema.Key]*schema.Trace {
		input, m := schema.Key(night+1), newMade()
		seconds := make([]float64, 30)
		for task := range seconds {
			seconds[task] = 10 + 0.02*float64((task*7+night*3)%11)
		}
		if night >= 4 {
			seconds[night] = 40 // a different task each night
		}
		m.phase(seconds...)
		start := schema.Some(origin.Add(86400 * float64(night)))
		m.Applications[0].Name, m.Applications[0].NativeID, m.Applications[0].StartTime = schema.Some("program"), appOf(input), start
		m.Phases[0].Name, m.Phases[0].StartTime = schema.Some("stage"), start
		return map[schema.Key]*schema.Trace{input: owned(input, &m.Trace)}
	}
	n, onCopies := newNight(t), newNight(t)
	slower := 0
	for _, night := range []int{0, 1, 2, 4, 5, 6, 3} { // the fourth log arrives last
		n.ingest(t, log(night))
		onCopies.ingest(t, log(night))
		got, want := runStore(t, n.Store, Options{}), n.fromScratch(t)
		differ(t, fmt.Sprintf("after night %d", night), want, got)
		copied, _ := runCopies(t, onCopies.Store, Options{})
		differ(t, fmt.Sprintf("on a cluster, after night %d", night), want, copied)
		slower = 0
		for _, o := range got.outliers {
			if o.Rule == schema.SlowerThanUsual {
				slower++
			}
		}
	}
	if slower != 3 {
		t.Errorf("%d tasks are slower than usual, want those of the last three nights", slower)
	}
}

// Wherever a run stops, the results are either the previous ones or its own, and the next run finds the same as a run from
// scratch.
func TestStopsAtEachStep(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 34))
	n := newNight(t)
	logs := func(inputs ...schema.Key) map[schema.Key]*schema.Trace {
		out := map[schema.Key]*schema.Trace{}
		for _, input := range inputs {
			out[input] = execution(input, r, 4)
		}
		return out
	}
	n.ingest(t, logs(1, 2, 3, 4, 5))
	before := runStore(t, n.Store, Options{})
	n.ingest(t, logs(3, 6, 7))
	n.Retire(t, 5)
	want := n.fromScratch(t)
	steps := 0
	for ; ; steps++ {
		eng, err := engines.Open(t.Context(), n.Store, engine.Options{Threads: 2, MemoryBytes: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Run(t.Context(), n.Store, &stopping{Engine: eng, after: steps}, Options{})
		got := resultsOf(t, eng)
		if err := eng.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil && !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		if gocmp.Equal(before.history, got.history) && err != nil {
			differ(t, fmt.Sprintf("stopped after %d steps", steps), before, got)
			continue
		}
		if diff := gocmp.Diff(want.history, got.history); diff != "" {
			t.Fatalf("after %d steps, the history:\n%.3000s", steps, diff)
		}
		differ(t, fmt.Sprintf("after %d steps", steps), want, got)
		if err == nil {
			break
		}
	}
	if steps < 25 {
		t.Errorf("a run has %d steps", steps)
	}
}

var errStopped = errors.New("stopped")

// stopping is an engine that fails after some statements.
type stopping struct {
	engine.Engine
	after int
}

func (s *stopping) step() error {
	if s.after--; s.after < 0 {
		return errStopped
	}
	return nil
}

func (s *stopping) Query(ctx context.Context, sql string) (*engine.Rows, error) {
	if err := s.step(); err != nil {
		return nil, err
	}
	return s.Engine.Query(ctx, sql)
}

func (s *stopping) Materialize(ctx context.Context, name, sql string) error {
	if err := s.step(); err != nil {
		return err
	}
	return s.Engine.Materialize(ctx, name, sql)
}

func (s *stopping) Load(ctx context.Context, name string, columns []engine.Column, next func() *engine.Batch) error {
	if err := s.step(); err != nil {
		return err
	}
	return s.Engine.(engine.Loader).Load(ctx, name, columns, next)
}

func (s *stopping) Stored(ctx context.Context, table string, inputs []schema.Key) (*store.Snapshot, []store.Slice, error) {
	if err := s.step(); err != nil {
		return nil, nil, err
	}
	return s.Engine.(fileEngine).Stored(ctx, table, inputs)
}

func (s *stopping) Choose(ctx context.Context, inputs []schema.Key) error {
	if err := s.step(); err != nil {
		return err
	}
	return s.Engine.Choose(ctx, inputs)
}

// A log of the following night is added to the results: no row of the nights before is rewritten. All nights are compared with
// a log from before the first night, so they are then rewritten.
func TestWritesOnlyWhatIsNew(t *testing.T) {
	n := newNight(t)
	ingest := func(input schema.Key, day float64) {
		m := newMade()
		p := m.phase(10, 11, 12, 13)
		m.Phases[p-1].Name, m.Applications[0].Name, m.Applications[0].StartTime = schema.Some("join"), schema.Some("nightly"), schema.Some(origin.Add(86400*day))
		n.ingest(t, map[schema.Key]*schema.Trace{input: owned(input, &m.Trace)})
	}
	for i := range schema.Key(5) {
		ingest(i+1, float64(i))
	}
	runStore(t, n.Store, Options{})
	for _, c := range []struct {
		day  float64
		rows int64
	}{{9, 1}, {-1, 7}, {8, 2}} {
		ingest(schema.Key(10+c.day), c.day)
		d := runStore(t, n.Store, Options{})
		last, err := n.Result(t.Context(), store.Detect)
		if err != nil {
			t.Fatal(err)
		}
		if rows := last.Rows(); rows["stage_history"] != c.rows || rows["phase_stats"] != c.rows || len(last.Saw) != int(c.rows) || d.summary.Inputs != 1 {
			t.Errorf("of a log of day %v it wrote %v, and saw %d inputs, of which %d new; want %d, 1", c.day, rows, len(last.Saw), d.summary.Inputs, c.rows)
		}
	}
}

// narrowed runs detect for one application: its results for that application are those of a full run, except for the history,
// and rows about others are kept.
func (n *night) narrowed(t *testing.T, r *rand.Rand, what string) {
	for input := range schema.Key(7) {
		if n.Shown[input] == nil || r.IntN(2) == 0 {
			continue
		}
		before, err := n.Result(t.Context(), store.Detect)
		if err != nil {
			t.Fatal(err)
		}
		eng, err := engines.Open(t.Context(), n.Store, engine.Options{Threads: 2, MemoryBytes: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		defer eng.Close()
		old := enginetest.ReadAll[schema.PhaseStats](t, eng, "SELECT * FROM phase_stats")
		s, err := Run(t.Context(), n.Store, eng, Options{Applications: selection.Applications{Named: appOf(input)}})
		if errors.Is(err, ErrReplaces) && before != nil {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := len(n.Shown[input].Phases); s.Phases != int64(want) {
			t.Errorf("after %s the application has %d phases, want %d", what, s.Phases, want)
		}
		now := enginetest.ReadAll[schema.PhaseStats](t, eng, "SELECT * FROM phase_stats")
		for i := range old {
			owner, _ := store.OwnersOf(n.inputs(t)).Of("phases", old[i].PhaseID)
			if tr := n.Shown[owner]; owner == input || tr == nil || n.changed[owner] {
				continue
			}
			if !slices.Contains(now, old[i]) {
				t.Errorf("after %s a run for another application lost %+v", what, old[i])
			}
		}
		return
	}
}

func (n *night) inputs(t *testing.T) []store.InputRecord {
	in, err := n.Inputs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// change changes the store and describes how.
func (n *night) change(t *testing.T, r *rand.Rand) string {
	input := schema.Key(1 + r.IntN(6))
	switch op := r.IntN(8); {
	case op < 5 || len(n.Shown) == 0:
		logs := map[schema.Key]*schema.Trace{}
		for range 1 + r.IntN(3) {
			k := schema.Key(1 + r.IntN(6))
			logs[k] = execution(k, r, 1+r.IntN(8))
		}
		n.ingest(t, logs)
		return fmt.Sprint("ingest of ", len(logs))
	case op == 5 && n.Shown[input] != nil:
		n.Retire(t, input)
		return "a removal"
	case op == 6:
		if _, err := n.Compact(t.Context(), "test"); err != nil {
			t.Fatal(err)
		}
		return "a compaction"
	}
	return "nothing"
}

// Only new inputs are processed: the rows of earlier results are in the files of earlier commits.
func TestKeepsEarlierResults(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 32))
	n := newNight(t)
	first := owned(1, random(r, 20))
	n.ingest(t, map[schema.Key]*schema.Trace{1: first})
	if d := runStore(t, n.Store, Options{}); d.summary.Kept || d.summary.Inputs != 1 {
		t.Errorf("the first run says %+v", d.summary)
	}
	n.ingest(t, map[schema.Key]*schema.Trace{2: owned(2, random(r, 5))})
	if d := runStore(t, n.Store, Options{}); !d.summary.Kept || d.summary.Inputs != 1 || d.summary.Phases != 25 {
		t.Errorf("the second run says %+v", d.summary)
	}
	last, err := n.Result(t.Context(), store.Detect)
	if err != nil || last.Rows()["phase_stats"] != 5 || len(last.Saw) != 1 || len(last.Kept) != 1 {
		t.Errorf("the second run committed %+v, %v", last, err)
	}
	// With nothing new there is nothing to commit; with another version of straggler, or on request, everything is.
	if d := runStore(t, n.Store, Options{}); !d.summary.Kept || d.summary.Inputs != 0 {
		t.Errorf("a third run says %+v", d.summary)
	}
	if c, err := n.Result(t.Context(), store.Detect); err != nil || c.Sequence != last.Sequence {
		t.Errorf("a run of nothing committed %+v, %v", c, err)
	}
	// The same log, read again with the same content, may have been read differently.
	n.Read = 0
	n.ingest(t, map[schema.Key]*schema.Trace{1: first})
	if d := runStore(t, n.Store, Options{}); d.summary.Inputs != 1 {
		t.Errorf("of a log that was read again it says %+v", d.summary)
	}
	for _, o := range []Options{{Again: true}, {Tool: "another"}} {
		if d := runStore(t, n.Store, o); d.summary.Kept || d.summary.Inputs != 2 {
			t.Errorf("%+v says %+v", o, d.summary)
		}
		if d := runStore(t, n.Store, Options{Tool: o.Tool}); !d.summary.Kept || d.summary.Inputs != 0 {
			t.Errorf("after %+v a run says %+v", o, d.summary)
		}
	}
}

// Attempts of another input's phase: no input can be processed separately, and nothing is missed.
func TestSharedPhases(t *testing.T) {
	n := newNight(t)
	first := newMade()
	p := first.phase(10, 10, 10)
	n.ingest(t, map[schema.Key]*schema.Trace{1: owned(1, &first.Trace)})
	runStore(t, n.Store, Options{})
	more := owned(1, &newMade().Trace)
	more.Applications, more.Jobs = nil, nil
	for i := range 2 {
		a := first.Attempts[0]
		a.AttemptID, a.Task = schema.NewKeys(2, "attempts").Nth(int64(i)), int64(3+i)
		a.DurationS, a.FinishTime = schema.Some(100.), schema.Some(origin.Add(100))
		more.Attempts = append(more.Attempts, a)
	}
	n.ingest(t, map[schema.Key]*schema.Trace{2: more})
	for range 2 {
		d := runStore(t, n.Store, Options{})
		if s := d.of(t, schema.NewKeys(1, "phases").Nth(p)); s.Attempts != 5 || d.summary.Kept {
			t.Errorf("%+v, %+v", s, d.summary)
		}
	}
}

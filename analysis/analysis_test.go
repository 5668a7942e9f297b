package analysis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/report"
	"straggler/schema"
	"straggler/selection"
	"straggler/store"
	"straggler/whatif"
)

// Stages run once for a state of the logs and a version, and again when either changes; the report is of all of them.
func TestUpdate(t *testing.T) {
	ctx := t.Context()
	st, err := store.Temp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	commit(t, st, 1)
	eng, err := engines.Open(ctx, st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	ran := func(tool string) (stages []string) {
		t.Helper()
		_, err := Update(ctx, st, eng, Options{Tool: tool, Step: func(what string) func() { return func() { stages = append(stages, what) } }})
		if err != nil {
			t.Fatal(err)
		}
		return stages
	}
	all := []string{"finding outliers", "finding causes", "reading plans", "replaying policies"}
	if got := ran("1"); !slices.Equal(got, all) {
		t.Errorf("a new store: %q", got)
	}
	if got := ran("1"); len(got) != 0 {
		t.Errorf("nothing changed: %q", got)
	}
	if got := ran("2"); !slices.Equal(got, all) {
		t.Errorf("another version: %q", got)
	}
	commit(t, st, 2)
	var explained []string
	if _, err := Update(ctx, st, eng, Options{Tool: "2", Explain: true,
		Step: func(what string) func() { return func() { explained = append(explained, what) } }}); err != nil || !slices.Equal(explained, all[:3]) {
		t.Errorf("more logs, without replays: %q, %v", explained, err)
	}
	one, err := Report(ctx, st, eng, nil, report.Options{Apps: selection.Applications{Named: "app2"}})
	if err != nil || one.Trust.Counts.Applications != 1 || len(one.Whatif.Savings.Rows) == 0 || one.Whatif.Savings.SQL != "" {
		t.Errorf("a report of one application: %v: %+v, %d savings", err, one.Trust.Counts, len(one.Whatif.Savings.Rows))
	}
	if got := ran("2"); !slices.Equal(got, all[3:]) {
		t.Errorf("after the report of one application: %q", got)
	}
	found, err := st.Result(ctx, store.Detect)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Remove(ctx, found.ID, "2"); err != nil {
		t.Fatal(err)
	}
	if got := ran("2"); !slices.Equal(got, all) {
		t.Errorf("outliers detected again, with causes of earlier ones: %q", got)
	}
	d, err := Report(ctx, st, eng, nil, report.Options{})
	if err != nil || d.Trust.Counts.Applications != 2 || d.Outliers.Total == 0 || len(d.Whatif.Savings.Rows) == 0 || len(d.Papers) == 0 {
		t.Errorf("%v: %+v, %d outliers, %d savings, %d figures", err, d.Trust.Counts, d.Outliers.Total, len(d.Whatif.Savings.Rows), len(d.Papers))
	}
}

// A store to which another process writes between two steps: the steps run again on what is there then.
func TestOpenChangedStore(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	st, err := store.Open(ctx, dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	commit(t, st, 1)
	written := schema.Key(1)
	step := func(what string) func() {
		if what != "finding causes" || written == 3 {
			return func() {}
		}
		written++
		commitTo(t, dir, written)
		return func() {}
	}
	opened := 0
	open := func() (engine.Engine, error) {
		opened++
		return engines.Open(ctx, st, engine.Options{})
	}
	eng, _, err := Open(ctx, st, open, Options{Tool: "1", Step: step})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	d, err := Report(ctx, st, eng, nil, report.Options{})
	if err != nil || d.Trust.Counts.Applications != 3 || opened != 3 {
		t.Errorf("%v: %d applications, opened %d times", err, d.Trust.Counts.Applications, opened)
	}
}

// A store that changes whenever its logs are analysed is reported as of an earlier state in the end.
func TestOpenEverChangingStore(t *testing.T) {
	for _, during := range []string{"finding outliers", "finding causes", "replaying policies"} {
		t.Run(during, func(t *testing.T) {
			dir := t.TempDir()
			st, err := store.Open(t.Context(), dir, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { st.Close() })
			commit(t, st, 1)
			written, opened := schema.Key(1), 0
			step := func(what string) func() {
				return func() {
					if what == during {
						written++
						commitTo(t, dir, written)
					}
				}
			}
			open := func() (engine.Engine, error) {
				opened++
				return engines.Open(t.Context(), st, engine.Options{})
			}
			eng, _, err := Open(t.Context(), st, open, Options{Tool: "1", Step: step})
			if err != nil || opened != mostOpened {
				t.Fatalf("opened %d times: %v", opened, err)
			}
			t.Cleanup(func() { eng.Close() })
			if d, err := Report(t.Context(), st, eng, nil, report.Options{}); err != nil || len(d.Whatif.Savings.Rows) == 0 {
				t.Errorf("%v: %d savings", err, len(d.Whatif.Savings.Rows))
			}
		})
	}
}

// broken is an engine of which every statement fails, with a text as copies on a cluster report it.
type broken struct {
	engine.Engine
	closed int
}

var errBroken = errors.New("a copy on the cluster failed")

func (*broken) Query(context.Context, string) (*engine.Rows, error) { return nil, errBroken }
func (*broken) Materialize(context.Context, string, string) error   { return errBroken }
func (*broken) Drop(context.Context, string) error                  { return errBroken }
func (*broken) Choose(context.Context, []schema.Key) error          { return errBroken }
func (b *broken) Close() error                                      { b.closed++; return b.Engine.Close() }

// Open closes an engine whose analysis failed or panicked. It tries again only if the store was changed meanwhile.
func TestOpenFails(t *testing.T) {
	for name, c := range map[string]struct {
		step   func(t *testing.T, dir string)
		opened int
		failed string
	}{
		"failed":   {func(*testing.T, string) {}, 1, errBroken.Error()},
		"changed":  {func(t *testing.T, dir string) { commitTo(t, dir, 2) }, 2, ""},
		"panicked": {func(*testing.T, string) { panic("in a step") }, 1, "in a step"},
	} {
		dir := t.TempDir()
		commitTo(t, dir, 1)
		st, err := store.Open(t.Context(), dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		first, opened := &broken{}, 0
		open := func() (engine.Engine, error) {
			eng, err := engines.Open(t.Context(), st, engine.Options{})
			if opened++; opened > 1 || err != nil {
				return eng, err
			}
			first.Engine = eng
			return first, nil
		}
		stepped := false
		eng, _, err := recovered(func() (engine.Engine, *whatif.Summary, error) {
			return Open(t.Context(), st, open, Options{Tool: "1", Step: func(string) func() {
				if !stepped {
					stepped = true
					c.step(t, dir)
				}
				return func() {}
			}})
		})
		if opened != c.opened || first.closed != 1 || (err == nil) != (c.failed == "") || err != nil && !strings.Contains(err.Error(), c.failed) {
			t.Errorf("%s: opened %d times, closed %d times: %v", name, opened, first.closed, err)
		}
		if eng != nil {
			if err := eng.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An engine that could not be opened while the store was changed is opened again; else the error is returned at once.
func TestOpenAgain(t *testing.T) {
	for changed, want := range map[bool]int{true: 2, false: 1} {
		dir := t.TempDir()
		commitTo(t, dir, 1)
		st, err := store.Open(t.Context(), dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		opened := 0
		eng, _, err := Open(t.Context(), st, func() (engine.Engine, error) {
			if opened++; opened > 1 {
				return engines.Open(t.Context(), st, engine.Options{})
			}
			if changed {
				commitTo(t, dir, 2)
			}
			return nil, errBroken
		}, Options{Tool: "1"})
		if opened != want || changed && err != nil || !changed && !errors.Is(err, errBroken) {
			t.Errorf("changed %v: opened %d times, %v", changed, opened, err)
		}
		if eng != nil {
			if err := eng.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}

// recovered returns a panic as an error.
func recovered(do func() (engine.Engine, *whatif.Summary, error)) (eng engine.Engine, s *whatif.Summary, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return do()
}

// commitTo is commit to the store in a directory, as by another process.
func commitTo(t *testing.T, dir string, key schema.Key) {
	t.Helper()
	st, err := store.Open(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	commit(t, st, key)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// commit adds an application whose last task is slow.
func commit(t *testing.T, st *store.Store, key schema.Key) {
	t.Helper()
	const start = schema.Time(1_700_000_000_000_000)
	end := start.Add(60)
	tx, err := st.Begin(t.Context(), store.Origin{Kind: store.Log})
	if err != nil {
		t.Fatal(err)
	}
	var tr schema.Trace
	tr.Applications = []schema.Application{{ApplicationID: key, NativeID: fmt.Sprint("app", key), Framework: "spark",
		Status: schema.RunSucceeded, Complete: true, TimeOrigin: "epoch"}}
	tr.Jobs = []schema.Job{{JobID: key, ApplicationID: key, NativeID: "0", SubmitTime: schema.Some(start),
		StartTime: schema.Some(start), FinishTime: schema.Some(end), Status: schema.RunSucceeded}}
	tr.Phases = []schema.Phase{{PhaseID: key, JobID: key, NativeID: "0", Kind: "map", StartTime: schema.Some(start),
		FinishTime: schema.Some(end), Status: schema.RunSucceeded}}
	for i := range int64(12) {
		took := 10.0
		if i == 11 {
			took = 60
		}
		tr.Attempts = append(tr.Attempts, schema.Attempt{AttemptID: 100*key + schema.Key(i), PhaseID: key, JobID: key,
			ApplicationID: key, Task: i, NativeID: "0", Machine: schema.Some("m"),
			StartTime: schema.Some(start), FinishTime: schema.Some(start.Add(took)), DurationS: schema.Some(took), Status: schema.Success})
	}
	name := fmt.Sprint("made", key)
	input := tx.Input(store.InputRecord{Name: name, Key: store.KeyText(key), Fingerprint: name})
	if input != nil {
		t.Fatal(input)
	}
	for b := range tr.Batches() {
		if err := tx.Append(key, b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

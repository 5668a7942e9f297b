package whatif

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"straggler/causes"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/causes/wire"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/copies"
	"straggler/engine/copies/copiestest"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/selection"
	"straggler/store"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/schedule"
)

// What copies replay on a cluster is what one process replays, to the last bit and in the same order: policies with options and
// errors, ideals that need the causes, another scheduler.
func TestCopiesReplayTheSame(t *testing.T) {
	st, eng := storeOf(t, labelled(t, "transient"), labelled(t, "mixed"), labelled(t, "gc"))
	for _, err := range []error{second(detect.Run(t.Context(), st, eng, detect.Options{})), second(causes.Run(t.Context(), st, eng, causes.Options{}))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	chosen, err := policy.Choose([]string{"late", "spark", "mantri", "no-gc", "noskew"}, []string{"late.cap=0.2"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	fair, err := schedule.Choose([]string{"delay t1=2 t2=0"})
	if err != nil {
		t.Fatal(err)
	}
	work := func(ctx context.Context, a copies.Assignment) error {
		return Copy(ctx, a, func(ctx context.Context, st *store.Store) (engine.Engine, error) {
			return engines.Open(ctx, st, engine.Options{Threads: 1})
		})
	}
	t.Setenv("STRAGGLER_CACHE", t.TempDir())
	bucket, err := store.Open(t.Context(), "file://"+st.Where(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	asBucket, err := engines.Open(t.Context(), bucket, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer asBucket.Close()
	for _, v := range []struct {
		name string
		st   *store.Store
		eng  engine.Engine
		o    Options
	}{
		{"in a directory", st, eng, Options{Policies: chosen, Seeds: 3}},
		{"under another scheduler", st, eng, Options{Policies: chosen[:1], Seeds: 2, Scheduler: fair[0]}},
		{"in a bucket", bucket, asBucket, Options{Policies: chosen[1:], Seeds: 2}},
	} {
		name, st, eng, o := v.name, v.st, v.eng, v.o
		cluster := &copiestest.Cluster{Engine: eng, T: t, Store: st, Work: work}
		want, wantSummary := replayedRows(t, st, eng, eng, o)
		got, summary := replayedRows(t, st, eng, cluster, o)
		if !slices.Equal(got, want) || len(want) < 20 {
			t.Errorf("%s: %d rows by copies and %d here, and not the same", name, len(got), len(want))
		}
		if !slices.Equal(cluster.Steps, []string{SurveyStep, ReplayStep}) {
			t.Errorf("%s: the copies did %v", name, cluster.Steps)
		}
		if said(&summary) != said(&wantSummary) {
			t.Errorf("%s: the summary by copies is\n%s\nand here\n%s", name, said(&summary), said(&wantSummary))
		}
	}
	split, err := schedule.Choose([]string{"copycompute"})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Policies: chosen, Seeds: 1, Scheduler: split[0]}
	surveyor := &copiestest.Cluster{Engine: eng, T: t, Store: st, Work: work}
	want, got := refusal(t, st, eng, o), refusal(t, st, surveyor, o)
	if !errors.Is(want, schedule.ErrLacks) || !errors.Is(got, schedule.ErrLacks) || got.Error() != want.Error() ||
		!slices.Equal(surveyor.Steps, []string{SurveyStep}) {
		t.Errorf("a scheduler that needs what no log says: by copies, which did %v, %v; here %v", surveyor.Steps, got, want)
	}
	own := &copiestest.Cluster{Engine: eng, T: t, Store: st}
	if rows, _ := replayedRows(t, st, eng, own, Options{Policies: []policy.Policy{policy.Own("mine",
		func() replay.Policy { return nil })}, Seeds: 1}); len(rows) == 0 || len(own.Steps) > 0 {
		t.Errorf("a policy of one's own, which no other machine has: %d rows, steps %v", len(rows), own.Steps)
	}
}

// A copy reads of the store what is of the applications of its batch, and machines of the whole cluster.
func TestCopiesReadTheirBatch(t *testing.T) {
	_, eng := storeOf(t, labelled(t, "transient"), labelled(t, "mixed"), labelled(t, "gc"))
	whole, err := newLoader(t.Context(), eng, selection.Applications{})
	if err != nil {
		t.Fatal(err)
	}
	whole.divide(1)
	jobs, phases, edges := 0, 0, 0
	for _, b := range whole.batches {
		own, err := newPoolLoader(t.Context(), eng, b.Applications)
		if err != nil {
			t.Fatal(err)
		}
		of := map[schema.Key]bool{}
		for _, j := range own.rows.Jobs {
			if of[j.JobID] = true; !slices.Contains(b.Applications, j.ApplicationID) {
				t.Errorf("job %d is of application %d, and the batch of %d", j.JobID, j.ApplicationID, b.Applications)
			}
		}
		for _, p := range own.rows.Phases {
			if !of[p.JobID] {
				t.Errorf("phase %d is of job %d, which is not of the batch", p.PhaseID, p.JobID)
			}
		}
		if len(own.rows.Applications) != len(b.Applications) || len(own.count) != len(b.Applications) {
			t.Errorf("%d applications and attempts of %d, want %d", len(own.rows.Applications), len(own.count), len(b.Applications))
		}
		jobs, phases, edges = jobs+len(own.rows.Jobs), phases+len(own.rows.Phases), edges+len(own.rows.Edges)
	}
	if r := whole.rows; len(whole.batches) != 3 || jobs != len(r.Jobs) || phases != len(r.Phases) || edges != len(r.Edges) || edges == 0 {
		t.Errorf("%d batches of %d jobs, %d phases, %d edges; the store has %d, %d, %d", len(whole.batches), jobs, phases, edges,
			len(r.Jobs), len(r.Phases), len(r.Edges))
	}
}

func second[S any](_ S, err error) error { return err }

// said is all that a summary says.
func said(s *Summary) string {
	out := fmt.Sprintf("%d jobs, %d attempts, %d seeds, %v %v, %+v", s.Jobs, s.Attempts, s.Seeds, s.ReplayErrorS, s.ReplayError, s.Notes)
	for i := range s.Results {
		r := &s.Results[i]
		out += fmt.Sprintf("\n%s %s %v: %+v %+v %d %v", r.Name, r.Changed(), r.Error, r.All, r.Small, r.Best, r.saved)
	}
	return out
}

// replayedRows replays a store a pool at a time and gives the rows that were committed.
func replayedRows(t *testing.T, st *store.Store, read, work engine.Engine, o Options) (rows []string, s Summary) {
	t.Helper()
	tx, err := st.Begin(t.Context(), store.Origin{Kind: store.Whatif})
	if err != nil {
		t.Fatal(err)
	}
	if s, err = replayed(t.Context(), work, o, true, 1, &writer{tx: tx, to: tx}); err == nil {
		_, err = tx.Commit(t.Context())
	}
	if err != nil {
		t.Fatal(errors.Join(err, tx.Abort()))
	}
	for _, r := range enginetest.ReadAll[schema.WhatifRun](t, read, "SELECT * FROM whatif_runs") {
		rows = append(rows, fmt.Sprintf("%+v", r))
	}
	for _, r := range enginetest.ReadAll[schema.WhatifSaving](t, read, "SELECT * FROM whatif_savings") {
		rows = append(rows, fmt.Sprintf("%+v", r))
	}
	return rows, s
}

// refusal is why a store is not replayed.
func refusal(t *testing.T, st *store.Store, work engine.Engine, o Options) error {
	t.Helper()
	tx, err := st.Begin(t.Context(), store.Origin{Kind: store.Whatif})
	if err != nil {
		t.Fatal(err)
	}
	_, err = replayed(t.Context(), work, o, true, 1, &writer{tx: tx, to: tx})
	if e := tx.Abort(); e != nil {
		t.Fatal(e)
	}
	return err
}

// A copy says what is wrong with its work.
func TestCopyRefuses(t *testing.T) {
	open := func(ctx context.Context, st *store.Store) (engine.Engine, error) {
		return engines.Open(ctx, st, engine.Options{})
	}
	a := copies.Assignment{Step: ReplayStep, Pieces: t.TempDir(), File: "nothere", In: strings.NewReader("0\n"), Out: io.Discard}
	if err := Copy(t.Context(), a, open); err == nil || !strings.Contains(err.Error(), "can the machine read the store") {
		t.Errorf("without its file: %v", err)
	}
	var b batchResults
	var s surveyed
	for _, m := range []wire.Message{&b, &s} {
		if err := wire.Decode([]byte{1, 2}, m); !errors.Is(err, wire.ErrMessage) {
			t.Errorf("half a message: %v", err)
		}
	}
	sums := model.NewStatistics()
	sums.CPU[7] = machines.SufficientStats{}
	if err := sums.Renumber(make([]int64, 7)); err == nil {
		t.Error("statistics of a machine that the message does not name are taken")
	}
}

package whatif

import (
	"errors"
	"slices"
	"testing"

	"straggler/schema"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// What a policy saves is unknown if the log lacks the starts or the ends of most attempts, whatever a replay of the others, and of
// what is assumed of them, gives.
func TestMostlyUntimed(t *testing.T) {
	policies, err := policy.Choose([]string{"noskew"}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		unended, unstarted int
		want               schema.SavingVerdict
	}{{0, 0, schema.Saves}, {20, 0, schema.Saves}, {21, 0, schema.CannotTell}, {40, 0, schema.CannotTell}, {0, 40, schema.Saves}, {0, 41, schema.CannotTell}} {
		c := &scenario.Cluster{Machines: scenario.Uniform(20, 2)}
		c.Jobs = []scenario.Job{{Phases: []scenario.Phase{{Kind: "map",
			Tasks: append(slices.Repeat([]scenario.Task{{Seconds: 20}}, 39), scenario.Task{Seconds: 2000})}}}}
		w := workload.Build(c.Rows())
		w.Notes.Unended, w.Notes.NoTimes = of.unended, of.unstarted
		s, err := Compare(t.Context(), w, Options{Policies: policies, Seeds: 2})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Results[0].Verdict(s.Uncertainty()); got != of.want {
			t.Errorf("of %d attempts and %d without a start %d have no end: %s, want %s (%+v)", s.Notes.Attempts, of.unstarted, of.unended,
				got, of.want, s.Results[0].All.Saving)
		}
	}
}

// A policy that changes nothing on a log without starts is not said to change nothing: nothing was replayed.
func TestNothingReplayed(t *testing.T) {
	if got := verdict(Interval{}, uncertainty(0, true), 0); got != schema.CannotTell {
		t.Errorf("got %s, want %s", got, schema.CannotTell)
	}
	if got := verdict(Interval{}, 0, 0); got != schema.Nothing {
		t.Errorf("got %s, want %s", got, schema.Nothing)
	}
}

// What a policy saves is unknown for a single job that lacks the starts or the ends of most attempts, too, and it has a row that
// says so even if its replay under the policy is the same; without a start at all, nothing of it was replayed and the saving is NULL.
func TestJobWithoutStarts(t *testing.T) {
	const unchanged = 20 // attempts of the second job that lack their start, of 40, at which its verdict is that nothing changes
	for _, unstarted := range []int{unchanged, unchanged + 1, 40} {
		c := &scenario.Cluster{Machines: scenario.Uniform(20, 2)}
		one := scenario.Phase{Kind: "map", Tasks: slices.Repeat([]scenario.Task{{Seconds: 20}}, 40)}
		c.Jobs = []scenario.Job{{Phases: []scenario.Phase{one}}, {Phases: []scenario.Phase{one}}}
		rows := c.Rows()
		last, left := rows.Jobs[1].JobID, unstarted
		for i := range rows.Attempts {
			if a := &rows.Attempts[i]; left > 0 && a.Phase == rows.Phases[1].PhaseID { // the only one of the job
				a.Start, left = workload.NoTime, left-1
			}
		}
		if left > 0 {
			t.Fatalf("%d attempts of the second job are missing", left)
		}
		var of savingsOf
		compared := newComparison(workload.Build(rows), Options{Policies: []policy.Policy{mustPolicy(t, "noskew")}, Seeds: 2})
		out := &writer{to: &of}
		err := compared.replayNone(t.Context())
		if err == nil {
			_, err = compared.replayed(t.Context(), out, func() {})
		}
		if err := errors.Join(err, out.flush()); err != nil {
			t.Fatal(err)
		}
		of = slices.DeleteFunc(of, func(row schema.WhatifSaving) bool { return row.JobID != schema.Some(last) })
		switch {
		case unstarted == unchanged:
			if len(of) > 0 {
				t.Errorf("%d of 40 attempts have no start: %+v", unstarted, of)
			}
		case len(of) != 1 || of[0].Verdict != schema.CannotTell || of[0].SavingS.OK != (unstarted < 40) || of[0].ThisRunLow.OK != (unstarted < 40):
			t.Errorf("%d of 40 attempts have no start: %+v", unstarted, of)
		}
	}
}

// savingsOf collects rows of whatif_savings.
type savingsOf []schema.WhatifSaving

func (s *savingsOf) Append(_ schema.Key, rows schema.Batch) error {
	if of, ok := schema.RowsOf[schema.WhatifSaving](rows); ok {
		*s = append(*s, of...)
	}
	return nil
}

// What a policy saves is unknown for a single job that lacks the ends of most attempts, too.
func TestMostlyUnendedJob(t *testing.T) {
	none, err := policy.ByName("none")
	if err != nil {
		t.Fatal(err)
	}
	c := &scenario.Cluster{Machines: scenario.Uniform(20, 2)}
	c.Jobs = []scenario.Job{{Phases: []scenario.Phase{{Kind: "map", Tasks: slices.Repeat([]scenario.Task{{Seconds: 20}}, 40)}}}}
	for unended, want := range map[int]schema.SavingVerdict{0: schema.Saves, 20: schema.Saves, 21: schema.CannotTell, 40: schema.CannotTell} {
		rows := c.Rows()
		for i := range rows.Attempts[:unended] {
			rows.Attempts[i].Ending = workload.Unended
		}
		p := workload.Build(rows).Pools[0]
		got := jobRow(Variant{Policy: none}, "", &JobSaving{Saving: Interval{10, 8, 12}, Copies: 1}, p, 0, &replay.JobOutcome{Took: p.Observed(0)}).Verdict
		if got != want {
			t.Errorf("%d of 40 tasks have no end: %s, want %s", unended, got, want)
		}
	}
}

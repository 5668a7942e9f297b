package whatif

import (
	"slices"
	"testing"

	"straggler/schema"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// What a policy saves cannot be told of a log that lacks the ends of most attempts, whatever a replay of what is assumed of
// them gives.
func TestMostlyUnended(t *testing.T) {
	policies, err := policy.Choose([]string{"noskew"}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for unended, want := range map[int]schema.SavingVerdict{0: schema.Saves, 20: schema.Saves, 21: schema.CannotTell, 40: schema.CannotTell} {
		c := &scenario.Cluster{Machines: scenario.Uniform(20, 2)}
		c.Jobs = []scenario.Job{{Phases: []scenario.Phase{{Kind: "map",
			Tasks: append(slices.Repeat([]scenario.Task{{Seconds: 20}}, 39), scenario.Task{Seconds: 2000})}}}}
		w := workload.Build(c.Rows())
		w.Notes.Unended = unended
		s, err := Compare(t.Context(), w, Options{Policies: policies, Seeds: 2})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Results[0].Verdict(s.Uncertainty()); got != want {
			t.Errorf("%d of %d attempts have no end: %s, want %s (%+v)", unended, s.Notes.Attempts, got, want, s.Results[0].All.Saving)
		}
	}
}

// The same holds of a single job.
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

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"straggler/report/prose"
	"straggler/schema"
)

// Whatif is what policies would have saved, where straggler whatif has replayed them.
type Whatif struct {
	Savings          List[Saving]         `col:"savings" doc:"over all jobs: policies by saving, then bounds"`
	ReplayErrorS     schema.Null[float64] `col:"replay_error_s" unit:"s" doc:"how far a replay of the unchanged log is from the observed job times"`
	ReplayErrorShare schema.Null[float64] `col:"replay_error_share" unit:"fraction"`
	Attempts         schema.Null[int64]   `col:"attempts" doc:"attempts replayed"`
	Notes            []string             `col:"notes" doc:"assumptions of the savings"`
	Before           *Timeline            `col:"before" doc:"one job as replayed, where Options.Replayed has it"`
	After            *Timeline            `col:"after" doc:"the same job under the policy"`
}

// Saving is what a policy would have saved over all jobs.
type Saving struct {
	SavingRow
	Ideal            bool                 `col:"ideal" doc:"a bound that no live scheduler reaches"`
	Does             string               `col:"does" doc:"what the policy does"`
	Settings         string               `col:"settings" doc:"its settings that differ from the defaults"`
	Seeds            int64                `col:"seeds"`
	Copies           schema.Null[float64] `col:"copies" doc:"mean over the seeds"`
	Wins             schema.Null[float64] `col:"wins" doc:"copies that finished first"`
	WastedSlotS      schema.Null[float64] `col:"wasted_slot_s" unit:"s"`
	MedianJobS       schema.Null[float64] `col:"median_job_s" unit:"s" doc:"median completion time with the policy"`
	MedianJobWasS    schema.Null[float64] `col:"median_job_was_s" unit:"s" doc:"and without"`
	SmallJobs        int64                `col:"small_jobs" doc:"jobs of at most ten tasks"`
	SmallSavingShare schema.Null[float64] `col:"small_saving_share" unit:"fraction" doc:"saving on those"`
}

// SavingRow is a row of savings.sql.
type SavingRow struct {
	Policy         string               `col:"policy"`
	Parameters     string               `col:"parameters" unit:"JSON"`
	SavingS        schema.Null[float64] `col:"saving_s" unit:"s"`
	SavingLow      schema.Null[float64] `col:"saving_low" unit:"s"`
	SavingHigh     schema.Null[float64] `col:"saving_high" unit:"s"`
	ThisRunLow     schema.Null[float64] `col:"this_run_low" unit:"s"`
	ThisRunHigh    schema.Null[float64] `col:"this_run_high" unit:"s"`
	SavingShare    schema.Null[float64] `col:"saving_share" unit:"fraction"`
	SlotTimeChange schema.Null[float64] `col:"slot_time_change" unit:"fraction"`
	Verdict        schema.SavingVerdict `col:"verdict"`
	Assumptions    string               `col:"assumptions" unit:"JSON"`
}

// whatif reads what policies would have saved.
func (b *builder) whatif() error {
	w := &b.doc.Whatif
	w.Savings.Note = "No policy was replayed: straggler whatif --store DIR does that."
	seen := map[string]bool{}
	add := func(r *SavingRow) error {
		s, a := newSaving(*r)
		w.Savings.Rows = append(w.Savings.Rows, s)
		if a.ReplayErrorS != nil {
			w.ReplayErrorS, w.ReplayErrorShare = nullable(a.ReplayErrorS), nullable(a.ReplayErrorShare)
		}
		if a.Attempts != nil {
			w.Attempts = schema.Some(*a.Attempts)
		}
		for _, n := range a.Notes {
			if !seen[n] && len(w.Notes) < 12 {
				seen[n] = true
				w.Notes = append(w.Notes, prose.Clean(n, prose.TextRunes))
			}
		}
		return nil
	}
	if b.o.Savings == nil {
		w.Savings.SQL = "SELECT * FROM whatif_savings WHERE job_id IS NULL ORDER BY saving_s DESC NULLS LAST"
		if err := read(b, "savings", add); err != nil {
			return err
		}
	}
	for i := range b.o.Savings {
		if err := add(&b.o.Savings[i]); err != nil {
			return err
		}
	}
	bounds := func(s Saving) int {
		if s.Ideal {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(w.Savings.Rows, func(a, b Saving) int {
		return cmp.Or(bounds(a)-bounds(b), -cmp.Compare(a.SavingS.V, b.SavingS.V))
	})
	w.Savings.Total = int64(len(w.Savings.Rows))
	return b.replayed()
}

// LessThanRunsDiffer reports whether the policy saves on the run of the log, by more than the replay is wrong, and another run
// with it may all the same be no shorter than this one.
func (s *Saving) LessThanRunsDiffer() bool {
	return !s.Ideal && s.Verdict != schema.CannotTell && s.ThisRunLow.OK && s.ThisRunLow.V > 0 && s.SavingLow.OK && s.SavingLow.V <= 0
}

// Outlook describes what a policy, which it calls by a name, would save on the run of the log and what to expect of another run, in
// two sentences, and a third where the two seem to disagree; "" if that is not known.
func (s *Saving) Outlook(policy string) string {
	if s.Ideal || !s.SavingS.OK || !s.ThisRunLow.OK || !s.SavingLow.OK {
		return ""
	}
	here := prose.Unless(s.ThisRunLow.V == s.ThisRunHigh.V, prose.After(", 95 % interval ", prose.Interval(s.ThisRunLow, s.ThisRunHigh, prose.Seconds)))
	words := fmt.Sprintf("On this run %s would have saved %s%s. Another run like it, with %s, would take %s than this one.",
		policy, prose.Seconds(s.SavingS.V), here, policy, between(s.SavingLow.V, s.SavingHigh.V))
	if s.LessThanRunsDiffer() {
		words += " Runs differ by themselves by more than is saved: a single run with " + policy + " may well be slower, and only several runs with and without will show the saving."
	}
	return words
}

// between describes how much less or more time a run takes, for an interval of savings.
func between(low, high float64) string {
	switch {
	case low == high && high < 0:
		return prose.Seconds(-high) + " more"
	case low == high:
		return prose.Seconds(high) + " less"
	case low >= 0:
		return fmt.Sprintf("%s to %s less", prose.Seconds(low), prose.Seconds(high))
	case high <= 0:
		return fmt.Sprintf("%s to %s more", prose.Seconds(-high), prose.Seconds(-low))
	}
	return fmt.Sprintf("from %s more to %s less", prose.Seconds(-low), prose.Seconds(high))
}

func newSaving(r SavingRow) (Saving, assumed) {
	var a assumed
	if json.Unmarshal([]byte(r.Assumptions), &a) != nil {
		a = assumed{}
	}
	s := Saving{SavingRow: r, Ideal: a.Ideal, Does: prose.Clean(a.Does, prose.TextRunes),
		Settings: prose.Clean(a.Settings, prose.TextRunes), Seeds: a.Seeds, Copies: nullable(a.All.Copies), Wins: nullable(a.All.Wins),
		WastedSlotS: nullable(a.All.WasteS), SmallJobs: a.Small.Jobs}
	s.Verdict = schema.SavingVerdict(prose.Clean(string(r.Verdict), 40))
	if s.Ideal && s.Verdict == schema.Saves {
		s.Verdict = "a bound"
	}
	if m := a.All.MedianS; len(m) == 2 {
		s.MedianJobWasS, s.MedianJobS = schema.Some(m[0]), schema.Some(m[1])
	}
	if a.Small.Jobs > 0 {
		s.SmallSavingShare = nullable(a.Small.Share)
	}
	return s, a
}

// nullable returns NULL for nil.
func nullable(p *float64) schema.Null[float64] {
	if p == nil || !prose.Finite(*p) {
		return schema.Null[float64]{}
	}
	return schema.Some(*p)
}

// assumed are the fields of whatif_savings.assumptions that a report uses; a missing field is zero.
type assumed struct {
	Ideal            bool         `json:"ideal"`
	Does             string       `json:"does"`
	Settings         string       `json:"settings"`
	Seeds            int64        `json:"seeds"`
	Attempts         *int64       `json:"attempts"`
	ReplayErrorS     *float64     `json:"replay_error_s"`
	ReplayErrorShare *float64     `json:"replay_error_share"`
	All              assumedGroup `json:"all"`
	Small            assumedGroup `json:"small"`
	Notes            []string     `json:"notes"`
}

type assumedGroup struct {
	Jobs    int64     `json:"jobs"`
	MedianS []float64 `json:"median_s"` // without and with the policy
	Share   *float64  `json:"saving_share"`
	Copies  *float64  `json:"copies"`
	Wins    *float64  `json:"wins"`
	WasteS  *float64  `json:"wasted_slot_s"`
}

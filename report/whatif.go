package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"straggler/schema"
)

// Replayed is one job as a replay of the log has it and as a policy would have it.
type Replayed struct {
	JobID         schema.Key
	Policy        string
	Before, After []ReplayedAttempt
}

// ReplayedAttempt is an attempt of a replay; times are seconds after the job was submitted.
type ReplayedAttempt struct {
	Phase        schema.Key
	Task         int64
	Machine      string
	Slot         int
	StartS, EndS float64
	Copy, Killed bool
}

// assumed is what report reads of whatif_savings.assumptions; what is not there stays at its zero.
type assumed struct {
	Verdict          string       `json:"verdict"`
	Ideal            bool         `json:"ideal"`
	Does             string       `json:"does"`
	Settings         string       `json:"settings"`
	Seeds            int64        `json:"seeds"`
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

// whatif reads what policies would have saved.
func (b *builder) whatif() error {
	w := &b.doc.Whatif
	w.Savings.SQL = "SELECT * FROM whatif_savings WHERE job_id IS NULL ORDER BY saving_s DESC NULLS LAST"
	w.Savings.Note = "No policy was replayed: straggler whatif --store DIR does that."
	seen := map[string]bool{}
	err := read(b, "savings", func(r *SavingRow) error {
		s, a := newSaving(*r)
		w.Savings.Rows = append(w.Savings.Rows, s)
		if a.ReplayErrorS != nil {
			w.ReplayErrorS, w.ReplayErrorShare = known0(a.ReplayErrorS), known0(a.ReplayErrorShare)
		}
		for _, n := range a.Notes {
			if !seen[n] && len(w.Notes) < 12 {
				seen[n] = true
				w.Notes = append(w.Notes, clean(n, textRunes))
			}
		}
		return nil
	})
	if err != nil {
		return err
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

func newSaving(r SavingRow) (Saving, assumed) {
	var a assumed
	if json.Unmarshal([]byte(r.Assumptions), &a) != nil {
		a = assumed{}
	}
	s := Saving{SavingRow: r, Verdict: clean(a.Verdict, 40), Ideal: a.Ideal, Does: clean(a.Does, textRunes), Settings: clean(a.Settings, textRunes), Seeds: a.Seeds, Copies: known0(a.All.Copies), Wins: known0(a.All.Wins),
		WastedSlotS: known0(a.All.WasteS), SmallJobs: a.Small.Jobs}
	if s.Ideal && s.Verdict == "saves" {
		s.Verdict = "a bound"
	}
	if m := a.All.MedianS; len(m) == 2 {
		s.MedianJobWasS, s.MedianJobS = schema.Some(m[0]), schema.Some(m[1])
	}
	if a.Small.Jobs > 0 {
		s.SmallSavingShare = known0(a.Small.Share)
	}
	return s, a
}

// known0 is a value that may be missing.
func known0(p *float64) schema.Null[float64] {
	if p == nil || !finite(*p) {
		return schema.Null[float64]{}
	}
	return schema.Some(*p)
}

// policyTitle names a policy with what tells its variants apart; of bounds, which nobody knows by name, it says what they do.
func policyTitle(s *Saving) (title, sub string) {
	var parts []string
	if s.Settings != "" {
		parts = append(parts, strings.ReplaceAll(s.Settings, "=", nbsp))
	}
	var p map[string]any
	if json.Unmarshal([]byte(s.Parameters), &p) == nil {
		if e, ok := p["progress_error"].(float64); ok && e > 0 {
			parts = append(parts, fmt.Sprintf("progress known to ± %g%s%%", 100*e, nbsp))
		}
	}
	if s.Ideal {
		parts = append(parts, cmp.Or(s.Does, "a bound that no live scheduler reaches"))
	}
	return clean(s.Policy, 40), strings.Join(parts, ", ")
}

// sparkSettings are the lines that turn on Spark's speculation as a replay had it; what it took from the log's version
// needs no line.
func (k *known) sparkSettings(s *Saving) []Setting {
	lines := []Setting{k.set("spark.speculation", "true")}
	var p map[string]any
	if json.Unmarshal([]byte(s.Parameters), &p) != nil {
		return lines
	}
	for _, o := range [...]struct{ option, setting string }{{"quantile", "spark.speculation.quantile"}, {"multiplier", "spark.speculation.multiplier"},
		{"min_task_runtime", "spark.speculation.minTaskRuntime"}, {"task_duration_threshold", "spark.speculation.task.duration.threshold"}} {
		v, ok := p[o.option].(float64)
		if !ok || v == 0 { // 0 is ours for 'not set': as a setting it would copy everything at once
			continue
		}
		text := fmt.Sprintf("%g", v)
		if strings.HasPrefix(o.option, "min_") || strings.HasPrefix(o.option, "task_") {
			text = fmt.Sprintf("%dms", int64(1000*v+0.5))
		}
		lines = append(lines, k.set(o.setting, text))
	}
	return lines
}

// replayed draws the job that the caller replayed.
func (b *builder) replayed() error {
	r := b.o.Replayed
	if r == nil || len(r.Before) == 0 || len(r.After) == 0 {
		return nil
	}
	names := map[schema.Key]string{}
	if err := b.pick("report_picked_phases", "phase_id", replayedPhases(r)); err != nil {
		return err
	}
	if err := read(b, "phases", func(p *PhaseRow) error {
		names[p.PhaseID] = phaseShort(p.NativeID, p.Attempt)
		return nil
	}); err != nil {
		return err
	}
	length := 0.0
	for _, a := range append(slices.Clone(r.Before), r.After...) {
		length = max(length, a.EndS)
	}
	policy := clean(r.Policy, textRunes)
	w := &b.doc.Whatif
	w.Before = drawReplayed("The job that gains most, replayed as it was", r.Before, length, names)
	w.After = drawReplayed("The same job under "+policy, r.After, length, names)
	return nil
}

func replayedPhases(r *Replayed) []schema.Key {
	var keys []schema.Key
	for _, list := range [][]ReplayedAttempt{r.Before, r.After} {
		for _, a := range list {
			if !slices.Contains(keys, a.Phase) && len(keys) < 200 {
				keys = append(keys, a.Phase)
			}
		}
	}
	return keys
}

// oneAfterTheOther are the attempts, each of which ends when the next one on its slot starts: logs write the end of an
// attempt some milliseconds after its slot is free, which would look like another slot.
func oneAfterTheOther(attempts []ReplayedAttempt) []ReplayedAttempt {
	sorted := slices.Clone(attempts)
	slices.SortStableFunc(sorted, func(a, b ReplayedAttempt) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.StartS, b.StartS))
	})
	for i := range sorted[:max(len(sorted)-1, 0)] {
		a, next := &sorted[i], &sorted[i+1]
		if a.Machine == next.Machine && a.Slot == next.Slot && next.StartS > a.StartS {
			a.EndS = min(a.EndS, next.StartS)
		}
	}
	return sorted
}

// drawReplayed makes a timeline of a replay: copies and what was killed are drawn one by one, as far as there is room.
func drawReplayed(title string, attempts []ReplayedAttempt, length float64, names map[schema.Key]string) *Timeline {
	sorted := oneAfterTheOther(attempts)
	slices.SortStableFunc(sorted, func(a, b ReplayedAttempt) int {
		return cmp.Or(compareNatural(a.Machine, b.Machine), cmp.Compare(a.StartS, b.StartS))
	})
	t := &Timeline{Title: title, LengthS: length, Attempts: int64(len(sorted)), Replayed: true}
	for i := range sorted {
		t.Copies += one(sorted[i].Copy)
		t.Killed += one(sorted[i].Killed)
	}
	d := drawing{t: t, pixel: length / timelinePixels, drawn: map[schema.Key]bool{}}
	for i, a := range sorted {
		status := schema.Success
		if a.Killed {
			status = schema.Killed
		}
		if a.Copy || a.Killed {
			t.Marks++
			d.drawn[schema.Key(i)] = len(d.drawn) < 300
		}
		d.add(&attemptRow{AttemptID: schema.Key(i), Machine: a.Machine, Task: a.Task, StartTime: schema.Time(0).Add(a.StartS), Status: status,
			FinishTime: schema.Some(schema.Time(0).Add(a.EndS)), Speculative: a.Copy, Phase: names[a.Phase]})
	}
	d.finish()
	for l := range t.Lanes {
		for m := range t.Lanes[l].Marks {
			t.Lanes[l].Marks[m].AttemptID = 0
		}
	}
	return t
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

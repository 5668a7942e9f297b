package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// policiesSection compares what policies would have saved, where they were replayed.
func policiesSection(d *report.Document) Section {
	s := Section{ID: "policies", Short: "Policies", Title: "What policies would have saved"}
	var replays Replays
	for _, t := range []*report.Timeline{d.Whatif.Before, d.Whatif.After} {
		if t != nil {
			replays = append(replays, t)
		}
	}
	if n := d.Whatif.Attempts; n.OK && n.V == 0 {
		why := "the log does not say when its tasks started"
		if d.Trust.Counts.Attempts == 0 {
			why = "no task attempt was read"
		}
		s.Blocks = []Block{Note("No job could be replayed: " + why + ".")}
		return s
	}
	table := savingsTable(d)
	replayed := len(d.Whatif.Savings.Rows) > 0 && d.Trust.Counts.Attempts > 0
	if len(table.Rows) == 0 && !replayed && len(replays) == 0 {
		return s
	}
	s.Blocks = []Block{Note(replayWords(d) + disagreement(d) + beyondLost(d)), table, replays}
	if len(d.Whatif.Notes) > 0 {
		s.Blocks = append(s.Blocks, Folded{Title: "What the replays assume", Blocks: []Block{List{Items: d.Whatif.Notes}}})
	}
	return s
}

func savingsTable(d *report.Document) Table {
	l := d.Whatif.Savings
	t := Table{ID: "savings", Caption: "Policies by what they would have saved, then bounds", More: l.More(), SQL: l.SQL,
		Empty: l.Note, Error: d.Whatif.ReplayErrorS.V,
		Columns: []Column{{Title: "Policy", Essential: true},
			{Title: "Saving", Doc: "job time saved over all jobs, mean over the seeds", Number: true, Essential: true},
			{Title: "On this run", Doc: "95 % interval for what it would have saved on the attempts and machines of this run: only the durations of copies and what the log leaves uncertain vary", Number: true, Essential: true},
			{Title: "On another run", Doc: "95 % interval for how much sooner another run like it, with the policy, would end than this one, which includes what runs differ by themselves", Number: true, Essential: true},
			{Title: "Interval", Picture: true, Doc: "the saving with its interval for another run; the shaded band is the error of the replay itself"},
			{Title: "Share", Doc: "of the replayed job time", Number: true, Essential: true},
			{Title: "Small jobs", Doc: "share saved of the time of jobs of at most ten tasks", Number: true},
			{Title: "Slot time", Doc: "change of the slot time used", Number: true, Essential: true},
			{Title: "Copies", Doc: "copies launched, and those that finished first, means over the seeds", Number: true}, {Title: "Verdict"}}}
	small := false
	var idle []string
	for i := range l.Rows {
		s := &l.Rows[i]
		title, sub := policyTitle(s)
		if s.Verdict == schema.Nothing {
			idle = append(idle, strings.TrimSpace(title+" "+prose.After("(", sub)+prose.Unless(sub == "", ")")))
			continue
		}
		small = small || s.SmallJobs > 0
		saving := figure(s.SavingS, prose.Seconds, "cannot tell")
		another := within(s, s.SavingLow, s.SavingHigh)
		copies := figure(s.Copies, func(v float64) string { return prose.Count(int64(v + 0.5)) }, "not counted")
		if s.Copies.V > 0 && s.Wins.OK {
			copies.Sub = prose.Count(int64(s.Wins.V+0.5)) + " won"
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: title, Sub: sub}, saving, within(s, s.ThisRunLow, s.ThisRunHigh),
			another, {Text: another.Text, Sort: saving.Sort, Saving: s},
			figure(s.SavingShare, prose.Percent, "cannot tell"),
			figure(s.SmallSavingShare, prose.Percent, "no small jobs"), figure(s.SlotTimeChange, prose.Percent, "cannot tell"),
			copies, text(string(s.Verdict))}})
	}
	if !small {
		t.Drop("Small jobs")
	}
	distinguish(t.Rows, 0)
	switch {
	case len(idle) > 0 && len(t.Rows) > 0:
		t.After = "Changed nothing here: " + prose.Join(idle) + "."
	case len(idle) > 0:
		t.Empty = "No policy changes anything here: not " + prose.Join(idle) + "."
	}
	return t
}

// within returns the cell of a saving's interval. A bound has no interval, and a policy without random numbers one of length 0.
func within(s *report.Saving, low, high schema.Null[float64]) Cell {
	switch span := prose.Interval(low, high, prose.Seconds); {
	case s.Ideal:
		return Cell{Text: prose.Dash, Note: "a bound is what would have been saved on this run, exactly"}
	case span != "":
		return Cell{Text: span}
	case low.OK && low == high:
		return Cell{Text: prose.Seconds(low.V)}
	}
	return Cell{Text: prose.Dash, Note: "not known: replayed under one seed, or by an earlier version"}
}

// policyTitle names a policy and what distinguishes its variants. The names of bounds are not well known: for those it says
// what they do.
func policyTitle(s *report.Saving) (title, sub string) {
	var parts []string
	if s.Settings != "" {
		parts = append(parts, strings.ReplaceAll(s.Settings, "=", prose.NBSP))
	}
	var p map[string]any
	if json.Unmarshal([]byte(s.Parameters), &p) == nil {
		if e, ok := p["progress_error"].(float64); ok && e > 0 {
			parts = append(parts, fmt.Sprintf("progress known to ± %g%s%%", 100*e, prose.NBSP))
		}
	}
	if s.Ideal {
		parts = append(parts, cmp.Or(s.Does, "a bound that no live scheduler reaches"))
	}
	return prose.Clean(s.Policy, 40), strings.Join(parts, ", ")
}

// distinguish marks the cells of a column whose text another row has too.
func distinguish(rows []Row, column int) {
	n := map[string]int{}
	for _, r := range rows {
		n[r.Cells[column].Text]++
	}
	for _, r := range rows {
		r.Cells[column].ShowSub = n[r.Cells[column].Text] > 1
	}
}

// replayWords describes how reliable the replays are.
func replayWords(d *report.Document) string {
	w := &d.Whatif
	s := "Every job was replayed under each policy with the same random numbers."
	switch {
	case !w.ReplayErrorS.OK:
		return s + " The log does not say how long its jobs took, so the replay cannot be checked."
	case w.ReplayErrorS.V < 0.0005:
		return s + " Replayed unchanged, the jobs take as long as in the log."
	}
	return s + fmt.Sprintf(" Replayed unchanged, the jobs take times that differ from the log's by %s (%s); smaller savings are within that error.", prose.Seconds(w.ReplayErrorS.V), prose.OrDash(w.ReplayErrorShare, prose.Percent))
}

// disagreement explains what it means that a policy saves time on this run, and may save none on another; "" if none does.
func disagreement(d *report.Document) string {
	for i := range d.Whatif.Savings.Rows {
		if s := &d.Whatif.Savings.Rows[i]; s.LessThanRunsDiffer() {
			return " " + s.Outlook(prose.Clean(s.Policy, 40))
		}
	}
	return ""
}

// beyondLost explains why a policy saves more time than stragglers cost, if one does; "" otherwise. The lost time covers phases
// of at least three tasks, and of these what exceeds the median; a replay moves and copies every task.
func beyondLost(d *report.Document) string {
	lost := d.Cost.Loss.LostS
	for i := range d.Whatif.Savings.Rows {
		if s := &d.Whatif.Savings.Rows[i]; lost.OK && !s.Ideal && s.SavingS.V > lost.V {
			return fmt.Sprintf(" A saving of more than the %s that stragglers cost comes from tasks that no rule calls slow, such as those of phases with fewer than three tasks; if its interval contains zero, it may be chance.", prose.Seconds(lost.V))
		}
	}
	return ""
}

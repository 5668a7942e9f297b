package view

import (
	"cmp"
	"fmt"
	"slices"

	"straggler/report"
	"straggler/report/prose"
)

// phasesSection compares the tasks of the phases that lost most.
func phasesSection(d *report.Document) Section {
	s := Section{ID: "worst-phases", Short: "Phases", Title: "The worst phases"}
	table, drawn := phasesTable(d), drawnPhases(d)
	note := phasesNote(d, drawn)
	switch {
	case drawn > 0:
		s.Blocks = []Block{Lead("Each dot is a task, placed by how long it took; tasks that any rule calls slow carry the letter and colour of their cause. The solid line is the median, the dashed one 1.5 × the median. A phase of many tasks shows bars instead of dots, their height by the square root of the number of tasks.")}
		if note != "" {
			s.Blocks = append(s.Blocks, Lead(note))
		}
		s.Blocks = append(s.Blocks, PhasePictures{Document: d}, Folded{Title: "The same as a table", Blocks: []Block{table}})
	case len(table.Rows) > 0:
		s.Blocks = []Block{Note(note), table}
	default:
		s.Blocks = []Block{table}
	}
	return s
}

func phasesTable(d *report.Document) Table {
	l := d.Phases
	t := Table{ID: "phases", Caption: "Phases, the one that cost its job most first", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []Column{{Title: "Phase", Essential: true}, {Title: "Job"}, {Title: "Tasks", Number: true},
			{Title: "Median", Number: true, Essential: true}, {Title: "Slowest", Number: true, Essential: true},
			{Title: "Slowdown", Doc: "median progress rate / slowest progress rate", Number: true},
			{Title: "Outliers", Doc: "tasks longer than 1.5 × the median", Number: true},
			{Title: "Phase lost", Doc: "how much earlier it would have ended had no task taken longer than the median or waited for the slot of a slow one", Number: true},
			{Title: "Cost its job", Doc: "how much later its job ended because of that; 0 off the critical path", Number: true, Essential: true}}}
	for _, p := range l.Rows {
		note := prose.Clean(p.Note.V, prose.TextRunes)
		slow := figure(p.SlowdownRatio, prose.Times, note)
		if p.SlowdownBasis.OK {
			slow.Sub = "by " + string(p.SlowdownBasis.V)
		}
		t.Rows = append(t.Rows, Row{App: prose.Name(p.Application), Causes: PartCauses(p.Parts), Cells: []Cell{
			{Text: report.PhaseTitle(p.NativeID, p.Attempt), Sub: prose.MaybeName(p.Name), Of: Ref{Kind: ToPhase, Key: p.PhaseID}},
			{Text: report.JobTitle(p.Job), Sub: report.AppOf(d, p.Application)}, number(p.Tasks),
			figure(p.MedianS, prose.Seconds, note), figure(p.MaxS, prose.Seconds, note), slow, nullNumber(p.Outliers, note),
			figure(p.EarlierS, prose.Seconds, note), costFigure(p.CostS, cmp.Or(note, "no statistics of the phase"))}})
	}
	distinguish(t.Rows, 1)
	return t
}

// drawnPhases counts the phases that are worth a picture.
func drawnPhases(d *report.Document) (n int64) {
	for i := range d.Phases.Rows {
		if LostAnything(&d.Phases.Rows[i]) {
			n++
		}
	}
	return n
}

// phasesNote says how many phases have no picture.
func phasesNote(d *report.Document, drawn int64) string {
	judged := slices.ContainsFunc(d.Phases.Rows, func(p report.Phase) bool { return p.LostS.OK })
	switch more := d.Phases.Total - drawn; {
	case !judged:
		return report.Uncosted(d)
	case drawn == 0:
		return "No phase lost any time."
	case more > 0:
		return fmt.Sprintf("%s of %s are drawn; the others lost less or nothing.", prose.Upper(prose.Count(drawn)),
			prose.Plural(d.Phases.Total, "phase", "phases"))
	}
	return ""
}

// LostAnything reports whether a phase is worth a picture.
func LostAnything(p *report.Phase) bool { return p.LostS.V > 0 || p.CostS.V > 0 }

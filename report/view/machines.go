package view

import (
	"fmt"

	"straggler/report"
	"straggler/report/prose"
)

// machinesSection compares the machines.
func machinesSection(d *report.Document) Section {
	return Section{ID: "health", Short: "Machines", Title: "Machines", Blocks: []Block{machinesTable(d), HeatMap{d}}}
}

func machinesTable(d *report.Document) Table {
	l := d.Machines.List
	t := Table{ID: "machines", Caption: "Machines, bad ones first", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []Column{{Title: "Machine", Essential: true}, {Title: "Verdict", Essential: true},
			{Title: "Factor", Doc: "time relative to prediction: 1 = like the others", Number: true, Essential: true},
			{Title: "95 % interval", Number: true, Essential: true},
			{Title: "Attempts", Doc: "attempts that it was judged by", Number: true}, {Title: "Phases", Doc: "phases of those attempts", Number: true},
			{Title: "Outliers", Doc: "share of its attempts that are outliers", Number: true}, {Title: "Outputs lost", Number: true},
			{Title: "Cost jobs", Doc: "part of the time that jobs lost because this machine is slow", Number: true, Essential: true},
			{Title: "Why", Doc: "why the verdict differs from what the factor and its interval alone say", Below: true}}}
	why := false
	for _, m := range l.Rows {
		verdict := Cell{Text: string(m.Verdict)}
		if m.Windows > 1 {
			verdict.Sub = fmt.Sprintf("in %s of %s windows", prose.Count(m.BadWindows), prose.Count(m.Windows))
			if m.Course.OK {
				verdict.Sub += ", " + prose.Clean(m.Course.V, 24)
			}
		}
		if m.Note.OK && report.BadVerdict(m.Verdict) {
			verdict.Note = prose.Clean(m.Note.V, prose.TextRunes)
			why = why || verdict.Note != ""
		}
		factor := figure(m.Factor, prose.Times, "too few attempts to say")
		span := Cell{Text: prose.Interval(m.FactorLow, m.FactorHigh, prose.Times), Sort: factor.Sort}
		if span.Text == "" {
			span = Cell{Text: prose.Dash, Note: "too few attempts to say"}
		}
		t.Rows = append(t.Rows, Row{Machine: prose.Name(m.Machine),
			Cells: []Cell{{Text: prose.Name(m.Machine), Sub: prose.MaybeName(m.Rack), Of: Ref{Kind: ToMachine, Name: m.Machine}}, verdict, factor, span,
				number(m.Attempts), number(m.Phases), figure(m.OutlierRate, prose.Percent, "not counted"), number(m.Losses),
				figure(m.CostS, prose.Seconds, "no phase statistics"), text(verdict.Note)}})
	}
	if !why {
		t.Drop("Why")
	}
	return t
}

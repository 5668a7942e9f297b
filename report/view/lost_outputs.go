package view

import (
	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// lostOutputsSection lists lost outputs and their recomputation.
func lostOutputsSection(d *report.Document) Section {
	s := Section{ID: "lost-outputs", Title: "Lost outputs"}
	if t := chainsTable(d); len(t.Rows) > 0 {
		s.Blocks = []Block{Lead("A lost output is recomputed; tasks that read it wait or fail until then."), t}
	}
	return s
}

func chainsTable(d *report.Document) Table {
	l := d.Chains
	t := Table{ID: "chains", Caption: "Lost outputs and their recomputation", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []Column{{Title: "Lost on", Essential: true},
			{Title: "Phase", Doc: "the phase that had written them", Essential: true}, {Title: "Application"},
			{Title: "Outputs", Number: true, Essential: true},
			{Title: "Noticed by", Doc: "attempts that failed to read them, and their phase", Essential: true},
			{Title: "Missing for", Doc: "from the first notice until the last output was recomputed; readers waited or ran again",
				Number: true, Essential: true},
			{Title: "Recomputed in", Doc: "time of the attempts that recomputed them, over all slots", Number: true, Essential: true}}}
	for i := range l.Rows {
		c := &l.Rows[i]
		by := Cell{Text: prose.Dash, Note: "the log does not say"}
		if c.MissedBy > 0 {
			by = Cell{Text: prose.Plural(c.MissedBy, "attempt", "attempts")}
			if c.Reader.OK {
				by.Sub = "of " + report.PhaseTitle(c.Reader.V, 0)
			}
			if m := prose.MaybeName(c.MissedOn); m != "" && c.MissedBy == 1 {
				by.Sub += " on " + m
			}
		}
		where := Cell{Text: prose.MaybeName(c.Machine)}
		if where.Text == "" {
			where = Cell{Text: prose.Dash, Note: "the log does not say"}
		}
		t.Rows = append(t.Rows, Row{App: prose.Name(c.Application), Machine: prose.MaybeName(c.Machine),
			Causes: []schema.Cause{schema.Recompute}, Cells: []Cell{where,
				{Text: report.PhaseTitle(c.Phase, c.Attempt), Sub: prose.MaybeName(c.Name)}, text(prose.Name(c.Application)), number(c.Outputs), by,
				figure(c.WaitedS(), prose.Seconds, "the log does not say when the loss began or ended"),
				figure(c.RedoneS, prose.Seconds, "none was recomputed in this log")}})
	}
	return t
}

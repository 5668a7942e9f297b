package view

import (
	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// lostOutputsSection lists the outputs that were lost and made again.
func lostOutputsSection(d *report.Document) Section {
	s := Section{ID: "lost-outputs", Title: "Lost outputs"}
	if t := chainsTable(d); len(t.Rows) > 0 {
		s.Blocks = []Block{Lead("A lost output is made again, and whoever reads it waits or fails until then."), t}
	}
	return s
}

func chainsTable(d *report.Document) Table {
	l := d.Chains
	t := Table{ID: "chains", Caption: "Outputs that were lost and made again", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []Column{{Title: "Lost on", Essential: true}, {Title: "Phase", Doc: "the phase that had made them", Essential: true}, {Title: "Application"},
			{Title: "Outputs", Number: true, Essential: true},
			{Title: "Noticed by", Doc: "attempts that failed to read them, and their phase", Essential: true},
			{Title: "Gone for", Doc: "from the first notice until the last output was there again: readers waited, or ran again", Number: true, Essential: true},
			{Title: "Made again in", Doc: "time of the attempts that made them again, over all slots", Number: true, Essential: true}}}
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
		t.Rows = append(t.Rows, Row{App: prose.Name(c.Application), Machine: prose.MaybeName(c.Machine), Causes: []schema.Cause{schema.Recompute}, Cells: []Cell{where,
			{Text: report.PhaseTitle(c.Phase, c.Attempt), Sub: prose.MaybeName(c.Name)}, text(prose.Name(c.Application)), number(c.Outputs), by,
			figure(c.WaitedS(), prose.Seconds, "the log lacks an end of it"), figure(c.RedoneS, prose.Seconds, "none was made again in this log")}})
	}
	return t
}

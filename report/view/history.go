package view

import (
	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// mostExplained is how many slow runs are explained.
const mostExplained = 3

// historySection compares the runs that were slow as a whole with earlier ones of their program.
func historySection(d *report.Document) Section {
	s := Section{ID: "history", Short: "Earlier runs", Title: "Compared with earlier runs"}
	if h := d.SlowHours; len(h.Rows) > 0 {
		list := List{Title: "Hours at which runs are slow"}
		for i := range h.Rows {
			list.Items = append(list.Items, prose.Name(h.Rows[i].Program)+": "+h.Rows[i].Words())
		}
		s.Blocks = []Block{list}
	}
	l := d.SlowRuns
	if len(l.Rows) == 0 {
		return s
	}
	t := Table{ID: "history", Caption: "Runs that took longer than usual, by the additional time", More: l.More(), SQL: l.SQL,
		Columns: []Column{{Title: "Run", Essential: true}, {Title: "Took", Number: true, Essential: true},
			{Title: "Usual", Doc: "median of the earlier runs of that program in the store", Number: true, Essential: true},
			{Title: "×", Number: true, Essential: true},
			{Title: "Scatter", Doc: "robust standard deviation over the earlier runs", Number: true},
			{Title: "Earlier runs", Doc: "that it is compared with", Number: true},
			{Title: "Slowest stage", Doc: "the one whose tasks took the most additional time", Essential: true}}}
	pictures := RunHistories{}
	for i := range l.Rows {
		r := &l.Rows[i]
		stage := Cell{Text: prose.Dash, Note: "in no stage did the median task take a fifth longer than usual"}
		if len(r.Stages) > 0 {
			g := &r.Stages[0]
			stage = Cell{Text: prose.Name(g.Stage), Sub: prose.Times(g.MedianS / g.UsualS)}
			if g.Stage == "" {
				stage.Text = prose.Name(g.Kind)
			}
		}
		t.Rows = append(t.Rows, Row{App: prose.Name(r.NativeID),
			Cells: []Cell{{Text: prose.Name(r.NativeID), Sub: prose.Name(r.Name)}, took(r.TookS), took(r.UsualS),
				figure(schema.Some(r.TookS/r.UsualS), prose.Times, ""), took(r.ScatterS), number(r.Runs), stage}})
		pictures = append(pictures, r)
	}
	s.Blocks = append([]Block{Lead("A stage whose tasks are all slow has no outlier, since its median is slow too. These runs are compared with the earlier runs of their program in the store."), pictures, t}, s.Blocks...)
	for _, r := range pictures[:min(len(pictures), mostExplained)] {
		s.Blocks = append(s.Blocks, List{Title: "Why " + prose.Name(r.NativeID) + " took longer", Items: r.Words})
	}
	return s
}

func took(s float64) Cell { return figure(schema.Some(s), prose.Seconds, "") }

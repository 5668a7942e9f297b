package view

import (
	"straggler/report"
)

// papersSection has the papers' figures on these logs, where the caller of report.Build gave any.
func papersSection(d *report.Document) Section {
	s := Section{ID: "papers", Title: "The papers’ figures, on these logs"}
	if len(d.Papers) > 0 {
		s.Blocks = []Block{PaperFigures(d.Papers)}
	}
	return s
}

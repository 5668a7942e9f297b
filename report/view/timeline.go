package view

import (
	"straggler/report"
)

// timelineSection shows what ran when on the slots of the machines.
func timelineSection(d *report.Document) Section {
	return Section{ID: "timeline", Short: "Timeline", Title: "Timeline", Blocks: []Block{Timelines(d.Timelines)}}
}

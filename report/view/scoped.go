package view

import (
	"straggler/report"
	"straggler/report/prose"
)

// ScopedSections returns the sections of a document on a job, a phase or an attempt, in reading order.
func ScopedSections(d *report.Document, scope report.Scope) []Section {
	var out []Section
	if scope.Attempt == 0 {
		out = append(out, scopedFacts(d))
	}
	phases := phasesSection(d)
	if scope.Phase != 0 || scope.Attempt != 0 {
		phases.Title = "Its tasks by duration"
		if scope.Attempt != 0 {
			phases.Title = "Among the tasks of its phase"
		}
	} else {
		phases.Title = "Its worst phases"
		out = append(out, timelineSection(d))
	}
	out = append(out, phases)
	if scope.Attempt == 0 && d.Trust.Counts.Outliers > 0 {
		out = append(out, outliersSection(d))
	}
	return out
}

func scopedFacts(d *report.Document) Section {
	c := d.Trust.Counts
	took := prose.Dash
	if c.StartTime.OK && c.FinishTime.OK {
		took = prose.Seconds(c.FinishTime.V.Sub(c.StartTime.V))
	}
	return Section{ID: "counts", Title: "What it consists of",
		Blocks: []Block{Facts{{"Took", took}, {"Phases", prose.Count(c.Phases)}, {"Attempts", prose.Count(c.Attempts)},
			{"Machines", prose.Count(c.Machines)}, {"Task time", prose.OrDash(c.TaskS, prose.Seconds)}, {"Outliers", prose.Count(c.Outliers)}}}}
}

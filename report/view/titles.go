package view

import (
	"strings"

	"straggler/report"
	"straggler/report/prose"
)

// Title returns what the report is about.
func Title(d *report.Document) string {
	apps := d.Trust.Applications
	switch {
	case apps.Total == 0:
		return "No application"
	case apps.Total == 1 && len(apps.Rows) == 1:
		a := apps.Rows[0]
		if n := prose.MaybeName(a.Name); n != "" && n != a.NativeID {
			return n + " (" + prose.Name(a.NativeID) + ")"
		}
		return prose.Name(a.NativeID)
	}
	return prose.Plural(apps.Total, "application", "applications")
}

// Span returns the frameworks of the applications and the time in which they ran.
func Span(d *report.Document) string {
	var parts []string
	seen := map[string]bool{}
	for _, a := range d.Trust.Applications.Rows {
		fw := prose.Clean(strings.TrimSpace(a.Framework+" "+a.FrameworkVersion.V), 40)
		if !seen[fw] && len(seen) < 3 {
			seen[fw] = true
			parts = append(parts, fw)
		}
	}
	c := d.Trust.Counts
	start, finish := c.StartTime, c.FinishTime // an application starts before its first attempt, and ends after its last
	if c.FirstStart.OK && (!start.OK || c.FirstStart.V < start.V) {
		start = c.FirstStart
	}
	if c.LastFinish.OK && (!finish.OK || c.LastFinish.V > finish.V) {
		finish = c.LastFinish
	}
	if start.OK && len(d.Trust.Applications.Rows) > 0 {
		span := prose.Instant(start.V, d.Trust.Applications.Rows[0].TimeOrigin)
		if finish.OK && finish.V >= start.V {
			span += ", for " + prose.Seconds(finish.V.Sub(start.V))
		}
		parts = append(parts, span)
	}
	return strings.Join(parts, " · ")
}

// QueryHelp describes how to run the queries of the report.
func QueryHelp(d *report.Document) string {
	if d.Store != "" {
		return "Queries run with: straggler sql --store " + shellWord(prose.Clean(d.Store, 200))
	}
	return "To run the queries, keep a store: straggler report LOG… --store DIR, then straggler sql --store DIR. The keys in them stay the same."
}

func shellWord(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool {
		return !(r == '/' || r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// Sources returns the number of logs that the report is made from, or the name if it is a single one.
func Sources(d *report.Document) string {
	apps := d.Trust.Applications
	if len(apps.Rows) == 1 && apps.Total == 1 {
		return prose.Name(apps.Rows[0].SourceFile)
	}
	return prose.Plural(apps.Total, "log", "logs")
}

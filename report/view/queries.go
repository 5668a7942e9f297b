package view

import (
	"strings"

	"straggler/report"
	"straggler/report/prose"
)

// QueryHelp says how to run the queries of the report.
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

func Sources(d *report.Document) string {
	apps := d.Trust.Applications
	if len(apps.Rows) == 1 && apps.Total == 1 {
		return prose.Name(apps.Rows[0].SourceFile)
	}
	return prose.Plural(apps.Total, "log", "logs")
}

package view

import (
	"fmt"
	"strings"

	"straggler/report"
	"straggler/report/prose"
)

// adviceSection lists what to do.
func adviceSection(d *report.Document) Section {
	return Section{ID: "todo", Short: "What to do", Title: "What to do", Blocks: []Block{Advice(d.Advice)}}
}

// GainText returns GainFigure with its interval.
func GainText(a *report.Advice) string {
	if span := prose.Interval(a.GainLow, a.GainHigh, prose.Seconds); span != "" && a.GainS.OK {
		return GainFigure(a) + " (" + span + ")"
	}
	return GainFigure(a)
}

// GainFigure returns what an advice would save; a gain without an interval is the most that it can.
func GainFigure(a *report.Advice) string {
	switch {
	case !a.GainS.OK:
		return ""
	case a.GainLow.OK && a.GainHigh.OK:
		return prose.Seconds(a.GainS.V)
	}
	return "up to " + prose.Seconds(a.GainS.V)
}

// SettingLines returns settings as lines of a configuration file, with their values in the log.
func SettingLines(settings []report.Setting) string {
	var b strings.Builder
	for _, s := range settings {
		if s.Line != "" {
			b.WriteString(prose.Clean(s.Line, prose.TextRunes) + "\n")
			continue
		}
		fmt.Fprintf(&b, "%s %s", prose.Clean(s.Name, prose.NameRunes), prose.Clean(s.Value, prose.NameRunes))
		if s.Current.OK {
			fmt.Fprintf(&b, "   # was %s", prose.Clean(s.Current.V, prose.NameRunes))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

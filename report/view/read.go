package view

import (
	"strconv"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// readSection shows what was read and how reliable it is.
func readSection(d *report.Document) Section {
	blocks := []Block{facts(d), applicationsTable(d)}
	blocks = ifAny(blocks, caveatsTable(d))
	blocks = ifAny(blocks, rejectsTable(d))
	if len(d.Trust.Assumptions) > 0 {
		blocks = append(blocks, List{Title: "What the figures assume", Items: d.Trust.Assumptions})
	}
	if t := ingestsTable(d); len(t.Rows) > 0 {
		blocks = append(blocks, Folded{Title: "Ingests", Blocks: []Block{t}})
	}
	return Section{ID: "read", Short: "Read", Title: "What was read, and how far to trust it", Blocks: blocks}
}

func facts(d *report.Document) Facts {
	c := d.Trust.Counts
	f := Facts{{"Jobs", prose.Count(c.Jobs)}, {"Phases", prose.Count(c.Phases)}, {"Attempts", prose.Count(c.Attempts)},
		{"Machines", prose.Count(c.Machines)}, {"Task time", prose.OrDash(c.TaskS, prose.Seconds)},
		{"Outliers", prose.Count(c.Outliers)}, {"Rejected", prose.Count(c.Rejects)}}
	if c.Applications != 1 {
		f = append(Facts{{"Applications", prose.Count(c.Applications)}}, f...)
	}
	if b := d.Trust.LogBytes; b.OK {
		f = append(f, Fact{"Log size", prose.Bytes(float64(b.V))})
	}
	return f
}

func applicationsTable(d *report.Document) Table {
	l := d.Trust.Applications
	t := Table{Aside: l.Total == 1, ID: "applications", Caption: "Applications by time lost", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []Column{{Title: "Application", Essential: true}, {Title: "Framework"},
			{Title: "Started"}, {Title: "Jobs", Number: true}, {Title: "Attempts", Number: true},
			{Title: "Job time", Doc: "completion times of its jobs, summed", Number: true, Essential: true},
			{Title: "Lost", Doc: "how much earlier its jobs would have ended had slow tasks taken their phase's median", Number: true, Essential: true},
			{Title: "Share", Doc: "lost / job time", Number: true, Essential: true},
			{Title: "Log", Doc: "whether the log covers the application from start to end"}}}
	for _, a := range l.Rows {
		whole := "complete"
		if !a.Complete {
			whole = "incomplete"
		}
		fw := prose.Clean(a.Framework, 24)
		if a.FrameworkVersion.OK {
			fw += " " + prose.Clean(a.FrameworkVersion.V, 24)
		}
		t.Rows = append(t.Rows, Row{App: prose.Name(a.NativeID), Causes: PartCauses(a.Loss.Parts), Cells: []Cell{
			{Text: prose.Name(a.NativeID), Sub: prose.MaybeName(a.Name), Of: Ref{Kind: ToApplication, Key: a.ApplicationID}}, text(fw),
			{Text: prose.OrDash(a.StartTime, func(s schema.Time) string { return prose.Instant(s, a.TimeOrigin) }),
				Sort: strconv.FormatInt(int64(a.StartTime.V), 10), Note: prose.Unless(a.StartTime.OK, "the log does not say")},
			number(a.Jobs), number(a.Attempts), figure(a.Loss.CompletionS, prose.Seconds, a.Loss.Note), figure(a.Loss.LostS, prose.Seconds, a.Loss.Note),
			figure(a.Loss.LostShare, prose.Percent, a.Loss.Note), {Text: whole, Sub: prose.Clean(a.SourceFile, prose.NameRunes)}}})
	}
	return t
}

func caveatsTable(d *report.Document) Table {
	l := d.Trust.Caveats
	t := Table{ID: "caveats", Caption: "Caveats about the logs", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []Column{{Title: "Caveat", Essential: true}, {Title: "Applications", Number: true},
			{Title: "Count", Doc: "rows or events concerned", Number: true}, {Title: "What it means", Essential: true}}}
	for _, c := range l.Rows {
		detail := prose.Clean(c.Detail, prose.TextRunes)
		if c.Applications > 1 && c.Count.OK {
			detail = "for example: " + detail
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(prose.Clean(c.Code, 40)), number(c.Applications),
			nullNumber(c.Count, "it concerns the whole log"), text(detail)}})
	}
	if d.Trust.Applications.Total == 1 {
		t.Drop("Applications")
	}
	return t
}

func rejectsTable(d *report.Document) Table {
	l := d.Trust.Rejects
	t := Table{ID: "rejects", Caption: "Records that could not be used", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []Column{{Title: "File", Essential: true}, {Title: "Line", Number: true, Essential: true},
			{Title: "Byte", Number: true}, {Title: "Reason", Essential: true}, {Title: "Sample"}}}
	for _, r := range l.Rows {
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(prose.Name(r.SourceFile)), nullNumber(r.Line, "the file has no lines"), number(r.ByteOffset),
			text(prose.Clean(r.Reason, prose.TextRunes)), text(prose.Clean(r.Sample, prose.NameRunes))}})
	}
	return t
}

func ingestsTable(d *report.Document) Table {
	l := d.Trust.Ingests
	t := Table{Aside: true, ID: "ingests", Caption: "Ingests", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []Column{{Title: "Ingest", Essential: true}, {Title: "Format", Essential: true}, {Title: "Files", Number: true},
			{Title: "Bytes", Number: true, Essential: true},
			{Title: "Records", Number: true, Essential: true}, {Title: "Rejects", Number: true, Essential: true}, {Title: "Version"}}}
	for _, i := range l.Rows {
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(prose.Clean(i.IngestID, 40)), text(prose.Clean(i.Format, 40)), number(i.Files),
			{Text: prose.Bytes(float64(i.Bytes)), Sort: strconv.FormatInt(i.Bytes, 10)}, number(i.RowsIn), number(i.Rejects),
			text(prose.Clean(i.ToolVersion, 24))}})
	}
	return t
}

// ifAny returns the blocks with a table that has rows.
func ifAny(blocks []Block, t Table) []Block {
	if len(t.Rows) == 0 {
		return blocks
	}
	return append(blocks, t)
}

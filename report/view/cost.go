package view

import (
	"strconv"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// costSection shows what stragglers cost, by cause and by job.
func costSection(d *report.Document) Section {
	return Section{ID: "cost", Short: "Cost", Title: "What stragglers cost", Blocks: []Block{
		Lead("Lost is how much earlier jobs would have ended had their slow tasks taken their phase’s median. It is divided among the causes; the parts sum to the whole."),
		causesTable(d), jobsTable(d)}}
}

func causesTable(d *report.Document) Table {
	t := Table{ID: "causes", Caption: "Causes, over all jobs", Empty: d.Outliers.Note,
		Columns: []Column{{Title: "Cause", Essential: true}, {Title: "Outliers", Doc: "attempts whose verdict it is", Number: true, Essential: true},
			{Title: "Job time lost", Doc: "its part of the time that jobs lost; the parts sum to the whole", Number: true, Essential: true},
			{Title: "Excess", Doc: "seconds beyond the median that it accounts for, over all slots, also where no job waited", Number: true, Essential: true},
			{Title: "Without it", Doc: "how much earlier jobs would have ended without it, replayed with tasks taking slots as these come free, so it may be more than the time lost; causes overlap, so these do not sum", Number: true}}}
	if d.Cost.TogetherS.OK {
		t.After = "Without any of them jobs would have ended " + prose.Seconds(d.Cost.TogetherS.V) +
			" earlier, replayed all at once; one by one they sum to " + prose.Seconds(sumOfCosts(d)) +
			": to less where one cause hides another, to more where several delay the same tasks."
	}
	for _, c := range d.Cost.Causes {
		// outliers had less of it than the median tasks
		if c.Outliers == 0 && c.SumS <= 0 && !(c.LostS.V > 0) && !(c.CostS.V > 0) {
			continue
		}
		replay := figure(c.CostS, prose.Seconds, "no replay of the jobs without this cause in the store")
		replay.Sub = prose.Interval(c.CostLow, c.CostHigh, prose.Seconds)
		info := report.InfoOf(c.Cause)
		title := Cell{Text: info.Title, Cause: c.Cause, Keyed: true, Sub: info.Doc}
		outliers := number(c.Outliers)
		excess := figure(schema.Some(c.SumS), prose.Seconds, "")
		if c.Cause == report.NotOutlier {
			outliers = Cell{Text: prose.Dash, Note: "none of these tasks is an outlier"}
			excess, replay.Note = outliers, "only causes of outliers can be removed from a replay"
		}
		t.Rows = append(t.Rows, Row{Causes: []schema.Cause{c.Cause}, Cells: []Cell{title, outliers,
			figure(c.LostS, prose.Seconds, "no phase statistics"), excess, replay}})
	}
	return t
}

func sumOfCosts(d *report.Document) (sum float64) {
	for _, c := range d.Cost.Causes {
		sum += c.CostS.V
	}
	return sum
}

func jobsTable(d *report.Document) Table {
	l := d.Cost.Jobs
	t := Table{ID: "jobs", Caption: "Jobs by time lost", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []Column{{Title: "Job", Essential: true}, {Title: "Application"}, {Title: "Tasks", Number: true},
			{Title: "Took", Doc: "submission to finish", Number: true, Essential: true},
			{Title: "Lost", Doc: "how much earlier it would have ended had slow tasks taken their phase's median", Number: true, Essential: true},
			{Title: "Share", Doc: "lost / took", Number: true, Essential: true},
			{Title: "By cause", Doc: "what the lost time went to; the bars of all jobs share one scale", Essential: true},
			{Title: "Outliers", Number: true}}}
	widest := 0.0
	for _, j := range l.Rows {
		widest = max(widest, j.Loss.LostS.Or(0))
	}
	for _, j := range l.Rows {
		t.Rows = append(t.Rows, Row{App: prose.Name(j.Application), Causes: PartCauses(j.Loss.Parts), Cells: []Cell{
			{Text: report.JobTitle(j.NativeID), Sub: prose.MaybeName(j.Name), Of: Ref{Kind: ToJob, Key: j.JobID}},
			text(prose.Name(j.Application)), number(j.Tasks),
			figure(j.Loss.CompletionS, prose.Seconds, j.Loss.Note), figure(j.Loss.LostS, prose.Seconds, j.Loss.Note),
			figure(j.Loss.LostShare, prose.Percent, j.Loss.Note),
			{Text: PartsText(j.Loss.Parts), Parts: j.Loss.Parts, Whole: widest, Sort: strconv.FormatFloat(j.Loss.LostS.V, 'g', 9, 64), Note: j.Loss.Note},
			number(j.Loss.Outliers)}})
	}
	if d.Trust.Applications.Total == 1 {
		t.Drop("Application")
	}
	return t
}

package view

import (
	"fmt"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// outliersSection lists the attempts that cost their jobs most, with the evidence for their causes.
func outliersSection(d *report.Document) Section {
	return Section{ID: "worst-tasks", Short: "Outliers", Title: "The worst outliers", Blocks: []Block{
		Lead("Ranked by the seconds they cost their job, not by how slow they were: most slow tasks delay no job. The ids are those of the framework’s own pages (task is partition.attempt)."),
		outliersTable(d)}}
}

func outliersTable(d *report.Document) Table {
	l := d.Outliers
	t := Table{ID: "outliers", Caption: "Outliers, the one that cost its job most first", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []Column{{Title: "#", Number: true},
			{Title: "Cost its job", Doc: "its share of the time that its job lost; the shares of all tasks sum to it", Number: true, Essential: true},
			{Title: "Took", Doc: "duration, and how many times its phase's median that is", Number: true, Essential: true},
			{Title: "Cause", Doc: "the verdict: where most of its excess went", Essential: true}, {Title: "Where", Essential: true},
			{Title: "Why", Essential: true, Below: true}}}
	for i, o := range l.Rows {
		took := figure(o.DurationS, prose.Seconds, "the log does not say when it ended")
		if o.Ratio.OK {
			took.Sub = prose.Times(o.Ratio.V) + " median"
		}
		cost := costFigure(o.CostS, unknownCost(&o))
		if o.CostS.OK && !o.Critical {
			cost.Note = "its phase is not on the job's critical path"
		}
		cause := Cell{Text: report.InfoOf(o.Cause).Title, Cause: o.Cause, Keyed: true}
		if o.Confidence.OK {
			cause.Sub = prose.Percent(o.Confidence.V) + " sure"
		}
		t.Rows = append(t.Rows, Row{ID: fmt.Sprintf("outlier-%d", i+1), App: prose.Name(o.Application),
			Machine: prose.MaybeName(o.Machine), Causes: []schema.Cause{o.Cause},
			Cells: []Cell{number(int64(i + 1)), cost, took, cause,
				{Text: where(&o), ShowSub: report.AppOf(d, o.Application) != "", Sub: strings.Join(prose.NonEmpty(prose.MaybeName(o.Machine), report.AppOf(d, o.Application)),
					" · "), Of: Ref{Kind: ToAttempt, Key: o.AttemptID}}, {Text: o.Words, Detail: evidence(&o)}}})
	}
	return t
}

// where returns the position of an attempt in the framework's own pages.
func where(o *report.Outlier) string {
	return fmt.Sprintf("%s, phase %s.%d, task %d.%d (id %s)", report.JobTitle(o.Job), prose.Name(o.Phase), o.PhaseAttempt, o.Task,
		o.Number, prose.Name(o.NativeID))
}

// unknownCost explains why the cost of an outlier to its job is unknown. It returns "" if it is known.
func unknownCost(o *report.Outlier) string {
	switch {
	case o.CostS.OK:
		return ""
	case !o.PhaseLostS.OK:
		return "its phase has too few tasks of known duration"
	}
	return "the log does not say when its phase ran"
}

// evidence returns the causes of an outlier's excess, with the query that shows it.
func evidence(o *report.Outlier) *Detail {
	d := &Detail{SQL: o.SQL}
	for _, a := range o.Causes {
		part := fmt.Sprintf("%s: %s of %s excess", report.InfoOf(a.Cause).Title, prose.Seconds(a.Seconds), prose.OrDash(o.ExcessS, prose.Seconds))
		if a.Words != "" {
			part += " (" + a.Words + ")"
		}
		d.Parts = append(d.Parts, part)
	}
	return d
}

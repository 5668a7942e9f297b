package view

import (
	"slices"
	"testing"

	"straggler/report"
)

// In a report on several applications rows say of which one they are, since ids of queries, jobs and phases recur. In a report on
// one of them no row does.
func TestRowsOfSeveralApplications(t *testing.T) {
	for total, several := range map[int64]bool{1: false, 2: true} {
		var d report.Document
		d.Trust.Applications.Total = total
		for _, app := range []string{"app-1", "app-2"}[:total] {
			q, p, o := report.Query{}, report.Phase{}, report.Outlier{}
			q.NativeID, q.Application = "2", app
			p.NativeID, p.Job, p.Application = "4", "0", app
			o.Application = app
			d.Queries.Rows, d.Phases.Rows, d.Outliers.Rows = append(d.Queries.Rows, q), append(d.Phases.Rows, p), append(d.Outliers.Rows, o)
		}
		queries := queriesTable(&d)
		column := slices.IndexFunc(queries.Columns, func(c Column) bool { return c.Title == "Application" })
		if (column >= 0) != several || several && queries.Rows[1].Cells[column].Text != "app-2" {
			t.Errorf("%d applications: queries %+v", total, queries)
		}
		if job := phasesTable(&d).Rows[0].Cells[1]; (job.ShowSub && job.Sub == "app-1") != several {
			t.Errorf("%d applications: the job of a phase is %+v", total, job)
		}
		if where := outliersTable(&d).Rows[0].Cells[4]; where.ShowSub != several {
			t.Errorf("%d applications: an outlier is at %+v", total, where)
		}
	}
}

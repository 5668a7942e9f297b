package html

import (
	"fmt"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
)

func outliersView(d *report.Document) tableView {
	v := newTable(view.OutliersTable(d))
	for i := range v.Rows {
		o := &d.Outliers.Rows[i]
		last := &v.Rows[i].Cells[len(v.Rows[i].Cells)-1]
		last.Class = "why"
		last.Detail = &detailView{SQL: o.SQL}
		for _, a := range o.Causes {
			last.Detail.Parts = append(last.Detail.Parts, fmt.Sprintf("%s: %s of %s excess%s", report.InfoOf(a.Cause).Title, prose.Seconds(a.Seconds), prose.OrDash(o.ExcessS, prose.Seconds), wordsAfter(a.Words)))
		}
	}
	return v
}

func wordsAfter(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

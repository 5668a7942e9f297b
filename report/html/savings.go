package html

import (
	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
)

// savingView is a saving with its interval on the scale of its table; positions are percent of the width.
type savingView struct {
	Title, Zero, Low, High, At, Class string
	Band                              *bandView // what the replay is wrong by
}

type bandView struct{ X, W string }

func savingsView(d *report.Document) tableView {
	t := view.SavingsTable(d)
	v := newTable(t)
	low, high := 0.0, 0.0
	for _, s := range d.Whatif.Savings.Rows {
		low, high = min(low, s.SavingLow.Or(s.SavingS.V)), max(high, s.SavingHigh.Or(s.SavingS.V))
	}
	wrong := d.Whatif.ReplayErrorS.V
	low, high = min(low, -wrong), max(high, wrong)
	if !(high > low) || !prose.Finite(high-low) {
		return v
	}
	x := func(s float64) string { return pct(100 * (s - low) / (high - low)) }
	for r := range v.Rows {
		for i, c := range t.Rows[r].Cells {
			if c.Saving == nil || !c.Saving.SavingS.OK {
				continue
			}
			s := &savingView{Zero: x(0), At: x(c.Saving.SavingS.V), Low: x(c.Saving.SavingLow.Or(c.Saving.SavingS.V)), High: x(c.Saving.SavingHigh.Or(c.Saving.SavingS.V)), Class: "fdot",
				Title: "saves " + prose.Seconds(c.Saving.SavingS.V) + prose.After(", 95 % interval ", prose.Interval(c.Saving.SavingLow, c.Saving.SavingHigh, prose.Seconds)) + "; the dashed line is 0"}
			if c.Saving.Ideal {
				s.Class = "fdot bound"
			}
			if wrong > 0 {
				s.Band = &bandView{x(-wrong), pct(200 * wrong / (high - low))}
			}
			v.Rows[r].Cells[i].Saving = s
		}
	}
	return v
}

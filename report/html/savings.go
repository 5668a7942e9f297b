package html

import (
	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
)

// savingView is a saving with its interval on the scale of its table; positions are percent of the width.
type savingView struct {
	Title, Zero, Low, High, At, Class string
	Band                              *bandView // the error of the replay
}

type bandView struct{ X, W string }

// savingScale maps the savings of a table, and the error of their replays, to percent of a width.
type savingScale struct{ low, high, wrong float64 }

// newSavingScale returns nil for a table without savings to draw.
func newSavingScale(t *view.Table) *savingScale {
	s := savingScale{low: -t.Error, high: t.Error, wrong: t.Error}
	for _, r := range t.Rows {
		for _, c := range r.Cells {
			if x := c.Saving; x != nil {
				s.low, s.high = min(s.low, x.SavingLow.Or(x.SavingS.V)), max(s.high, x.SavingHigh.Or(x.SavingS.V))
			}
		}
	}
	if !(s.high > s.low) || !prose.Finite(s.high-s.low) {
		return nil
	}
	return &s
}

func (s *savingScale) at(seconds float64) string {
	return pct(100 * (seconds - s.low) / (s.high - s.low))
}

// saving draws one saving; it is nil where that is unknown.
func (s *savingScale) saving(x *report.Saving) *savingView {
	if !x.SavingS.OK {
		return nil
	}
	v := &savingView{Zero: s.at(0), At: s.at(x.SavingS.V), Low: s.at(x.SavingLow.Or(x.SavingS.V)), High: s.at(x.SavingHigh.Or(x.SavingS.V)), Class: "fdot",
		Title: "saves " + prose.Seconds(x.SavingS.V) +
			prose.After(", another run with it ", prose.Interval(x.SavingLow, x.SavingHigh, prose.Seconds)) + "; the dashed line is 0"}
	if x.Ideal {
		v.Class = "fdot bound"
	}
	if s.wrong > 0 {
		v.Band = &bandView{s.at(-s.wrong), pct(200 * s.wrong / (s.high - s.low))}
	}
	return v
}

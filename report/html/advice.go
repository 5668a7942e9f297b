package html

import (
	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
)

// adviceView is an advice as the page shows it.
type adviceView struct {
	Title, Action, Settings, Evidence, SQL, Gain, Span, Basis, Confidence string
}

func adviceViews(d *report.Document) []adviceView {
	var views []adviceView
	for _, a := range d.Advice {
		v := adviceView{Title: a.Title, Action: a.Action, Settings: view.SettingLines(a.Settings), Evidence: a.Evidence, SQL: a.SQL, Gain: view.GainFigure(&a), Span: prose.Interval(a.GainLow, a.GainHigh, prose.Seconds), Basis: a.GainBasis}
		if a.Confidence != "" {
			v.Confidence = string(a.Confidence)
			if a.Reason != "" {
				v.Confidence += ": " + a.Reason
			}
		}
		views = append(views, v)
	}
	return views
}

func firstAdvice(d *report.Document) *firstView {
	if len(d.Advice) == 0 {
		return nil
	}
	a := &d.Advice[0]
	v := &firstView{Lead: "First:", Title: a.Title}
	if a.Kind == report.Act {
		v.Gain = view.GainText(a)
	} else {
		v.Lead = ""
	}
	return v
}

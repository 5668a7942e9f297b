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

func adviceViews(list view.Advice) []adviceView {
	var views []adviceView
	for _, a := range list {
		v := adviceView{Title: a.Title, Action: a.Action, Settings: view.SettingLines(a.Settings), Evidence: a.Evidence, SQL: a.SQL,
			Gain: view.GainFigure(&a), Span: prose.Interval(a.GainLow, a.GainHigh, prose.Seconds), Basis: a.GainBasis}
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

type firstView struct{ Lead, Title, Gain string }

// firstAdvice returns the advice that the summary names.
func firstAdvice(list []report.Advice) *firstView {
	if len(list) == 0 {
		return nil
	}
	a := &list[0]
	v := &firstView{Lead: "First:", Title: a.Title}
	if a.Kind == report.Act {
		v.Gain = view.GainText(a)
	} else {
		v.Lead = ""
	}
	return v
}

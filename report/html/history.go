package html

import (
	"fmt"
	"slices"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
)

// mostHistories is how many programs are drawn.
const mostHistories = 3

// historyViews draw how long the runs of each name took, in order of time.
func historyViews(runs view.RunHistories) []paperView {
	slow := map[schema.Key]bool{}
	for _, r := range runs {
		slow[r.ApplicationID] = true
	}
	var views []paperView
	drawn := map[string]bool{}
	for _, r := range runs {
		if drawn[r.Name] || len(views) == mostHistories {
			continue
		}
		drawn[r.Name] = true
		if v, ok := newHistoryView(r, slow); ok {
			v.ID = fmt.Sprintf("history-%d", len(views)+1)
			views = append(views, v)
		}
	}
	return views
}

// mostRunDots is how many runs are drawn: the last.
const mostRunDots = 120

// newHistoryView draws the runs around r, and of them those that are slow.
func newHistoryView(r *report.SlowRun, slow map[schema.Key]bool) (paperView, bool) {
	points := slices.DeleteFunc(slices.Clone(r.Points), func(p report.RunPoint) bool { return !(p.TookS > 0) || !prose.Finite(p.TookS) })
	at := slices.IndexFunc(points, func(p report.RunPoint) bool { return p.ApplicationID == r.ApplicationID })
	if at < 0 || len(points) < 2 {
		return paperView{}, false
	}
	from := max(0, min(len(points)-mostRunDots, at-mostRunDots/2))
	points = points[from:min(len(points), from+mostRunDots)]
	highest := r.UsualS
	for _, p := range points {
		highest = max(highest, p.TookS)
	}
	top, step := niceScale(highest)
	x := func(i int) string { return pct(100 * float64(i) / float64(len(points)-1)) }
	y := func(s float64) string { return fmt.Sprintf("%.1f", paperBottom-(paperBottom-paperTop)*min(s/top, 1)) }
	v := paperView{Title: fmt.Sprintf("How long runs of %s took, in order of time: %s took %s, usual is %s", prose.Name(r.Name),
		prose.Name(r.NativeID), prose.Seconds(r.TookS), prose.Seconds(r.UsualS))}
	for s := 0.0; s <= top*1.0001; s += step {
		v.YTicks = append(v.YTicks, tickView{X: y(s), Text: tick(s)})
	}
	runs, longer := paperLine{Class: "s-ink", Name: "runs"}, paperLine{Class: "s-bad_machine", Name: "took longer than usual"}
	usual := paperLine{Class: "s-unexplained", Name: "usual", Dash: "5 3", Segments: []paperSegment{{"0", y(r.UsualS), "100", y(r.UsualS)}}}
	for i, p := range points {
		when := ""
		if p.StartTime.OK {
			when = prose.Instant(p.StartTime.V, p.TimeOrigin) + ": "
		}
		d := paperDot{X: x(i), Y: y(p.TookS), Title: when + prose.Seconds(p.TookS)}
		if slow[p.ApplicationID] {
			longer.Dots = append(longer.Dots, d)
		} else {
			runs.Dots = append(runs.Dots, d)
		}
	}
	for _, i := range []int{0, len(points) - 1} {
		if p := points[i]; p.StartTime.OK {
			day, _, _ := strings.Cut(prose.Instant(p.StartTime.V, p.TimeOrigin), " ")
			if p.TimeOrigin == "trace" {
				day = ""
			}
			v.XTicks = append(v.XTicks, tickView{X: x(i), Text: day})
		}
	}
	v.Lines = []paperLine{usual, runs, longer}
	return v, true
}

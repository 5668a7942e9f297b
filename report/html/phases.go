package html

import (
	"fmt"
	"math"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
)

// phaseView is a phase with the picture of its spread.
type phaseView struct {
	App, Causes, Title, Href, Sub, Cost, Times, Tasks, Slowdown, Note string
	Spread                                                            *spreadView
}

func phaseViews(b view.PhasePictures) []phaseView {
	d := b.Document
	var views []phaseView
	for i := range d.Phases.Rows {
		p := &d.Phases.Rows[i]
		if !view.LostAnything(p) {
			continue
		}
		v := phaseView{App: prose.Name(p.Application), Causes: classes(view.PartCauses(p.Parts)), Title: report.PhaseTitle(p.NativeID, p.Attempt),
			Sub:   strings.Join(prose.NonEmpty(prose.MaybeName(p.Name), report.JobTitle(p.Job), report.AppOf(d, p.Application)), " · "),
			Cost:  prose.OrDash(p.CostS, prose.Seconds),
			Times: prose.OrDash(p.MedianS, prose.Seconds) + ", " + prose.OrDash(p.MaxS, prose.Seconds),
			Tasks: prose.Count(p.Tasks) + ", " + prose.OrDash(p.Outliers, prose.Count), Note: prose.Clean(p.Note.V, prose.TextRunes)}
		if parts := view.PartsText(p.Parts); parts != prose.Dash {
			v.Cost += " (" + parts + ")"
		}
		if !p.Critical {
			v.Cost += ": not on the job’s critical path"
			if p.EarlierS.V > 0 {
				v.Cost += ", lost " + prose.Seconds(p.EarlierS.V) + " itself"
			}
		}
		if p.MedianS.OK && p.MaxS.OK && p.MedianS.V > 0 {
			v.Times += " (" + prose.Times(p.MaxS.V/p.MedianS.V) + ")"
		}
		if p.SlowdownRatio.OK {
			v.Slowdown = prose.Times(p.SlowdownRatio.V) + " by " + string(p.SlowdownBasis.V)
		}
		if b.Link != nil {
			v.Href = b.Link(view.Ref{Kind: view.ToPhase, Key: p.PhaseID})
		}
		v.Spread = newSpread(fmt.Sprintf("spread-%d", i+1), &p.Spread)
		views = append(views, v)
	}
	return views
}

// spreadView is a strip of tasks by duration. Horizontal positions are percent of the width, vertical ones pixels.
type spreadView struct {
	ID, Title, Median, MedianTitle, Limit, More string
	Ticks                                       []tickView
	Bins                                        []binView
	Dots                                        []dotView
	Points                                      []pointView
}

type binView struct{ X, W, Y, H, Title string }

type dotView struct {
	X string
	Y int
}

type pointView struct {
	X, Class, Letter, Title, TextY string
	Y                              int
}

const (
	spreadTop    = 10
	spreadHeight = 68 // of the part with dots
)

func newSpread(id string, s *report.Spread) *spreadView {
	if s.N == 0 || !(s.MaxS > 0) {
		return nil
	}
	top, step := niceScale(s.MaxS)
	x := func(v float64) string { return pct(100 * v / top) }
	v := &spreadView{ID: id, Median: x(s.MedianS), MedianTitle: "median " + prose.Seconds(s.MedianS),
		Title: fmt.Sprintf("Durations of %s: from %s, half between %s and %s, median %s, slowest %s; %s.", prose.Plural(s.N, "task", "tasks"),
			prose.Seconds(s.MinS), prose.Seconds(s.P25S), prose.Seconds(s.P75S), prose.Seconds(s.MedianS), prose.Seconds(s.MaxS),
			prose.Plural(s.Outliers, "outlier", "outliers"))}
	if limit := 1.5 * s.MedianS; limit > 0 && limit <= top {
		v.Limit = x(limit)
	}
	for t := 0.0; t <= top*1.0001; t += step {
		v.Ticks = append(v.Ticks, tickView{X: x(t), Text: tick(t)})
	}
	v.bins(s, top)
	drawn := int64(0)
	for _, p := range s.Points {
		y := jitter(p.Task)
		if p.Cause == "" {
			v.Dots = append(v.Dots, dotView{x(p.DurationS), y})
			continue
		}
		drawn++
		info := report.InfoOf(p.Cause)
		v.Points = append(v.Points, pointView{X: x(p.DurationS), Y: y, TextY: fmt.Sprint(y + 3), Class: class(p.Cause), Letter: info.Letter,
			Title: fmt.Sprintf("task %d: %s, %s%s", p.Task, prose.Seconds(p.DurationS), info.Title, onMachine(p.Machine))})
	}
	if more := s.Outliers - drawn; more > 0 {
		v.More = "The slowest " + prose.Count(drawn) + " outliers are drawn; " + prose.Count(more) + " more are in the bars."
	}
	return v
}

func (v *spreadView) bins(s *report.Spread, top float64) {
	most := int64(0)
	for _, n := range s.Bins {
		most = max(most, n)
	}
	if most == 0 {
		return
	}
	width := s.MaxS / float64(len(s.Bins))
	for i, n := range s.Bins {
		if n == 0 {
			continue
		}
		h := math.Max(1, spreadHeight*math.Sqrt(float64(n)/float64(most)))
		v.Bins = append(v.Bins, binView{X: pct(100 * width * float64(i) / top), W: pct(100 * width / top * 0.94),
			Y: fmt.Sprintf("%.1f", 84-h), H: fmt.Sprintf("%.1f", h),
			Title: fmt.Sprintf("%s to %s: %s", prose.Seconds(width*float64(i)), prose.Seconds(width*float64(i+1)), prose.Plural(n, "task", "tasks"))})
	}
}

func onMachine(m schema.Null[string]) string {
	if !m.OK {
		return ""
	}
	return ", on " + prose.Name(m.V)
}

// jitter spreads dots over the height by the task's index and the golden ratio, so that neighbours lie apart.
func jitter(task int64) int {
	_, f := math.Modf(float64(task&0xFFFFFF) * 0.6180339887498949)
	return spreadTop + int(f*spreadHeight)
}

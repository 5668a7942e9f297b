package html

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
)

// paperView is one figure: lines over thresholds at equal distances. Horizontal positions are percent, vertical ones pixels.
type paperView struct {
	ID, Name, Title string
	XTicks, YTicks  []tickView
	Lines           []paperLine
}

const (
	paperTop    = 8
	paperBottom = 118
	paperSeries = 5 // lines in a figure: those with the largest areas under them
)

type paperLine struct {
	Class, Name, Dash string
	Segments          []paperSegment
	Dots              []paperDot
}

type paperSegment struct{ X1, Y1, X2, Y2 string }

type paperDot struct{ X, Y, Title string }

// papersView are the papers' figures, and why the store does not allow the others.
type papersView struct {
	Show    string
	Figures []paperView
	Undrawn []string
}

func newPapers(points view.PaperFigures) *papersView {
	v := &papersView{Figures: paperViews(points)}
	v.Show = "Show " + prose.Plural(int64(len(v.Figures)), "figure", "figures")
	for _, f := range points {
		if f.Note != "" {
			v.Undrawn = append(v.Undrawn, prose.Clean(f.Figure, 24)+": "+prose.Clean(f.Note, prose.TextRunes))
		}
	}
	return v
}

// paperViews draws the figures in their order.
func paperViews(points []report.PaperFigure) []paperView {
	var views []paperView
	for from := 0; from < len(points) && len(views) < 16; {
		to := from
		for to < len(points) && points[to].Figure == points[from].Figure {
			to++
		}
		if v, ok := newPaperView(points[from:to]); ok {
			v.ID = fmt.Sprintf("paper-%d", len(views)+1)
			views = append(views, v)
		}
		from = to
	}
	return views
}

func newPaperView(points []report.PaperFigure) (paperView, bool) {
	name := points[0].Figure
	units, special := paperUnits[name]
	if !special {
		units.x, units.y = prose.Percent, prose.Percent
	}
	v := paperView{Name: prose.Clean(name, 24), Title: prose.Upper(prose.Clean(points[0].Title, 200))}
	var xs []float64
	highest := 0.0
	for _, p := range points {
		if prose.Finite(p.X) && !slices.Contains(xs, p.X) && len(xs) < 24 {
			xs = append(xs, p.X)
		}
		if p.Y.OK && prose.Finite(p.Y.V) {
			highest = max(highest, p.Y.V)
		}
	}
	if len(xs) < 2 || highest <= 0 {
		return v, false
	}
	slices.Sort(xs)
	top, step := 1.0, 0.5
	if highest > 1 {
		top, step = niceScale(highest)
	}
	axes := paperAxes{xs, top, units}
	for i, at := range xs {
		v.XTicks = append(v.XTicks, tickView{X: axes.x(i), Text: units.x(at)})
	}
	for s := 0.0; s <= top*1.0001; s += step {
		v.YTicks = append(v.YTicks, tickView{X: axes.y(s), Text: units.y(s)})
	}
	for i, list := range paperLines(points) {
		v.Lines = append(v.Lines, axes.line(i, list))
	}
	return v, len(v.Lines) > 0
}

// units write the values of both axes.
type units struct{ x, y func(float64) string }

// paperUnits are the units of figures whose axes are not both shares.
var paperUnits = map[string]units{
	"mantri-2b": {x: wholeTimes, y: prose.Percent},
	"mantri-5b": {x: wholeTimes, y: prose.Percent},
	"dolly-2b":  {x: prose.Seconds, y: prose.Percent},
	"dolly-1":   {x: upTo, y: wholeTimes},
	"dolly-3":   {x: upTo, y: prose.Percent},
}

func wholeTimes(v float64) string { return fmt.Sprintf("%.3g×", v) }

// upTo writes the upper bound of a class of job sizes; the last class has none.
func upTo(v float64) string {
	if v >= 1e9 {
		return "more"
	}
	return prose.Count(int64(v))
}

// paperLines returns the series with the largest areas under them, largest first.
func paperLines(points []report.PaperFigure) [][]report.PaperFigure {
	var lists [][]report.PaperFigure
	at := map[string]int{}
	for _, p := range points {
		if !p.Y.OK || !prose.Finite(p.Y.V) {
			continue
		}
		i, ok := at[p.Series]
		if !ok {
			i = len(lists)
			at[p.Series] = i
			lists = append(lists, nil)
		}
		lists[i] = append(lists[i], p)
	}
	area := func(list []report.PaperFigure) float64 {
		sum := 0.0
		for _, p := range list {
			sum += p.Y.V
		}
		return sum
	}
	slices.SortStableFunc(lists, func(a, b []report.PaperFigure) int { return -cmp.Compare(area(a), area(b)) })
	lists = slices.DeleteFunc(lists, func(l []report.PaperFigure) bool { return area(l) <= 0 })
	return lists[:min(len(lists), paperSeries)]
}

// paperAxes place the values of a figure: those of x, which are few, at equal distances, and those of y from 0 to top.
type paperAxes struct {
	xs    []float64
	top   float64
	units units
}

func (a *paperAxes) x(i int) string { return pct(100 * float64(i) / float64(len(a.xs)-1)) }

func (a *paperAxes) y(v float64) string {
	return fmt.Sprintf("%.1f", paperBottom-(paperBottom-paperTop)*min(v/a.top, 1))
}

// line draws the n-th series of a figure.
func (a *paperAxes) line(n int, list []report.PaperFigure) paperLine {
	l := paperLine{Class: "s-ink", Name: strings.ReplaceAll(prose.Clean(list[0].Series, 40), "_", " "), Dash: []string{"", "5 3", "2 2", "8 3 2 3", "1 3"}[n%5]}
	if c := schema.Cause(list[0].Series); c != "" && report.InfoOf(c).Cause == c {
		l.Class, l.Name = "s-"+class(c), report.InfoOf(c).Title
	}
	slices.SortStableFunc(list, func(p, q report.PaperFigure) int { return cmp.Compare(p.X, q.X) })
	for i, p := range list {
		at := slices.Index(a.xs, p.X)
		if at < 0 {
			continue
		}
		d := paperDot{X: a.x(at), Y: a.y(p.Y.V), Title: fmt.Sprintf("%s at %s: %s", l.Name, a.units.x(p.X), a.units.y(p.Y.V))}
		if p.N.OK {
			d.Title += " (n = " + prose.Count(p.N.V) + ")"
		}
		if i > 0 && len(l.Dots) > 0 {
			last := l.Dots[len(l.Dots)-1]
			l.Segments = append(l.Segments, paperSegment{last.X, last.Y, d.X, d.Y})
		}
		l.Dots = append(l.Dots, d)
	}
	return l
}

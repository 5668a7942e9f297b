package html

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
)

// chartsView are charts side by side.
type chartsView struct {
	Class   string
	Figures []paperView
}

// newCharts returns nil if there are no figures.
func newCharts(class string, figures []paperView) *chartsView {
	if len(figures) == 0 {
		return nil
	}
	return &chartsView{class, figures}
}

// localityView is a bar of an arm.
type localityView struct {
	Name, Title, Text string
	Parts             []barPart
}

type barPart struct{ X, W, Class string }

func localityViews(d *report.Simulation) []localityView {
	var views []localityView
	for i := range d.Arms {
		a := &d.Arms[i]
		if !a.NodeLocal.OK || !a.RackLocal.OK {
			continue
		}
		local, rack := a.NodeLocal.V, a.RackLocal.V
		v := localityView{Name: view.ArmName(a.Scheduler, a.Policy), Text: prose.Percent(local),
			Title: fmt.Sprintf("%s: %s on a machine with the data, %s in a rack with it, %s elsewhere",
				view.ArmName(a.Scheduler, a.Policy), prose.Percent(local), prose.Percent(rack-local), prose.Percent(1-rack))}
		v.Parts = []barPart{{pct(0), pct(100 * local), "l-node"}, {pct(100 * local), pct(100 * (rack - local)), "l-rack"},
			{pct(100 * rack), pct(100 * (1 - rack)), "l-off"}}
		views = append(views, v)
	}
	return views
}

// completionTimes draws the distribution of completion times of the arms.
func completionTimes(d *report.Simulation) []paperView {
	var lines []line
	low, high := math.Inf(1), 0.0
	for i := range d.Arms {
		a := &d.Arms[i]
		l := line{name: view.ArmName(a.Scheduler, a.Policy)}
		for _, t := range d.Times {
			if t.Scheduler == a.Scheduler && t.Policy == a.Policy && t.TookS > 0 {
				l.x, l.y = append(l.x, t.TookS), append(l.y, t.Share)
				low, high = min(low, t.TookS), max(high, t.TookS)
			}
		}
		if len(l.x) > 1 {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	ticks := logTicks(low, high)
	from := math.Log(ticks[0])
	span := math.Log(ticks[len(ticks)-1]) - from
	x := xAxis{ticks, func(x float64) float64 { return (math.Log(x) - from) / span }}
	var views []paperView
	for n := 0; n < len(lines) && n < 4*chartLines; n += chartLines {
		views = append(views, newLines(fmt.Sprintf("times-%d", n+1), "Completion time", lines[n:], x, shareAxis))
	}
	return views
}

// overTime draws who had which slots, and the links, in the runs of the first seed: a chart a run where there are
// several queues to distinguish, else one for all runs.
func overTime(d *report.Simulation) []paperView {
	queue, several := "", false
	for i := range d.Samples {
		if q := d.Samples[i].Queue; q != "" {
			several = several || queue != "" && q != queue
			queue = q
		}
	}
	samples := slices.DeleteFunc(slices.Clone(d.Samples), func(s report.Sampled) bool { return s.What == "downlinks" })
	same := func(a, b *report.Sampled) bool { return (!several || a.RunID == b.RunID) && a.What == b.What }
	if !several {
		slices.SortStableFunc(samples, func(a, b report.Sampled) int { return strings.Compare(a.What, b.What) })
	}
	var views []paperView
	for from := 0; from < len(samples) && len(views) < 48; {
		to := from
		for to < len(samples) && same(&samples[from], &samples[to]) {
			to++
		}
		views = append(views, overView(samples[from:to], several, len(views))...)
		from = to
	}
	return views
}

// overView draws a figure over time, in as many charts as its lines need.
func overView(list []report.Sampled, byQueue bool, n int) []paperView {
	var lines []line
	end, highest := 0.0, 0.0
	for i := range list {
		s := &list[i]
		name := prose.Clean(s.Queue, prose.NameRunes)
		switch {
		case !byQueue:
			name = view.ArmName(s.Scheduler, s.Policy)
		case s.What == "uplinks":
			name = "all queues"
		}
		at := slices.IndexFunc(lines, func(l line) bool { return l.name == name })
		if at < 0 {
			at, lines = len(lines), append(lines, line{name: name})
		}
		lines[at].x, lines[at].y = append(lines[at].x, s.TimeS), append(lines[at].y, s.Value)
		end, highest = max(end, s.TimeS), max(highest, s.Value)
	}
	if end <= 0 || highest <= 0 {
		return nil
	}
	y := yAxis{unit: func(v float64) string { return prose.Count(int64(v + 0.5)) }}
	y.top, y.step = niceScale(highest)
	if list[0].What == "uplinks" {
		y = shareAxis
	}
	right, width := niceScale(end)
	var ticks []float64
	for t := 0.0; t <= right*1.0001; t += width {
		ticks = append(ticks, t)
	}
	x := xAxis{ticks, func(x float64) float64 { return x / right }}
	title := prose.Upper(chartTitles[list[0].What])
	if byQueue {
		title = view.ArmName(list[0].Scheduler, list[0].Policy) + ": " + chartTitles[list[0].What]
	}
	var views []paperView
	for from := 0; from < len(lines) && from < 4*chartLines; from += chartLines {
		views = append(views, newLines(fmt.Sprintf("over-%d", n+len(views)+1), title, lines[from:], x, y))
	}
	return views
}

var chartTitles = map[string]string{"map_slots": "map slots in use", "reduce_slots": "reduce slots in use",
	"waiting": "tasks that wait", "uplinks": "load of the racks’ links"}

// line is what a chart draws.
type line struct {
	name string
	x, y []float64
}

const chartLines = 6 // in one chart: more cannot be distinguished

// xAxis is a horizontal axis of seconds.
type xAxis struct {
	ticks  []float64
	across func(float64) float64 // maps a value to 0 … 1
}

// yAxis is a vertical axis from 0 to top with a tick every step.
type yAxis struct {
	top, step float64
	unit      func(float64) string
}

var shareAxis = yAxis{1, 0.25, prose.Percent}

// place returns the vertical position of a value in pixels.
func (y yAxis) place(v float64) string {
	return fmt.Sprintf("%.1f", paperBottom-(paperBottom-paperTop)*min(max(v/y.top, 0), 1))
}

// newLines draws lines over common axes.
func newLines(id, title string, lines []line, x xAxis, y yAxis) paperView {
	v := paperView{ID: id, Title: title}
	for _, t := range x.ticks {
		v.XTicks = append(v.XTicks, tickView{X: pct(100 * x.across(t)), Text: tick(t)})
	}
	for t := 0.0; t <= y.top*1.0001; t += y.step {
		v.YTicks = append(v.YTicks, tickView{X: y.place(t), Text: y.unit(t)})
	}
	for n, l := range lines[:min(len(lines), chartLines)] {
		p := paperLine{Class: fmt.Sprintf("s-%d", n+1), Name: l.name, Dash: []string{"", "", "5 3", "5 3", "2 2", "2 2"}[n]}
		for i := 1; i < len(l.x); i++ {
			p.Segments = append(p.Segments, paperSegment{pct(100 * x.across(l.x[i-1])), y.place(l.y[i-1]), pct(100 * x.across(l.x[i])), y.place(l.y[i])})
		}
		v.Lines = append(v.Lines, p)
	}
	return v
}

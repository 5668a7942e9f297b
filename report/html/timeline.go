package html

import (
	"fmt"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
)

const (
	laneHeight  = 14
	tlTop       = 36 // time axis and the spans of the phases
	tlGap       = 4  // between machines
	tlWide      = 20000
	markRunes   = 24  // of a name in the words of a bar: there are thousands of bars
	letterWidth = 1.4 // percent of the width from which a bar has room for its letter
)

// timelineView is a timeline as the page draws it. Horizontal positions are percent, so that it fits any width and
// widens without distortion; only the ordinary bars, which have neither text nor outline, are stretched.
type timelineView struct {
	Name, Caption, More, SQL string
	Picked                   bool // one of several that a reader picks from
	Height, NamesWidth, Wide int
	Machines                 []machineBand
	Ticks                    []tickView
	Phases                   []phaseSpan
	Busy                     []string
	Marks                    []markView
}

type machineBand struct {
	Y, H, TextY        int
	Class, Name, Title string
}

type phaseSpan struct {
	X, W, Text, Title string
	Y                 int
}

type markView struct {
	X, W, Class, Letter, Title string
	Y, H, TextY                int
}

// timelinesView are timelines that a reader picks from.
type timelinesView struct {
	Marks     []keyView
	Timelines []timelineView
}

func newTimelines(list view.Timelines) *timelinesView {
	v := &timelinesView{Marks: markLegend()}
	for i := range list {
		t := newTimelineView(&list[i])
		t.Picked = true
		v.Timelines = append(v.Timelines, t)
	}
	return v
}

func replayViews(list view.Replays) []timelineView {
	var views []timelineView
	for _, t := range list {
		views = append(views, newTimelineView(t))
	}
	return views
}

func newTimelineView(t *report.Timeline) timelineView {
	v := timelineView{Name: prose.Clean(t.Title, 120), SQL: t.SQL, NamesWidth: 110, Wide: tlWide}
	what := fmt.Sprintf("%s on %s over %s", prose.Plural(t.Attempts, "attempt", "attempts"),
		prose.Plural(int64(len(t.Lanes)), "slot", "slots"), prose.Seconds(t.LengthS))
	v.Caption = what + "."
	if t.Drawn > 0 {
		v.Caption = fmt.Sprintf("%s. Outliers, copies, retries and failures (%s) are drawn one by one.", what, prose.Count(t.Drawn))
	}
	if t.Replayed {
		v.Caption = what + "."
		if t.Copies+t.Killed > 0 {
			v.Caption = fmt.Sprintf("%s on %s; %s (dashed edge), %s killed (hollow).", prose.Plural(t.Attempts, "attempt", "attempts"),
				prose.Plural(int64(len(t.Lanes)), "slot", "slots"), prose.Plural(t.Copies, "copy", "copies"), prose.Count(t.Killed))
		}
	}
	if t.Note != "" {
		v.More = t.Note
	}
	if more := t.Marks - t.Drawn; more > 0 {
		v.More += " " + prose.Count(more) + " more of those are drawn as ordinary bars."
	}
	if t.MoreMachines > 0 {
		v.More += " " + prose.Plural(t.MoreMachines, "machine is", "machines are") + " left out."
	}
	if t.LengthS <= 0 {
		return v
	}
	v.axis(t)
	y := tlTop
	for i := 0; i < len(t.Lanes); {
		n := 1
		for i+n < len(t.Lanes) && t.Lanes[i+n].Machine == t.Lanes[i].Machine {
			n++
		}
		band := machineBand{Y: y, H: n*laneHeight + tlGap, TextY: y + 12, Title: prose.Name(t.Lanes[i].Machine), Name: prose.Clean(t.Lanes[i].Machine, 15)}
		if len(v.Machines)%2 == 0 {
			band.Class = "band"
		} else {
			band.Class = "band2"
		}
		v.Machines = append(v.Machines, band)
		for k := range n {
			v.lane(t, &t.Lanes[i+k], y+tlGap/2+k*laneHeight)
		}
		y += band.H
		i += n
	}
	v.Height = y
	return v
}

func (v *timelineView) axis(t *report.Timeline) {
	_, step := niceScale(t.LengthS)
	for s := 0.0; s <= t.LengthS; s += step {
		at := tickView{X: pct(100 * s / t.LengthS), Text: tick(s), Anchor: "middle"}
		if s == 0 {
			at.Anchor = "start"
		} else if s > 0.96*t.LengthS {
			at.Anchor = "end"
		}
		v.Ticks = append(v.Ticks, at)
	}
	for _, p := range t.Phases {
		w := 100 * (p.ToS - p.FromS) / t.LengthS
		s := phaseSpan{X: pct(100 * p.FromS / t.LengthS), W: pct(max(w, 0.05)), Y: 18, Title: "phase " + prose.Name(p.Phase) +
			": " + prose.Seconds(p.ToS-p.FromS)}
		if w > 2 {
			s.Text = prose.Clean(p.Phase, 24)
		}
		v.Phases = append(v.Phases, s)
	}
}

// lane draws the ordinary bars of a slot as one path, and its marks one by one.
func (v *timelineView) lane(t *report.Timeline, l *report.Lane, y int) {
	scale := tlWide / t.LengthS
	var path strings.Builder
	for _, b := range l.Busy {
		x, w := int(b.FromS*scale), int((b.ToS-b.FromS)*scale)
		if w > 3*tlWide/1000 {
			w -= tlWide / 1000 // a gap between neighbours
		}
		fmt.Fprintf(&path, "M%d %dh%dv%dh-%dz", x, y+2, max(w, 4), laneHeight-4, max(w, 4))
	}
	if path.Len() > 0 {
		v.Busy = append(v.Busy, path.String())
	}
	for i := range l.Marks {
		m := &l.Marks[i]
		w := max(100*(m.ToS-m.FromS)/t.LengthS, 0.12)
		mark := markView{X: pct(100 * m.FromS / t.LengthS), W: pct(w), Y: y + 1, H: laneHeight - 2, TextY: laneHeight - 4,
			Class: markClass(m), Title: MarkTitle(m, l.Machine)}
		if m.Cause != "" && w >= letterWidth {
			mark.Letter = report.InfoOf(m.Cause).Letter
		}
		v.Marks = append(v.Marks, mark)
	}
}

func markClass(m *report.Mark) string {
	c := []string{}
	if m.Cause != "" {
		c = append(c, "f-"+class(m.Cause))
	} else {
		c = append(c, "m-plain")
	}
	switch {
	case m.Status == schema.Failed || m.Status == schema.Lost:
		c = append(c, "m-failed")
	case m.Status == schema.Killed:
		c = append(c, "m-killed")
	case m.Copy:
		c = append(c, "m-copy")
	case m.Retry:
		c = append(c, "m-retry")
	}
	if m.Recompute {
		c = append(c, "m-recompute")
	}
	if m.Open {
		c = append(c, "m-open")
	}
	return strings.Join(c, " ")
}

// MarkTitle describes a mark of a timeline.
func MarkTitle(m *report.Mark, machine string) string {
	parts := []string{fmt.Sprintf("phase %s, task %d.%d on %s", prose.Clean(m.Phase, markRunes), m.Task, m.Number,
		prose.Clean(machine, markRunes)), prose.Seconds(m.ToS - m.FromS)}
	if m.Cause != "" {
		parts = append(parts, report.InfoOf(m.Cause).Title+", excess "+prose.OrDash(m.ExcessS, prose.Seconds))
	}
	if m.Status != schema.Success {
		parts = append(parts, string(m.Status))
	}
	for _, x := range []struct {
		on   bool
		text string
	}{{m.Copy, "speculative copy"}, {m.Retry, "retry"}, {m.Recompute, "recomputation"}, {m.Open, "the log stops before its end"}} {
		if x.on {
			parts = append(parts, x.text)
		}
	}
	return strings.Join(parts, " · ")
}

func markLegend() []keyView {
	return []keyView{{Class: "busy", Title: "ordinary"}, {Class: "m m-plain m-copy", Title: "speculative copy"}, {Class: "m m-plain m-retry", Title: "retry"},
		{Class: "m m-plain m-recompute", Title: "recomputation"}, {Class: "m m-failed", Title: "failed or lost"}, {Class: "m m-killed", Title: "killed"}}
}

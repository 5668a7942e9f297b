package report

import (
	"fmt"
	"math"
	"strings"

	"straggler/schema"
)

// phaseView is a phase with the picture of its spread.
type phaseView struct {
	App, Causes, Title, Sub, Cost, Times, Tasks, Slowdown, Note string
	Spread                                                      *spreadView
}

func phaseViews(d *Document) []phaseView {
	var views []phaseView
	for i := range d.Phases.Rows {
		p := &d.Phases.Rows[i]
		if !lostAnything(p) {
			continue
		}
		v := phaseView{App: name(p.Application), Causes: classes(partCauses(p.Parts)), Title: phaseTitle(p.NativeID, p.Attempt),
			Sub:   strings.Join(nonEmpty(named(p.Name), jobTitle(p.Job), appOf(d, p.Application)), " · "),
			Cost:  null(p.CostS, seconds),
			Times: null(p.MedianS, seconds) + ", " + null(p.MaxS, seconds),
			Tasks: count(p.Tasks) + ", " + null(p.Outliers, count), Note: clean(p.Note.V, textRunes)}
		if parts := partsText(p.Parts); parts != dash {
			v.Cost += " (" + parts + ")"
		}
		if !p.Critical {
			v.Cost += ": not on the job’s critical path"
			if p.LostS.OK && p.LostS.V > 0 {
				v.Cost += ", lost " + seconds(p.LostS.V) + " itself"
			}
		}
		if p.MedianS.OK && p.MaxS.OK && p.MedianS.V > 0 {
			v.Times += " (" + times(p.MaxS.V/p.MedianS.V) + ")"
		}
		if p.SlowdownRatio.OK {
			v.Slowdown = times(p.SlowdownRatio.V) + " by " + string(p.SlowdownBasis.V)
		}
		v.Spread = newSpread(fmt.Sprintf("spread-%d", i+1), &p.Spread)
		views = append(views, v)
	}
	return views
}

func nonEmpty(s ...string) []string {
	var kept []string
	for _, x := range s {
		if x != "" {
			kept = append(kept, x)
		}
	}
	return kept
}

// lostAnything says that a phase is worth a picture.
func lostAnything(p *Phase) bool { return p.LostS.V > 0 || p.CostS.V > 0 }

// phasesNote says which phases have no picture.
func phasesNote(d *Document) string {
	drawn, judged := int64(0), false
	for i := range d.Phases.Rows {
		p := &d.Phases.Rows[i]
		judged = judged || p.LostS.OK
		if lostAnything(p) {
			drawn++
		}
	}
	switch more := d.Phases.Total - drawn; {
	case !judged:
		return tooFewTasks
	case drawn == 0:
		return "No phase lost any time."
	case more > 0:
		return fmt.Sprintf("%s of %s are drawn; the others lost less or nothing.", upper(count(drawn)), plural(d.Phases.Total, "phase", "phases"))
	}
	return ""
}

// spreadView is a strip of tasks by duration. Horizontal positions are percent of the width, vertical ones pixels.
type spreadView struct {
	ID, Title, Median, MedianTitle, Limit, More string
	Ticks                                       []tickView
	Bins                                        []binView
	Dots                                        []dotView
	Points                                      []pointView
}

type tickView struct{ X, Text, Anchor string }

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

func newSpread(id string, s *Spread) *spreadView {
	if s.N == 0 || !(s.MaxS > 0) {
		return nil
	}
	top, step := niceScale(s.MaxS)
	x := func(v float64) string { return pct(100 * v / top) }
	v := &spreadView{ID: id, Median: x(s.MedianS), MedianTitle: "median " + seconds(s.MedianS),
		Title: fmt.Sprintf("Durations of %s: from %s, half between %s and %s, median %s, slowest %s; %s.", plural(s.N, "task", "tasks"),
			seconds(s.MinS), seconds(s.P25S), seconds(s.P75S), seconds(s.MedianS), seconds(s.MaxS), plural(s.Outliers, "outlier", "outliers"))}
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
		info := infoOf(p.Cause)
		v.Points = append(v.Points, pointView{X: x(p.DurationS), Y: y, TextY: fmt.Sprint(y + 3), Class: class(p.Cause), Letter: info.Letter,
			Title: fmt.Sprintf("task %d: %s, %s%s", p.Task, seconds(p.DurationS), info.Title, onMachine(p.Machine))})
	}
	if more := s.Outliers - drawn; more > 0 {
		v.More = "The slowest " + count(drawn) + " outliers are drawn; " + count(more) + " more are in the bars."
	}
	return v
}

func onMachine(m schema.Null[string]) string {
	if !m.OK {
		return ""
	}
	return ", on " + name(m.V)
}

func (v *spreadView) bins(s *Spread, top float64) {
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
			Title: fmt.Sprintf("%s to %s: %s", seconds(width*float64(i)), seconds(width*float64(i+1)), plural(n, "task", "tasks"))})
	}
}

// jitter spreads dots over the height by the task's index and the golden ratio, so that neighbours lie apart.
func jitter(task int64) int {
	_, f := math.Modf(float64(task&0xFFFFFF) * 0.6180339887498949)
	return spreadTop + int(f*spreadHeight)
}

// niceScale is an axis from 0 to at least v in three to six steps of 1, 2 or 5 × a power of ten, or of round parts of
// minutes, hours and days where the values are that long.
func niceScale(v float64) (top, step float64) {
	unit := 1.0
	switch {
	case v >= 2*86400:
		unit = 86400
	case v >= 2*3600:
		unit = 3600
	case v >= 599.5:
		unit = 60
	}
	step = math.Pow(10, math.Floor(math.Log10(v/unit)))
	for _, m := range []float64{0.2, 0.5, 1, 2, 5} {
		if v/unit/(m*step) <= 5 {
			step *= m
			break
		}
	}
	step *= unit
	return step * math.Ceil(v/step-1e-9), step
}

// heatView is the heat map of machines by phases.
type heatView struct {
	Columns []cell
	Rows    []heatRow
	More    string
}

type heatRow struct {
	Name    string
	Whisker *whiskerView
	Cells   []heatCell
}

type heatCell struct{ Class, Text, Note string }

// whiskerView is an interval on a logarithmic axis from 1/4 to 4; positions are percent of its width.
type whiskerView struct{ Low, High, At, One, Title, Verdict string }

func newHeat(d *Document) *heatView {
	m := &d.Machines
	if len(m.Phases) == 0 || len(m.List.Rows) == 0 {
		return nil
	}
	v := &heatView{}
	for _, c := range m.Phases {
		short := clean(c.NativeID, 8)
		if c.Attempt > 0 {
			short += fmt.Sprintf(".%d", c.Attempt)
		}
		v.Columns = append(v.Columns, cell{Text: short, Note: strings.Join(nonEmpty(phaseTitle(c.NativeID, c.Attempt), named(c.Name), jobTitle(c.Job), appOf(d, c.Application), "median "+null(c.MedianS, seconds)), " · ")})
	}
	for i := range m.List.Rows {
		r := &m.List.Rows[i]
		if len(r.Cells) == 0 {
			continue
		}
		row := heatRow{Name: clean(r.Machine, 28), Whisker: newWhisker(r)}
		for _, c := range r.Cells {
			row.Cells = append(row.Cells, newHeatCell(c))
		}
		v.Rows = append(v.Rows, row)
	}
	if m.Hidden > 0 {
		v.More = "The " + count(int64(len(m.Phases))) + " phases with the most task time are shown; " + plural(m.Hidden, "phase is", "phases are") + " left out."
	}
	if len(v.Rows) == 0 {
		return nil
	}
	return v
}

func newHeatCell(c Heat) heatCell {
	if c.N == 0 {
		return heatCell{Class: "none", Text: ""}
	}
	if !c.Ratio.OK {
		return heatCell{Class: "none", Text: dash, Note: "the phase has no median"}
	}
	h := heatCell{Class: heatClass(c.Ratio.V), Text: times2(c.Ratio.V), Note: times(c.Ratio.V) + " the median, " + plural(c.N, "task", "tasks")}
	if c.N < 3 {
		h.Class += " few"
	}
	return h
}

// times2 writes a ratio with two digits, for small cells.
func times2(v float64) string {
	switch {
	case !finite(v):
		return dash
	case v >= 9.95:
		return count(int64(math.Min(v+0.5, 9999))) + "×"
	}
	return fmt.Sprintf("%.1f×", v)
}

func heatClass(ratio float64) string {
	limits := []float64{0.67, 0.9, 1.15, 1.35, 1.65, 2.2, 3.2}
	for i, l := range limits {
		if ratio < l {
			return fmt.Sprintf("h%d", i)
		}
	}
	return "h7"
}

func newWhisker(m *Machine) *whiskerView {
	if !m.Factor.OK || !m.FactorLow.OK || !m.FactorHigh.OK {
		return nil
	}
	at := func(v float64) string {
		if !(v > 0) {
			v = 0.25
		}
		return pct(100 * (math.Log2(math.Min(math.Max(v, 0.25), 8)) + 2) / 5)
	}
	return &whiskerView{Low: at(m.FactorLow.V), High: at(m.FactorHigh.V), At: at(m.Factor.V), One: at(1), Verdict: string(m.Verdict),
		Title: fmt.Sprintf("factor %s, 95 %% interval %s; the dashed line is 1×", times(m.Factor.V), interval(m.FactorLow, m.FactorHigh, times))}
}

// savingView is a saving with its interval on the scale of its table; positions are percent of the width.
type savingView struct {
	Title, Zero, Low, High, At, Class string
	Band                              *bandView // what the replay is wrong by
}

type bandView struct{ X, W string }

func savingsView(d *Document) tableView {
	t := savingsTable(d)
	v := newTable(t)
	low, high := 0.0, 0.0
	for _, s := range d.Whatif.Savings.Rows {
		low, high = min(low, s.SavingLow.Or(s.SavingS.V)), max(high, s.SavingHigh.Or(s.SavingS.V))
	}
	wrong := d.Whatif.ReplayErrorS.V
	low, high = min(low, -wrong), max(high, wrong)
	if !(high > low) || !finite(high-low) {
		return v
	}
	x := func(s float64) string { return pct(100 * (s - low) / (high - low)) }
	for r := range v.Rows {
		for i, c := range t.Rows[r].Cells {
			if c.Saving == nil || !c.Saving.SavingS.OK {
				continue
			}
			s := &savingView{Zero: x(0), At: x(c.Saving.SavingS.V), Low: x(c.Saving.SavingLow.Or(c.Saving.SavingS.V)), High: x(c.Saving.SavingHigh.Or(c.Saving.SavingS.V)), Class: "fdot",
				Title: "saves " + seconds(c.Saving.SavingS.V) + after(", 95 % interval ", interval(c.Saving.SavingLow, c.Saving.SavingHigh, seconds)) + "; the dashed line is 0"}
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

// adviceView is an advice as the page shows it.
type adviceView struct {
	Title, Action, Settings, Evidence, SQL, Gain, Span, Basis, Confidence string
}

func adviceViews(d *Document) []adviceView {
	var views []adviceView
	for _, a := range d.Advice {
		v := adviceView{Title: a.Title, Action: a.Action, Settings: settingLines(a.Settings), Evidence: a.Evidence, SQL: a.SQL, Gain: gainFigure(&a), Span: interval(a.GainLow, a.GainHigh, seconds), Basis: a.GainBasis}
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

// settingLines are settings as a configuration file takes them, with what the log says they were.
func settingLines(settings []Setting) string {
	var b strings.Builder
	for _, s := range settings {
		fmt.Fprintf(&b, "%s %s", clean(s.Name, nameRunes), clean(s.Value, nameRunes))
		if s.Current.OK {
			fmt.Fprintf(&b, "   # was %s", clean(s.Current.V, nameRunes))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// gainFigure is what an advice should bring; a gain without an interval is the most that it can.
func gainFigure(a *Advice) string {
	switch {
	case !a.GainS.OK:
		return ""
	case a.GainLow.OK && a.GainHigh.OK:
		return seconds(a.GainS.V)
	}
	return "up to " + seconds(a.GainS.V)
}

// gainText is gainFigure with its interval.
func gainText(a *Advice) string {
	if span := interval(a.GainLow, a.GainHigh, seconds); span != "" && a.GainS.OK {
		return gainFigure(a) + " (" + span + ")"
	}
	return gainFigure(a)
}

func firstAdvice(d *Document) *firstView {
	if len(d.Advice) == 0 {
		return nil
	}
	a := &d.Advice[0]
	v := &firstView{Lead: "First:", Title: a.Title}
	if a.Kind == Act {
		v.Gain = gainText(a)
	} else {
		v.Lead = ""
	}
	return v
}

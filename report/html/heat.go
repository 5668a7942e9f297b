package html

import (
	"fmt"
	"math"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
)

// heatView is the heat map of machines by phases.
type heatView struct {
	Columns []view.Cell
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

func newHeat(d *report.Document) *heatView {
	m := &d.Machines
	if len(m.Phases) == 0 || len(m.List.Rows) == 0 {
		return nil
	}
	v := &heatView{}
	for _, c := range m.Phases {
		short := prose.Clean(c.NativeID, 8)
		if c.Attempt > 0 {
			short += fmt.Sprintf(".%d", c.Attempt)
		}
		v.Columns = append(v.Columns,
			view.Cell{Text: short, Note: strings.Join(prose.NonEmpty(report.PhaseTitle(c.NativeID, c.Attempt),
				prose.MaybeName(c.Name), report.JobTitle(c.Job), report.AppOf(d, c.Application), "median "+prose.OrDash(c.MedianS, prose.Seconds)), " · ")})
	}
	for i := range m.List.Rows {
		r := &m.List.Rows[i]
		if len(r.Cells) == 0 {
			continue
		}
		row := heatRow{Name: prose.Clean(r.Machine, 28), Whisker: newWhisker(r)}
		for _, c := range r.Cells {
			row.Cells = append(row.Cells, newHeatCell(c))
		}
		v.Rows = append(v.Rows, row)
	}
	if m.Hidden > 0 {
		v.More = "The " + prose.Count(int64(len(m.Phases))) + " phases with the most task time are shown; " +
			prose.Plural(m.Hidden, "phase is", "phases are") + " left out."
	}
	if len(v.Rows) == 0 {
		return nil
	}
	return v
}

func newHeatCell(c report.Heat) heatCell {
	if c.N == 0 {
		return heatCell{Class: "none", Text: ""}
	}
	if !c.Ratio.OK {
		return heatCell{Class: "none", Text: prose.Dash, Note: "the phase has no median"}
	}
	h := heatCell{Class: HeatClass(c.Ratio.V), Text: HeatText(c.Ratio.V), Note: prose.Times(c.Ratio.V) + " the median, " + prose.Plural(c.N, "task", "tasks")}
	if c.N < 3 {
		h.Class += " few"
	}
	return h
}

// HeatText writes a ratio with two digits, which fit into a small cell.
func HeatText(v float64) string {
	switch {
	case !prose.Finite(v):
		return prose.Dash
	case v >= 9.95:
		return prose.Count(int64(math.Min(v+0.5, 9999))) + "×"
	}
	return fmt.Sprintf("%.1f×", v)
}

// HeatClass returns the class of a cell of a heat map, by how many times as long as the others something takes.
func HeatClass(ratio float64) string {
	limits := []float64{0.67, 0.9, 1.15, 1.35, 1.65, 2.2, 3.2}
	for i, l := range limits {
		if ratio < l {
			return fmt.Sprintf("h%d", i)
		}
	}
	return "h7"
}

func newWhisker(m *report.Machine) *whiskerView {
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
		Title: fmt.Sprintf("factor %s, 95 %% interval %s; the dashed line is 1×", prose.Times(m.Factor.V),
			prose.Interval(m.FactorLow, m.FactorHigh, prose.Times))}
}

package serve

import (
	"math"
	"strconv"

	"straggler/engine"
	"straggler/report/prose"
	"straggler/schema"
	"straggler/table"
)

// barChart draws a bar per row: its length is the first column of numbers, its label the first of the other columns. Positions
// are percentages of the width.
type barChart struct {
	Title  string
	Bars   []bar
	Height int
	Zero   string
}

type bar struct {
	Label, Title, X, W string
	Y, TextY           int
}

const (
	mostBars  = 60
	barHeight = 20
)

// newBarChart returns nil for rows that cannot be drawn: those of one column, without a label or without numbers.
func newBarChart(columns []engine.Column, rows [][]any) *barChart {
	name, value := -1, -1
	for i, c := range columns {
		switch {
		case numeric(c.Type) && value < 0 && (i > 0 || len(columns) == 1):
			value = i
		case name < 0:
			name = i
		}
	}
	if name < 0 || value < 0 || len(rows) < 2 || len(rows) > mostBars {
		return nil
	}
	var values []barValue
	for _, r := range rows {
		values = append(values, barValue{prose.Clean(table.Text(r[name]), 24), table.Text(r[value]), toFloat(r[value])})
	}
	return drawBars(prose.Clean(columns[value].Name, prose.NameRunes)+" by "+prose.Clean(columns[name].Name, prose.NameRunes), values)
}

// barValue is the value of a bar.
type barValue struct {
	label, text string
	value       schema.Null[float64]
}

// drawBars returns nil if every value is 0 or unknown.
func drawBars(title string, values []barValue) *barChart {
	low, high := 0.0, 0.0
	for _, v := range values {
		if v.value.OK {
			low, high = min(low, v.value.V), max(high, v.value.V)
		}
	}
	if !(high > low) {
		return nil
	}
	at := func(v float64) float64 { return 100 * (v - low) / (high - low) }
	c := &barChart{Title: title, Zero: percent(at(0)), Height: len(values) * barHeight}
	for i, v := range values {
		b := bar{Label: v.label, Title: v.label + ": " + v.text, Y: i * barHeight, TextY: i*barHeight + 14, X: percent(at(0)), W: "0"}
		if v.value.OK {
			b.X, b.W = percent(at(min(v.value.V, 0))), percent(math.Abs(at(v.value.V)-at(0)))
		}
		c.Bars = append(c.Bars, b)
	}
	return c
}

func percent(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

func toFloat(v any) (f schema.Null[float64]) {
	switch v := v.(type) {
	case int64:
		return schema.Some(float64(v))
	case int32:
		return schema.Some(float64(v))
	case float64:
		return schema.Null[float64]{V: v, OK: prose.Finite(v)}
	}
	return f
}

package serve

import (
	"math"
	"strconv"

	"straggler/engine"
	"straggler/report/prose"
	"straggler/table"
)

// barChart shows the first column of numbers by the first column of anything else, a bar a row. Positions are percent of the
// width, so that it fits any.
type barChart struct {
	Title  string
	Bars   []bar
	Height int
	Zero   string
}

type bar struct {
	Label, Value, Title, X, W string
	Y, TextY                  int
}

const (
	mostBars  = 60
	barHeight = 20
)

// newBarChart is nil for rows that make no chart: of one column, with nothing to name them by or without numbers.
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
	low, high := 0.0, 0.0
	for _, r := range rows {
		if v, ok := toFloat(r[value]); ok {
			low, high = min(low, v), max(high, v)
		}
	}
	if !(high > low) {
		return nil
	}
	at := func(v float64) float64 { return 100 * (v - low) / (high - low) }
	c := &barChart{Title: prose.Clean(columns[value].Name, prose.NameRunes) + " by " + prose.Clean(columns[name].Name, prose.NameRunes), Zero: percent(at(0))}
	for i, r := range rows {
		b := bar{Label: prose.Clean(table.Text(r[name]), 24), Value: table.Text(r[value]), Y: i * barHeight, TextY: i*barHeight + 14, X: percent(at(0)), W: "0"}
		if v, ok := toFloat(r[value]); ok {
			b.X, b.W = percent(at(min(v, 0))), percent(math.Abs(at(v)-at(0)))
		}
		b.Title = b.Label + ": " + b.Value
		c.Bars = append(c.Bars, b)
	}
	c.Height = len(rows) * barHeight
	return c
}

func percent(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case int32:
		return float64(v), true
	case float64:
		return v, prose.Finite(v)
	}
	return 0, false
}

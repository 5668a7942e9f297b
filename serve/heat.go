package serve

import "time"

// heatTable is a heat map, of machines or programs by periods, as its template takes it.
type heatTable struct {
	ID, Of, Title, Lead, More string
	Columns                   []cell
	Rows                      []heatLine
	Query                     *queryView
}

type heatLine struct {
	Name, Href string
	Cells      []heatCell
}

type heatCell struct{ Class, Text, Note string }

// mostDrawn bounds the rows of a heat map: the worst are drawn.
const mostDrawn = 25

// dayLayout is how the days at the head of a heat map are written: with the year where it is not one.
func dayLayout(first, last time.Time) string {
	if first.Year() != last.Year() {
		return "06-01-02"
	}
	return "01-02"
}

// newHeatLine is the row of what has cells in some columns.
func newHeatLine[K comparable](name, href string, columns []K, cells map[K]heatCell) heatLine {
	line := heatLine{Name: name, Href: href}
	for _, k := range columns {
		c, ok := cells[k]
		if !ok {
			c = heatCell{Class: "none"}
		}
		line.Cells = append(line.Cells, c)
	}
	return line
}

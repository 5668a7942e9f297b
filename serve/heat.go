package serve

import "time"

// heatTable is a heat map, of machines or programs by periods, for its template.
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

// mostDrawn bounds the rows of a heat map; the worst are drawn.
const mostDrawn = 25

// dayLayout returns the layout of the dates at the head of a heat map, which have the year if they are not all of one year.
func dayLayout(first, last time.Time) string {
	if first.Year() != last.Year() {
		return "06-01-02"
	}
	return "01-02"
}

// newHeatLine returns a row, with empty cells in the columns for which there are none.
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

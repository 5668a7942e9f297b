package view

import (
	"slices"
	"strconv"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// Table is a list of the document as every renderer shows it: cells are text that is not yet escaped.
type Table struct {
	ID      string
	Caption string
	Columns []Column
	Rows    []Row
	More    int64
	SQL     string  // gives all rows
	Empty   string  // why there are none
	After   string  // a sentence below it
	Aside   bool    // a terminal has no room for it
	Error   float64 // s, what the replays behind its savings are off by
}

// Drop takes out a column.
func (t *Table) Drop(title string) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Title == title })
	if i < 0 {
		return
	}
	t.Columns = slices.Delete(t.Columns, i, i+1)
	for r := range t.Rows {
		t.Rows[r].Cells = slices.Delete(t.Rows[r].Cells, i, i+1)
	}
}

// Column heads cells. Narrow renderings leave out the columns that are not essential.
type Column struct {
	Title     string
	Doc       string
	Number    bool
	Essential bool
	Below     bool // long words, which a terminal shows under the row
	Picture   bool // its cells are pictures of what another column says
}

// Row is one row; the facets are what a reader filters by.
type Row struct {
	ID      string // anchor, "" for none
	App     string
	Machine string
	Causes  []schema.Cause
	Cells   []Cell
}

// Cell is a text, the value that it sorts by, and its explanation.
type Cell struct {
	Text    string
	Sort    string            // "" sorts by the text
	Note    string            // why it is unknown, or how it came about
	Sub     string            // a second, quieter line
	ShowSub bool              // where Sub is usually left out, too: Text alone is not unique
	Cause   schema.Cause      // shown with its colour and letter
	Keyed   bool              // the cell is about Cause, which may be report.NotOutlier
	Parts   []report.LostPart // shown as a stacked bar over Whole
	Whole   float64
	Saving  *report.Saving // shown as an interval on the scale of the table
	Detail  *Detail        // shown on demand
	Of      Ref            // what the cell names
	Href    string         // address of the page about it, "" for none
}

// Detail is the evidence for a row: sentences, and the query that shows it.
type Detail struct {
	Parts []string
	SQL   string
}

func text(s string) Cell { return Cell{Text: s} }

func figure(v schema.Null[float64], write func(float64) string, note string) Cell {
	if !v.OK || !prose.Finite(v.V) {
		return Cell{Text: prose.Dash, Sort: "", Note: note}
	}
	return Cell{Text: write(v.V), Sort: strconv.FormatFloat(v.V, 'g', 9, 64)}
}

// costFigure returns the cell with the time that slow tasks cost a job. If it is unknown the cell says so, since readers look for
// it first.
func costFigure(v schema.Null[float64], why string) Cell {
	if c := figure(v, prose.Seconds, why); c.Text != prose.Dash {
		return c
	}
	return Cell{Text: "unknown", Sub: why}
}

func nullNumber(n schema.Null[int64], note string) Cell {
	if !n.OK {
		return Cell{Text: prose.Dash, Note: note}
	}
	return number(n.V)
}

func number(n int64) Cell { return Cell{Text: prose.Count(n), Sort: strconv.FormatInt(n, 10)} }

// Package view takes a Document and gives what all renderings show alike: tables of text that is not yet escaped, titles
// and sentences.
//
//  1. table.go says what a table is.
//  2. read.go, cost.go, phases.go, outliers.go, skew.go, chains.go, machines.go, policies.go and advice.go make the
//     tables and sentences of one section each; simulation.go those of a simulated workload.
//  3. queries.go says how to run the queries that a report shows.
//
// Start with table.go.
package view

import (
	"slices"
	"strconv"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// A table is a list of the document as every renderer shows it: cells are text that is not yet escaped.
type Table struct {
	ID      string
	Caption string
	Columns []Column
	Rows    []Row
	More    int64
	SQL     string // gives all rows
	Empty   string // why there are none
	After   string // what is said below it
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
}

// Row is one row; the facets are what a reader filters by.
type Row struct {
	ID      string // anchor, "" for none
	App     string
	Machine string
	Causes  []schema.Cause
	Cells   []Cell
}

// Cell is a text with the value it sorts by and what explains it.
type Cell struct {
	Text   string
	Sort   string            // "" sorts by the text
	Note   string            // why it is unknown, or how it came about
	Sub    string            // a second, quieter line
	Twin   bool              // another row has the same Text: Sub tells them apart
	Cause  schema.Cause      // shown with its colour and letter
	Keyed  bool              // Cause is meant, even where it is notOutlier
	Parts  []report.LostPart // shown as a stacked bar over Whole
	Whole  float64
	Saving *report.Saving // shown as an interval on the scale of the table
}

func text(s string) Cell { return Cell{Text: s} }

func figure(v schema.Null[float64], write func(float64) string, note string) Cell {
	if !v.OK || !prose.Finite(v.V) {
		return Cell{Text: prose.Dash, Sort: "", Note: note}
	}
	return Cell{Text: write(v.V), Sort: strconv.FormatFloat(v.V, 'g', 9, 64)}
}

func number(n int64) Cell { return Cell{Text: prose.Count(n), Sort: strconv.FormatInt(n, 10)} }

func nullNumber(n schema.Null[int64], note string) Cell {
	if !n.OK {
		return Cell{Text: prose.Dash, Note: note}
	}
	return number(n.V)
}

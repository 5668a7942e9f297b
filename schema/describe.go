package schema

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// ColumnDoc describes one column as a row, for whoever prints the tables.
type ColumnDoc struct {
	Table  string       `col:"table" doc:"name of the table"`
	Column string       `col:"column" doc:"name of the column"`
	Type   string       `col:"type" doc:"type in portable SQL"`
	Null   bool         `col:"nullable" doc:"may be NULL: the log does not say"`
	Unit   Null[string] `col:"unit" doc:"unit of the value"`
	Key    Null[string] `col:"key" doc:"primary, or the table it refers to"`
	Words  Null[string] `col:"words" doc:"the words it may hold"`
	Doc    string       `col:"doc" doc:"what it says"`
}

// Describe gives one row a column of the tables.
func Describe(tables []*Table) []ColumnDoc {
	var rows []ColumnDoc
	for _, t := range tables {
		for _, c := range t.Columns {
			rows = append(rows, ColumnDoc{
				Table: t.Name, Column: c.Name, Type: string(c.Type), Null: c.Nullable,
				Unit: known(c.Unit), Key: known(c.Key), Words: known(strings.Join(c.Words, ", ")), Doc: c.Doc,
			})
		}
	}
	return rows
}

func known(s string) Null[string] { return Null[string]{V: s, OK: s != ""} }

// WriteText prints the tables for a reader: each with its doc and one line a column.
func WriteText(w io.Writer, tables []*Table) error {
	for i, t := range tables {
		gap := ""
		if i > 0 {
			gap = "\n"
		}
		if _, err := fmt.Fprintf(w, "%s%s: %s\n", gap, t.Name, t.Doc); err != nil {
			return err
		}
		tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, c := range Describe([]*Table{t}) {
			null := "not null"
			if c.Null {
				null = ""
			}
			fmt.Fprintf(tab, "  %s\t%s\t%s\t%s\n", c.Column, c.Type, null, columnText(c))
		}
		if err := tab.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func columnText(c ColumnDoc) string {
	text := c.Doc
	switch {
	case c.Key.OK && c.Key.V == "primary":
		text += "; primary key"
	case c.Key.OK:
		text += "; key of " + c.Key.V
	}
	if c.Words.OK {
		text += "; " + c.Words.V
	}
	if c.Unit.OK {
		text += " [" + c.Unit.V + "]"
	}
	return text
}

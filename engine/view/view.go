// Package view takes a table of the schema and the slices of its files in a store and gives the query that is the table:
// the rows that are visible, under the columns of the schema. Engines say how they read files.
package view

import (
	"slices"
	"strings"

	"straggler/engine/sqltext"
	"straggler/schema"
	"straggler/store"
)

// SQL unites the slices of a table; from is where the rows of the i-th are read. A table without slices is empty and has
// its columns all the same.
func SQL(d sqltext.Dialect, t *schema.Table, slices []store.Slice, from func(i int) string) string {
	if len(slices) == 0 {
		return Empty(d, t, "false")
	}
	parts := make([]string, len(slices))
	for i, s := range slices {
		parts[i] = "SELECT " + columns(d, t, s.Columns) + " FROM " + from(i) + where(s)
	}
	return strings.Join(parts, " UNION ALL ")
}

// Chosen are the tables that an engine is to have the rows of some inputs of: the log tables, and those results of detect whose
// rows others look up.
func Chosen() []*schema.Table {
	return append(slices.Clone(schema.LogTables()), schema.ByName("outliers"), schema.ByName("stage_history"))
}

// ChosenSQL is SQL for the slices of some inputs' rows, with the column of the input.
func ChosenSQL(d sqltext.Dialect, t *schema.Table, slices []store.Slice, from func(i int) string) string {
	if len(slices) == 0 {
		return "SELECT " + columns(d, t, nil) + ", CAST(NULL AS BIGINT) AS " + store.InputColumn + " WHERE false"
	}
	parts := make([]string, len(slices))
	for i, s := range slices {
		parts[i] = "SELECT " + columns(d, t, s.Columns) + ", " + store.InputColumn + " FROM " + from(i) + where(s)
	}
	return strings.Join(parts, " UNION ALL ")
}

// where says which of the rows of a slice's files are part of it.
func where(s store.Slice) string {
	switch {
	case s.Chosen != nil:
		return " WHERE " + store.InputColumn + " IN (" + schema.KeyList(s.Chosen) + ")"
	case len(s.Hidden) > 0:
		return " WHERE " + store.InputColumn + " NOT IN (" + schema.KeyList(s.Hidden) + ")"
	}
	return ""
}

// Empty has the columns of a table and the rows that a condition gives, which is to give none.
func Empty(d sqltext.Dialect, t *schema.Table, condition string) string {
	return "SELECT " + columns(d, t, nil) + " WHERE " + condition
}

// columns names the table's columns; those that the files do not have are NULL, those of another type are cast.
func columns(d sqltext.Dialect, t *schema.Table, have []string) string {
	types := make(map[string]string, len(have))
	for _, h := range have {
		name, typ, _ := strings.Cut(h, " ")
		types[name] = typ
	}
	parts := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		name := d.QuoteName(c.Name)
		switch types[c.Name] {
		case "":
			parts[i] = "CAST(NULL AS " + Type(d, c.Type) + ") AS " + name
		case string(c.Type):
			parts[i] = name
		default:
			parts[i] = "CAST(" + name + " AS " + Type(d, c.Type) + ") AS " + name
		}
	}
	return strings.Join(parts, ", ")
}

// Type is the engine's name of a type of the schema.
func Type(d sqltext.Dialect, t schema.Type) string {
	if t == schema.Timestamp && d == sqltext.DuckDB {
		return "TIMESTAMPTZ"
	}
	return string(t)
}

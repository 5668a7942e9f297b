// Package view builds the SQL of a table from the slices of its files in a store: a query that returns the visible rows, with
// the columns of the schema. Engines provide the SQL for reading files.
package view

import (
	"slices"
	"strings"

	"straggler/engine/sqltext"
	"straggler/schema"
	"straggler/store"
)

// SQL returns the union of the slices of a table; from returns the SQL for reading the i-th. A table without slices is empty,
// with its columns.
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

// Chosen lists the tables that Engine.Choose restricts to some inputs: the log tables, and the results of detect that others
// look up.
func Chosen() []*schema.Table {
	return append(slices.Clone(schema.LogTables()), schema.ByName("outliers"), schema.ByName("stage_history"))
}

// ChosenSQL returns the SQL for slices restricted to some inputs, with the column of the input.
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

// where returns the condition for the rows of a slice's files that are part of it.
func where(s store.Slice) string {
	switch {
	case s.Chosen != nil:
		return " WHERE " + store.InputColumn + " IN (" + schema.KeyList(s.Chosen) + ")"
	case len(s.Hidden) > 0:
		return " WHERE " + store.InputColumn + " NOT IN (" + schema.KeyList(s.Hidden) + ")"
	}
	return ""
}

// Empty returns a query with the columns of a table and a condition that no row satisfies.
func Empty(d sqltext.Dialect, t *schema.Table, condition string) string {
	return "SELECT " + columns(d, t, nil) + " WHERE " + condition
}

// columns lists the table's columns; columns missing from the files are NULL, those of another type are cast.
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

// Type returns the engine's name of a type of the schema.
func Type(d sqltext.Dialect, t schema.Type) string {
	if t == schema.Timestamp && d == sqltext.DuckDB {
		return "TIMESTAMPTZ"
	}
	return string(t)
}

package duckdb

import (
	"fmt"
	"slices"
	"strings"

	"straggler/schema"
	"straggler/store"
)

// view is a table of the schema as a query over the files of the visible commits.
type view struct {
	name  string
	sql   string
	empty string // the query that a view stands as until its files have been fetched
	files []store.FileRecord
}

// viewsOf draws up the view of every table.
func viewsOf(files *store.Snapshot) []view {
	var out []view
	for _, t := range schema.Tables() {
		slices := files.Slices(t.Name)
		v := view{name: t.Name, sql: viewSQL(t, slices, files), empty: unfetchedSQL(t)}
		for _, sl := range slices {
			v.files = append(v.files, sl.Files...)
		}
		out = append(out, v)
	}
	return out
}

// viewSQL unites the slices of a table; a table without files is empty and has its columns all the same.
func viewSQL(t *schema.Table, slices []store.Slice, files *store.Snapshot) string {
	if len(slices) == 0 {
		return "SELECT " + selectList(t, nil) + " WHERE false"
	}
	parts := make([]string, len(slices))
	for i, sl := range slices {
		parts[i] = sliceSQL(t, sl, files)
	}
	return strings.Join(parts, " UNION ALL ")
}

// unfetchedSQL has the columns of a table and fails when it is read: a query that comes to it would get too few rows.
func unfetchedSQL(t *schema.Table) string {
	return "SELECT " + selectList(t, nil) + " WHERE error('the table " + t.Name + " was not fetched; write its name in the statement') IS NULL"
}

// sliceSQL reads files that are alike.
func sliceSQL(t *schema.Table, sl store.Slice, files *store.Snapshot) string {
	names := make([]string, len(sl.Files))
	for i, f := range sl.Files {
		names[i] = quoteText(literalPath(files.Path(f)))
	}
	sql := "SELECT " + selectList(t, sl.Columns)
	sql += " FROM read_parquet([" + strings.Join(names, ", ") + "], hive_partitioning = false)"
	if len(sl.Hidden) > 0 {
		sql += " WHERE " + store.InputColumn + " NOT IN (" + joinKeys(sl.Hidden) + ")"
	}
	return sql
}

// literalPath keeps DuckDB from taking a path for a pattern.
func literalPath(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}

// selectList names the table's columns; those that the files do not have are NULL, those of another type are cast.
func selectList(t *schema.Table, have []string) string {
	parts := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		name, typ := quoteName(c.Name), sqlType(c.Type)
		at := slices.IndexFunc(have, func(h string) bool { return strings.HasPrefix(h, c.Name+" ") })
		switch {
		case at < 0:
			parts[i] = "CAST(NULL AS " + typ + ") AS " + name
		case have[at] == c.Name+" "+string(c.Type):
			parts[i] = name
		default:
			parts[i] = "CAST(" + name + " AS " + typ + ") AS " + name
		}
	}
	return strings.Join(parts, ", ")
}

func sqlType(t schema.Type) string {
	if t == schema.Timestamp {
		return "TIMESTAMPTZ"
	}
	return string(t)
}

func joinKeys(keys []schema.Key) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprint(k)
	}
	return strings.Join(parts, ", ")
}

func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

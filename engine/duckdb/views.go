package duckdb

import (
	"strings"

	"straggler/engine"
	"straggler/engine/sqltext"
	"straggler/engine/view"
	"straggler/schema"
	"straggler/store"
)

// table is a table of the schema as a query over the files of the visible commits.
type table struct {
	name   string
	sql    string
	unread string // the query that the table stands as until its files have been fetched
	files  []store.FileRecord
}

// tablesOf builds every table of a snapshot.
func tablesOf(files *store.Snapshot) []table {
	var out []table
	for _, t := range schema.Tables() {
		slices := files.Slices(t.Name)
		made := table{name: t.Name}
		made.sql = view.SQL(sqltext.DuckDB, t, slices, func(i int) string { return readFiles(files, slices[i].Files) })
		// A query that came to an empty table would get too few rows.
		made.unread = view.Empty(sqltext.DuckDB, t, "error("+quoteText("the table "+t.Name+" was not fetched; write its name in the statement")+") IS NULL")
		for _, s := range slices {
			made.files = append(made.files, s.Files...)
		}
		out = append(out, made)
	}
	return out
}

// rowsOf returns the number of rows of tables.
func rowsOf(tables []table) (n int64) {
	for _, t := range tables {
		for _, f := range t.files {
			n += f.Rows
		}
	}
	return n
}

// chosenOf builds the tables restricted to some inputs.
func chosenOf(files *store.Snapshot, inputs []schema.Key) ([]table, error) {
	var out []table
	for _, t := range view.Chosen() {
		slices, err := files.SlicesOf(t.Name, inputs)
		if err != nil {
			return nil, err
		}
		made := table{name: engine.ChosenPrefix + t.Name}
		made.sql = view.ChosenSQL(sqltext.DuckDB, t, slices, func(i int) string { return readFiles(files, slices[i].Files) })
		made.unread = "SELECT error(" + quoteText("the table "+made.name+" was not fetched; write its name in the statement") + ")"
		for _, s := range slices {
			made.files = append(made.files, s.Files...)
		}
		out = append(out, made)
	}
	return out, nil
}

func readFiles(files *store.Snapshot, records []store.FileRecord) string {
	names := make([]string, len(records))
	for i, f := range records {
		names[i] = quoteText(literalPath(files.Path(f)))
	}
	return "read_parquet([" + strings.Join(names, ", ") + "], hive_partitioning = false)"
}

// literalPath escapes a path so that DuckDB does not treat it as a pattern.
func literalPath(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}

func quoteText(s string) string { return sqltext.DuckDB.QuoteText(s) }
func quoteName(s string) string { return sqltext.DuckDB.QuoteName(s) }

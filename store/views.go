package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"straggler/schema"
)

// view is a table of the schema as a query over the files of the visible commits.
type view struct {
	name  string
	sql   string
	empty string // the query that a view stands as until its files have been fetched
	files []FileRecord
}

// views draws up the view of every table, over files as an engine finds them.
func (s *Store) views(ctx context.Context, h holding) ([]view, error) {
	cat, err := s.catalog(ctx)
	if err != nil {
		return nil, err
	}
	var out []view
	for _, t := range schema.Tables() {
		slices := cat.slices(t.Name)
		v := view{name: t.Name, sql: viewSQL(t, slices, h), empty: unfetchedSQL(t)}
		for _, sl := range slices {
			v.files = append(v.files, sl.files...)
		}
		out = append(out, v)
	}
	return out, nil
}

// viewSQL unites the slices of a table; a table without files is empty and has its columns all the same.
func viewSQL(t *schema.Table, slices []slice, h holding) string {
	if len(slices) == 0 {
		return "SELECT " + selectList(t, nil) + " WHERE false"
	}
	parts := make([]string, len(slices))
	for i, sl := range slices {
		parts[i] = sliceSQL(t, sl, h, false)
	}
	return strings.Join(parts, " UNION ALL ")
}

// unfetchedSQL has the columns of a table and fails when it is read: a query that comes to it would get too few rows.
func unfetchedSQL(t *schema.Table) string {
	return "SELECT " + selectList(t, nil) + " WHERE error('the table " + t.Name + " was not fetched; write its name in the statement') IS NULL"
}

// sliceSQL reads files that are alike, with the key of each row's input or without.
func sliceSQL(t *schema.Table, sl slice, h holding, keys bool) string {
	names := make([]string, len(sl.files))
	for i, f := range sl.files {
		names[i] = quoteText(literalPath(h.path(f)))
	}
	sql := "SELECT " + selectList(t, sl.columns)
	if keys {
		sql += ", " + inputColumn
	}
	sql += " FROM read_parquet([" + strings.Join(names, ", ") + "], hive_partitioning = false)"
	if len(sl.hidden) > 0 {
		sql += " WHERE " + inputColumn + " NOT IN (" + joinKeys(sl.hidden) + ")"
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

// plainName says that a name needs no quotes in any engine.
func plainName(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func badName(s string) error {
	return fmt.Errorf("store: %q can not be the name of a table: use lower-case letters, digits and _", s)
}

package store

import (
	"fmt"
	"slices"
	"strings"

	"straggler/schema"
)

// view is a table of the schema as a query over the files of the visible commits.
type view struct {
	name  string
	sql   string
	files []string
}

// views draws up the view of every table. Every file is looked at before, because an engine that trips over a missing
// or shortened one can not say what to do.
func (s *Store) views() ([]view, error) {
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	var out []view
	for _, t := range schema.Tables() {
		slices := cat.slices(t.Name)
		v := view{name: t.Name, sql: s.viewSQL(t, slices)}
		for _, sl := range slices {
			for _, f := range sl.files {
				if err := s.checkSize(f); err != nil {
					return nil, err
				}
				v.files = append(v.files, s.path(f.Path))
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// checkSize sees that a file is there, is a file, and has its length.
func (s *Store) checkSize(f FileRecord) error {
	name := s.path(f.Path)
	info, err := s.fs.Lstat(name)
	switch {
	case err != nil:
		return fmt.Errorf("store: %w: a file of the store is missing: %w; straggler store verify lists what is damaged", ErrDamaged, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("store: %s: %w: it is not a plain file", name, ErrDamaged)
	case info.Size() != f.Bytes:
		return fmt.Errorf("store: %s: %w: it has %d bytes and its commit says %d; straggler store verify lists what is damaged",
			name, ErrDamaged, info.Size(), f.Bytes)
	}
	return nil
}

// viewSQL unites the slices of a table; a table without files is empty and has its columns all the same.
func (s *Store) viewSQL(t *schema.Table, slices []slice) string {
	if len(slices) == 0 {
		return "SELECT " + selectList(t, nil) + " WHERE false"
	}
	parts := make([]string, len(slices))
	for i, sl := range slices {
		parts[i] = s.sliceSQL(t, sl, false)
	}
	return strings.Join(parts, " UNION ALL ")
}

// sliceSQL reads files that are alike, with the key of each row's input or without.
func (s *Store) sliceSQL(t *schema.Table, sl slice, keys bool) string {
	names := make([]string, len(sl.files))
	for i, f := range sl.files {
		names[i] = quoteText(literalPath(s.path(f.Path)))
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

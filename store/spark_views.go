package store

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"straggler/schema"
)

// sparkTable is a table of the schema as statements that make it a view of a Spark session: for every slice of it one over
// its files, and one that unites them under the table's name.
type sparkTable struct {
	name       string
	statements []string
}

// sparkTables draws up all of them. at is where the cluster has the store, "" where we have it.
func (s *Store) sparkTables(ctx context.Context, at string) ([]sparkTable, error) {
	cat, err := s.catalog(ctx)
	if err != nil {
		return nil, err
	}
	var out []sparkTable
	for _, t := range schema.Tables() {
		made := sparkTable{name: t.Name}
		var parts []string
		for i, sl := range cat.slices(t.Name) {
			if err := s.at.check(ctx, sl.files); err != nil {
				return nil, fmt.Errorf("store: %w", err)
			}
			files := make([]string, len(sl.files))
			for j, f := range sl.files {
				files[j] = s.sparkPath(at, f.Path)
			}
			name := fmt.Sprintf("straggler_%s_%d", t.Name, i)
			sql, err := sparkFiles(name, sl.columns, files)
			if err != nil {
				return nil, err
			}
			made.statements = append(made.statements, sql)
			part := "SELECT " + sparkList(t, sl.columns) + " FROM " + sparkName(name)
			if len(sl.hidden) > 0 {
				part += " WHERE " + inputColumn + " NOT IN (" + joinKeys(sl.hidden) + ")"
			}
			parts = append(parts, part)
		}
		if len(parts) == 0 {
			parts = []string{"SELECT " + sparkList(t, nil) + " WHERE false"}
		}
		made.statements = append(made.statements, "CREATE OR REPLACE TEMPORARY VIEW "+sparkName(t.Name)+" AS "+strings.Join(parts, " UNION ALL "))
		out = append(out, made)
	}
	return out, nil
}

// sparkFiles makes a view over files that have the same columns.
func sparkFiles(name string, columns, files []string) (string, error) {
	list := make([]string, 0, len(columns)+1)
	hasKey := false
	for _, c := range columns { // "name TYPE"
		column, typ, ok := strings.Cut(c, " ")
		if !ok {
			return "", fmt.Errorf("store: %w: a commit has a column %q", ErrDamaged, c)
		}
		hasKey = hasKey || column == inputColumn
		list = append(list, sparkName(column)+" "+sparkType(schema.Type(typ)))
	}
	if !hasKey {
		list = append(list, inputColumn+" BIGINT")
	}
	paths, err := json.Marshal(files)
	if err != nil {
		return "", fmt.Errorf("store: %w", err)
	}
	return "CREATE OR REPLACE TEMPORARY VIEW " + sparkName(name) + " (" + strings.Join(list, ", ") +
		") USING parquet OPTIONS (paths " + sparkText(string(paths)) + ")", nil
}

// sparkPath is a file of the store as the cluster finds it. What Hadoop would take for a pattern is escaped.
func (s *Store) sparkPath(at, file string) string {
	switch {
	case at == "":
		at = escapeGlob.Replace(s.at.cluster())
	case strings.HasPrefix(at, "/"):
		at = "file:" + escapeGlob.Replace(at)
	}
	return at + escapeGlob.Replace(path.Join("/", file))
}

var escapeGlob = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// sparkList is selectList in Spark's words.
func sparkList(t *schema.Table, have []string) string {
	types := make(map[string]string, len(have))
	for _, h := range have {
		name, typ, _ := strings.Cut(h, " ")
		types[name] = typ
	}
	parts := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		name, typ := sparkName(c.Name), sparkType(c.Type)
		switch types[c.Name] {
		case "":
			parts[i] = "CAST(NULL AS " + typ + ") AS " + name
		case string(c.Type):
			parts[i] = name
		default:
			parts[i] = "CAST(" + name + " AS " + typ + ") AS " + name
		}
	}
	return strings.Join(parts, ", ")
}

func sparkType(t schema.Type) string { return string(t) }

func sparkName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

func sparkText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`, "\x00", `\0`).Replace(s) + "'"
}

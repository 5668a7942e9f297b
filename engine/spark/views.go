package spark

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"straggler/schema"
	"straggler/store"
)

// table is a table of the schema as statements that make it a view of a Spark session: for every slice of it one over
// its files, and one that unites them under the table's name.
type table struct {
	name       string
	statements []string
}

// drawTables gives the statements of all tables.
func (e *Engine) drawTables(ctx context.Context) ([]table, error) {
	var out []table
	for _, t := range schema.Tables() {
		made := table{name: t.Name}
		var parts []string
		for i, sl := range e.files.Slices(t.Name) {
			if err := e.files.Check(ctx, sl.Files); err != nil {
				return nil, fmt.Errorf("spark: %w", err)
			}
			files := make([]string, len(sl.Files))
			for j, f := range sl.Files {
				files[j] = e.filePath(f.Path)
			}
			name := fmt.Sprintf("straggler_%s_%d", t.Name, i)
			sql, err := sparkFiles(name, sl.Columns, files)
			if err != nil {
				return nil, err
			}
			made.statements = append(made.statements, sql)
			part := "SELECT " + sparkList(t, sl.Columns) + " FROM " + sparkName(name)
			if len(sl.Hidden) > 0 {
				part += " WHERE " + store.InputColumn + " NOT IN (" + joinKeys(sl.Hidden) + ")"
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
			return "", fmt.Errorf("spark: %w: a commit has a column %q", store.ErrDamaged, c)
		}
		hasKey = hasKey || column == store.InputColumn
		list = append(list, sparkName(column)+" "+sparkType(schema.Type(typ)))
	}
	if !hasKey {
		list = append(list, store.InputColumn+" BIGINT")
	}
	paths, err := json.Marshal(files)
	if err != nil {
		return "", fmt.Errorf("spark: %w", err)
	}
	return "CREATE OR REPLACE TEMPORARY VIEW " + sparkName(name) + " (" + strings.Join(list, ", ") +
		") USING parquet OPTIONS (paths " + sparkText(string(paths)) + ")", nil
}

// filePath is a file of the store as the cluster finds it. What Hadoop would take for a pattern is escaped.
func (e *Engine) filePath(file string) string {
	at := e.server.storeURL
	switch {
	case at == "":
		at = escapeGlob.Replace(e.st.HadoopURL())
	case strings.HasPrefix(at, "/"):
		at = "file:" + escapeGlob.Replace(at)
	}
	return at + escapeGlob.Replace(path.Join("/", file))
}

var escapeGlob = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// sparkList names the table's columns; those that the files do not have are NULL, those of another type are cast.
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

func joinKeys(keys []schema.Key) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprint(k)
	}
	return strings.Join(parts, ", ")
}

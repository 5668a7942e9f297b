package spark

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"straggler/engine"
	"straggler/engine/sqltext"
	"straggler/engine/view"
	"straggler/schema"
	"straggler/store"
)

// table is a table of the schema as statements that create it as a view of a session: one view per slice over its files, and
// their union under the table's name.
type table struct {
	name       string
	statements []string
}

// drawTables returns the statements of all tables.
func (e *Engine) drawTables(ctx context.Context) ([]table, error) {
	var out []table
	for _, t := range schema.Tables() {
		made, err := e.draw(ctx, t, t.Name, e.files.Slices(t.Name), view.SQL)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}

// drawChosen returns the statements of the tables restricted to some inputs.
func (e *Engine) drawChosen(ctx context.Context, inputs []schema.Key) ([]table, error) {
	var out []table
	for _, t := range view.Chosen() {
		slices, err := e.files.SlicesOf(t.Name, inputs)
		if err != nil {
			return nil, err
		}
		made, err := e.draw(ctx, t, engine.ChosenPrefix+t.Name, slices, view.ChosenSQL)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}

// draw returns the statements of one table under a name; unite returns the query over its slices.
func (e *Engine) draw(ctx context.Context, t *schema.Table, name string, slices []store.Slice,
	unite func(sqltext.Dialect, *schema.Table, []store.Slice, func(int) string) string) (table, error) {
	made := table{name: name}
	sliceName := func(i int) string { return quoteName(fmt.Sprintf("straggler_%s_%d", name, i)) }
	for i, s := range slices {
		if err := e.files.Check(ctx, s.Files); err != nil {
			return made, fmt.Errorf("spark: %w", err)
		}
		files := make([]string, len(s.Files))
		for j, f := range s.Files {
			files[j] = e.filePath(f.Path)
		}
		sql, err := filesView(sliceName(i), s.Columns, files)
		if err != nil {
			return made, err
		}
		made.statements = append(made.statements, sql)
	}
	made.statements = append(made.statements, viewOf(name, unite(sqltext.Spark, t, slices, sliceName)))
	return made, nil
}

// columnTypes are the allowed types of columns in a commit. They become part of SQL, so nothing else is accepted.
var columnTypes = []schema.Type{schema.Bool, schema.Int, schema.BigInt, schema.Double, schema.Timestamp, schema.String}

// filesView creates a view over files with the same columns, each of them "name TYPE".
func filesView(name string, columns, files []string) (string, error) {
	list := make([]string, 0, len(columns)+1)
	hasKey := false
	for _, c := range columns {
		column, typ, ok := strings.Cut(c, " ")
		if !ok || !slices.Contains(columnTypes, schema.Type(typ)) {
			return "", fmt.Errorf("spark: %w: a commit has a column %q", store.ErrDamaged, c)
		}
		hasKey = hasKey || column == store.InputColumn
		list = append(list, quoteName(column)+" "+view.Type(sqltext.Spark, schema.Type(typ)))
	}
	if !hasKey {
		list = append(list, store.InputColumn+" BIGINT")
	}
	return parquetView(name, list, files)
}

// parquetView creates a view over files with columns, each a quoted name and a type.
func parquetView(name string, columns, files []string) (string, error) {
	paths, err := json.Marshal(files)
	if err != nil {
		return "", fmt.Errorf("spark: %w", err)
	}
	return "CREATE OR REPLACE TEMPORARY VIEW " + name + " (" + strings.Join(columns, ", ") + ") USING parquet OPTIONS (paths " +
		quoteText(string(paths)) + ")", nil
}

// filePath returns the path of a file of the store on the cluster. What Hadoop would treat as a pattern is escaped.
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

func quoteName(s string) string { return sqltext.Spark.QuoteName(s) }
func quoteText(s string) string { return sqltext.Spark.QuoteText(s) }

package spark

import (
	"strings"

	"straggler/engine/sqltext"
)

// portable cuts a statement before its semicolon, and leaves out NOT MATERIALIZED: it asks DuckDB for what Spark does
// anyway, and Spark has no syntax for it.
func portable(sql string) string {
	var out strings.Builder
	not := -1 // where the word NOT begins that is the last one so far
	for t := range sqltext.Spark.Tokens(sqltext.Spark.Trim(sql)) {
		switch {
		case t.Is("materialized") && not >= 0:
			kept := out.String()[:not]
			out.Reset()
			out.WriteString(kept)
			not = -1
			continue
		case t.Is("not"):
			not = out.Len()
		case t.Kind != sqltext.Space && t.Kind != sqltext.Comment:
			not = -1
		}
		out.WriteString(t.Text)
	}
	return out.String()
}

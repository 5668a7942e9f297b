package spark

import (
	"strings"

	"straggler/engine/sqltext"
)

// portable removes the semicolon of a statement, and NOT MATERIALIZED, which requests from DuckDB what Spark always does and
// has no syntax for.
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

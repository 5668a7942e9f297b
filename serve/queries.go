package serve

import (
	"embed"

	"straggler/schema"
	"straggler/serve/catalog"
)

//go:embed sql/*.sql
var queryFiles embed.FS

// sqlOf is the query of a file about one row.
func sqlOf(file string, key schema.Key) string { return catalog.SQL(queryFiles, file, key) }

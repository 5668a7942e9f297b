package serve

import (
	"embed"

	"straggler/schema"
	"straggler/serve/catalog"
)

//go:embed sql/*.sql
var queryFiles embed.FS

// sqlOf returns the query in a file, about the row with a key.
func sqlOf(file string, key schema.Key) string { return catalog.SQL(queryFiles, file, key) }

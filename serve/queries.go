package serve

import (
	"embed"
	"fmt"
	"strconv"
	"strings"

	"straggler/schema"
)

//go:embed sql/*.sql
var queryFiles embed.FS

// sqlOf is the query of a file about one row, without the file's comment.
func sqlOf(file string, key schema.Key) string {
	text, err := queryFiles.ReadFile("sql/" + file + ".sql")
	if err != nil {
		panic(fmt.Sprintf("serve: no query %s", file)) // the names are constants of this package
	}
	sql := strings.TrimSpace(string(text))
	for strings.HasPrefix(sql, "--") {
		_, sql, _ = strings.Cut(sql, "\n")
	}
	return strings.ReplaceAll(sql, "{key}", strconv.FormatInt(key, 10))
}

package timeline

import (
	"embed"
	"fmt"
	"strconv"
	"strings"

	"straggler/engine/sqltext"
	"straggler/schema"
)

//go:embed sql/*.sql
var queryFiles embed.FS

// span is a window in microseconds since the epoch, on some machines of an application.
type span struct {
	application schema.Key
	from, to    int64
	end         int64 // of the whole timeline: attempts that the log does not end last until then
	machines    []string
	bins        int64
	skip        int
}

// width returns the width of a bin. The bins cover the window and a little more.
func (s *span) width() int64 { return max(1, (s.to-s.from+s.bins-1)/s.bins) }

// sql returns the query in a file, about a span. Queries that it includes are inserted first.
func (s *span) sql(file string) string {
	text := strings.NewReplacer("{window}", "\n"+query("window"), "{slots}", "\n"+query("slots")).Replace(query(file))
	names := make([]string, len(s.machines))
	for i, m := range s.machines {
		names[i] = strings.ReplaceAll(sqltext.DuckDB.QuoteText(m), "\x00", "' || chr(0) || '")
	}
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	return strings.NewReplacer("{application}", n(s.application), "{from}", n(s.from), "{to}", n(s.to), "{end}", n(s.end),
		"{width}", n(s.width()), "{machines}", strings.Join(names, ", "),
		"{count}", strconv.Itoa(mostMachines), "{skip}", strconv.Itoa(s.skip)).Replace(text)
}

// query returns the text of a file.
func query(file string) string {
	text, err := queryFiles.ReadFile("sql/" + file + ".sql")
	if err != nil {
		panic(fmt.Sprintf("timeline: no query %s", file)) // the names are constants of this package
	}
	return string(text)
}

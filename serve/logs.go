package serve

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"time"

	"straggler/ingest/run"
	"straggler/report/prose"
	"straggler/schema"
	"straggler/serve/catalog"
)

// logsPage says what is watched, what was not read yet, and what could not be read.
func (s *Server) logsPage(w http.ResponseWriter, r *http.Request) {
	s.write(w, r, page{Title: "Logs", Here: "/logs"}, func(ctx context.Context, w io.Writer) error {
		fmt.Fprintf(w, "<h1 class=\"title\">Logs</h1>")
		if logs := s.c.Logs(); len(logs) > 0 {
			fmt.Fprintf(w, "<p class=\"lead\">Watched, and read again when they grow:</p><ul class=\"plain\">")
			for _, l := range logs {
				fmt.Fprintf(w, "<li><code>%s</code></li>", template.HTMLEscapeString(prose.Clean(l, prose.TextRunes)))
			}
			fmt.Fprintf(w, "</ul>")
		} else {
			fmt.Fprintf(w, "<p class=\"lead\">No logs are watched: the pages show what the store holds, and what other programs add to it.</p>")
		}
		status := s.c.Status()
		if err := writeLogs(w, &status, len(status.Waiting)); err != nil {
			return err
		}
		sql := sqlOf("ingests", 0)
		ingests, err := catalog.Read[schema.Ingest](ctx, s.c, sql)
		if err != nil {
			return err
		}
		l := &listing{ID: "ingests", Caption: "Ingests", Empty: "Nothing was read into the store yet.", Query: newQuery("list", sql),
			Columns: []column{{Title: "Ingest"}, {Title: "Formats"}, {Title: "Logs", Number: true}, {Title: "Size", Doc: "decompressed", Number: true}, {Title: "Records", Number: true}, {Title: "Rejected", Number: true}}}
		for _, i := range ingests {
			l.Rows = append(l.Rows, []cell{{Text: prose.Clean(i.IngestID, 40)}, {Text: prose.Clean(i.Format, 80)}, {Text: prose.Count(i.Files)}, {Text: prose.Bytes(float64(i.Bytes))}, {Text: prose.Count(i.RowsIn)}, {Text: prose.Count(i.Rejects)}})
		}
		l.finish(r, order{}, len(l.Rows))
		return l.write(w)
	})
}

// writeLogs lists logs that were not read, at most so many of them.
func writeLogs(w io.Writer, s *catalog.Status, most int) error {
	for _, part := range []struct {
		title string
		logs  []run.Result
		more  int
		why   string
	}{
		{"Not read yet", s.Waiting, s.More, "Format"},
		{"Not readable", s.Failed, 0, "Why"},
	} {
		if len(part.logs) == 0 {
			continue
		}
		fmt.Fprintf(w, "<h2>%s</h2>", part.title)
		l := &listing{ID: "logs", Caption: "Logs, the one that changed last first", Columns: []column{{Title: "Log"}, {Title: "Size", Number: true}, {Title: "Changed"}, {Title: part.why}}}
		for _, r := range part.logs[:min(len(part.logs), max(most, 1))] {
			changed := prose.Dash
			if r.Changed > 0 {
				changed = time.Unix(0, r.Changed).UTC().Format("2006-01-02 15:04:05 UTC")
			}
			why := r.Format
			if part.why == "Why" {
				why = prose.Clean(r.Reason, prose.TextRunes)
			}
			l.Rows = append(l.Rows, []cell{{Text: prose.Clean(r.Name, prose.TextRunes)}, {Text: prose.Bytes(float64(r.Bytes))}, {Text: changed}, {Text: why}})
		}
		l.label()
		if err := l.write(w); err != nil {
			return err
		}
		if more := len(part.logs) + part.more - len(l.Rows); more > 0 {
			fmt.Fprintf(w, "<p class=\"more\">And %s more.</p>", prose.Count(int64(more)))
		}
	}
	return nil
}

package serve

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"straggler/ingest/run"
	"straggler/report/prose"
	"straggler/schema"
	"straggler/serve/catalog"
)

// logsPage lists the watched paths, the logs that have not been read yet, and those that could not be read.
func (s *Server) logsPage(w http.ResponseWriter, r *http.Request) {
	s.write(w, r, page{Title: "Logs", Here: "/logs"}, func(ctx context.Context, w io.Writer) error {
		writeTitle(w, "Logs")
		if logs := s.c.Logs(); len(logs) > 0 {
			writeLead(w, "Watched, and read again when they grow:")
			fmt.Fprint(w, `<ul class="plain">`)
			for _, l := range logs {
				fmt.Fprintf(w, "<li><code>%s</code></li>", template.HTMLEscapeString(prose.Clean(l, prose.TextRunes)))
			}
			fmt.Fprintf(w, "</ul>")
		} else {
			writeLead(w, "No logs are watched: the pages show what the store holds, and what other programs add to it.")
		}
		status := s.c.Status()
		if len(status.Waiting) > 20 || r.FormValue("q") != "" {
			if err := templates.ExecuteTemplate(w, "search", searchForm{Action: "/logs", Text: r.FormValue("q"), Clear: r.FormValue("q") != ""}); err != nil {
				return err
			}
		}
		if err := writeLogs(w, r, &status, 0); err != nil {
			return err
		}
		sql := sqlOf("ingests", 0)
		ingests, err := catalog.Read[schema.Ingest](ctx, s.c, sql)
		if err != nil {
			return err
		}
		l := &listing{ID: "ingests", Caption: "Ingests", Empty: "Nothing was read into the store yet.", Query: newQuery("list", sql),
			Columns: []column{
				{Title: "Ingest"}, {Title: "Formats"}, {Title: "Logs", Number: true},
				{Title: "Size", Doc: "decompressed", Number: true},
				{Title: "Records", Number: true}, {Title: "Rejected", Number: true},
			}}
		for _, i := range ingests {
			l.Rows = append(l.Rows, []cell{{Text: prose.Clean(i.IngestID, 40)}, {Text: prose.Clean(i.Format, 80)},
				{Text: prose.Count(i.Files)}, {Text: prose.Bytes(float64(i.Bytes))}, {Text: prose.Count(i.RowsIn)}, {Text: prose.Count(i.Rejects)}})
		}
		l.finish(r, order{}, len(l.Rows))
		return l.write(w)
	})
}

// writeLogs lists the unread logs whose names contain the words of the request: the first most of them, or the requested page
// if most is 0.
func writeLogs(w io.Writer, r *http.Request, s *catalog.Status, most int) error {
	words := searched(r)
	for _, part := range []struct {
		id, title string
		logs      []run.Result
		more      int
		why       string
	}{
		{"waiting", "Not read yet", s.Waiting, s.More, "Format"},
		{"failed", "Not readable", s.Failed, 0, "Why"},
	} {
		var picked []run.Result
		for i := range part.logs {
			if holds(part.logs[i].Name, words) {
				picked = append(picked, part.logs[i])
			}
		}
		if len(picked) == 0 {
			continue
		}
		fmt.Fprintf(w, "<h2>%s</h2>", part.title)
		l := &listing{ID: part.id, Caption: "Logs, the one that changed last first", Columns: []column{
			{Title: "Log"}, {Title: "Size", Number: true}, {Title: "Changed"}, {Title: part.why},
		}}
		var o order
		rows := most
		if most == 0 {
			o, rows = orderOf(r, nil, "", false), pageRows
		}
		for i := range picked[min(o.From, len(picked)):min(o.From+rows, len(picked))] {
			l.Rows = append(l.Rows, logRow(&picked[o.From+i], part.why == "Why"))
		}
		if most == 0 {
			l.Empty = "There are fewer."
			l.finish(r, o, len(picked))
		}
		l.label()
		if err := l.write(w); err != nil {
			return err
		}
		if more := len(picked) - len(l.Rows); most > 0 && more > 0 {
			address := "/logs"
			if len(words) > 0 {
				address += "?q=" + url.QueryEscape(strings.Join(words, " "))
			}
			fmt.Fprintf(w, "<p class=\"more\">And <a href=\"%s\">%s more</a>.</p>", template.HTMLEscapeString(address), prose.Count(int64(more+part.more)))
		}
	}
	return nil
}

func logRow(r *run.Result, why bool) []cell {
	changed, last := prose.Dash, cell{Text: r.Format}
	if r.Changed > 0 {
		changed = time.Unix(0, r.Changed).UTC().Format("2006-01-02 15:04:05 UTC")
	}
	switch {
	case why:
		last.Text = prose.Clean(r.Reason, prose.TextRunes)
	case r.Format == "":
		last = cell{Text: prose.Dash, Note: "it was not opened yet"}
	}
	return []cell{{Text: prose.Clean(r.Name, prose.TextRunes)}, {Text: prose.Bytes(float64(r.Bytes))}, {Text: changed}, last}
}

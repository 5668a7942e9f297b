package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"straggler/engine"
	"straggler/report/prose"
	"straggler/schema"
	"straggler/serve/api"
	"straggler/serve/catalog"
	"straggler/table"
)

// Limits on the result of a query in the browser; straggler sql has none.
const (
	consoleRows = 200       // a page of rows
	mostSkipped = 1_000_000 // rows before a page: they are read and thrown away
	cellRunes   = 300
)

// consoleView is the data of the console's template.
type consoleView struct {
	SQL, Held string
	Downloads []link
	Result    *listing
	Chart     *barChart
	Problem   *problemView
}

// consolePage runs the query of its address. A link from another site shows the query and waits for its reader to run it.
func (s *Server) consolePage(w http.ResponseWriter, r *http.Request) {
	p := page{Title: "SQL", Here: "/sql", Scripts: []string{"console.js"}}
	s.write(w, r, p, func(ctx context.Context, w io.Writer) error {
		v := consoleView{SQL: r.FormValue("q")}
		switch {
		case v.SQL == "":
		case len(v.SQL) > catalog.MostQuery:
			v.Problem = &problemView{Error: "The query is longer than " + prose.Bytes(catalog.MostQuery) + ".", Remedy: "Run it with straggler sql -f FILE."}
		case r.Header.Get("Sec-Fetch-Site") == "cross-site":
			v.Held = "Another site linked to this query. Read it, and run it if it is what you want."
		default:
			if err := s.answer(ctx, r, &v); err != nil {
				problem := newProblem("The query failed", err)
				v.Problem = &problem
			}
		}
		return templates.ExecuteTemplate(w, "console", &v)
	})
}

// answer runs the query and fills in the requested page of its rows.
func (s *Server) answer(ctx context.Context, r *http.Request, v *consoleView) error {
	skip, err := strconv.Atoi(r.FormValue("from"))
	if err != nil || skip < 0 || skip > mostSkipped {
		skip = 0
	}
	l := &listing{ID: "result", Caption: "Result", Empty: "The query gave no rows."}
	more := false
	var columns []engine.Column
	var values [][]any
	err = s.c.Query(ctx, v.SQL, func(rows *engine.Rows) error {
		columns = slices.Clone(rows.Columns())
		for n := 0; rows.Next(); n++ {
			if n < skip {
				continue
			}
			if more = n == skip+consoleRows; more {
				return nil
			}
			row := make([]any, len(columns))
			for i := range columns {
				row[i] = rows.Value(i)
			}
			values = append(values, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range columns {
		l.Columns = append(l.Columns, column{Title: prose.Clean(c.Name, prose.NameRunes), Doc: prose.Clean(c.Native, prose.NameRunes), Number: numeric(c.Type)})
	}
	for _, row := range values {
		cells := make([]cell, len(row))
		for i, value := range row {
			cells[i] = cell{Text: prose.Clean(table.Text(value), cellRunes)}
		}
		l.Rows = append(l.Rows, cells)
	}
	l.finish(r, order{}, 0)
	if len(values) > 0 {
		l.Shown = fmt.Sprintf("rows %d to %d", skip+1, skip+len(values))
	}
	if skip > 0 {
		l.Previous = with(r, "from", strconv.Itoa(max(0, skip-consoleRows)))
	}
	if more {
		l.Next = with(r, "from", strconv.Itoa(skip+consoleRows))
	}
	v.Result, v.Chart = l, newBarChart(columns, values)
	for _, d := range downloads {
		v.Downloads = append(v.Downloads, link{d.title, "/sql/" + d.file + "?q=" + url.QueryEscape(v.SQL)})
	}
	return nil
}

func numeric(t schema.Type) bool {
	return t == schema.BigInt || t == schema.Int || t == schema.Double
}

// downloads are the encodings in which the rows of a query can be downloaded.
var downloads = []struct{ title, file, encoding, mime string }{
	{"CSV", "rows.csv", "csv", "text/csv; charset=utf-8"},
	{"Parquet", "rows.parquet", "parquet", "application/vnd.apache.parquet"},
	{"JSON", "rows.json", "json", "application/json; charset=utf-8"},
}

// download streams all rows of a query.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	at := slices.IndexFunc(downloads, func(d struct{ title, file, encoding, mime string }) bool { return d.file == r.PathValue("file") })
	if at < 0 {
		s.noPage(w, r)
		return
	}
	enc, _ := table.Named(downloads[at].encoding)
	sql := r.FormValue("q")
	if len(sql) > catalog.MostQuery || r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		http.Error(w, "Open the console and run the query there.", http.StatusForbidden)
		return
	}
	begun := false
	err := s.c.Query(r.Context(), sql, func(rows *engine.Rows) error {
		begun = true
		w.Header().Set("Content-Type", downloads[at].mime)
		w.Header().Set("Content-Disposition", `attachment; filename="`+downloads[at].file+`"`)
		_, err := enc.Write(w, rows, table.Options{})
		return err
	})
	switch {
	case err == nil:
	case begun: // the browser must not take what it has for the whole
		panic(http.ErrAbortHandler)
	default:
		http.Error(w, prose.Clean(err.Error(), 4*prose.TextRunes), api.QueryStatus(err))
	}
}

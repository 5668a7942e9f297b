package serve

import (
	"io"
	"net/http"
	"net/url"
	"strconv"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// pageRows is the number of rows on a page of a list. A browser sorts and searches that many without a noticeable pause.
const pageRows = 100

// listing is a page of a list, the data of its template.
type listing struct {
	ID, Caption, Shown, Empty string
	Columns                   []column
	Rows                      [][]cell
	Previous, Next            string // addresses
	Query                     *queryView
}

// column is the head of a column. By is its name for sorting, "" if the list cannot be sorted by it.
type column struct {
	Title, Doc, By, Href, Sorted string
	Number                       bool
	Falling                      bool // a first click sorts the largest to the top
}

type cell struct {
	Text, Sub, Note, Href, Label string
	Number                       bool
	Bar                          int          // percent, where one is drawn
	Cause                        schema.Cause // whose key is drawn
	Letter                       string       // of the cause
}

// causeCell returns a cause with its key.
func causeCell(c schema.Cause) cell {
	info := report.InfoOf(c)
	if c == report.NotOutlier {
		return cell{Text: info.Title}
	}
	return cell{Text: info.Title, Cause: info.Cause, Letter: info.Letter}
}

// queryView is a query that the user can see and run.
type queryView struct{ What, SQL, Run string }

// order is the requested order of a list: the column to sort by, and the first row.
type order struct {
	By      string
	Falling bool
	From    int
}

// orderOf reads the requested order of a list; the default is by, descending.
func orderOf(r *http.Request, columns []column, by string, falling bool) order {
	o := order{By: by, Falling: falling}
	for _, c := range columns {
		if want := r.FormValue("sort"); c.By != "" && (want == c.By || want == "-"+c.By) {
			o.By, o.Falling = c.By, want != c.By
		}
	}
	if n, err := strconv.Atoi(r.FormValue("from")); err == nil && n > 0 && n < 1<<40 {
		o.From = n / pageRows * pageRows
	}
	return o
}

// finish labels cells, links the heads and the neighbouring pages, and states the range of rows.
func (l *listing) finish(r *http.Request, o order, total int) {
	for i := range l.Columns {
		c := &l.Columns[i]
		if c.By == "" {
			continue
		}
		falling := c.Falling
		if c.By == o.By {
			falling = !o.Falling
			c.Sorted = map[bool]string{true: "descending", false: "ascending"}[o.Falling]
		}
		c.Href = with(r, "sort", map[bool]string{true: "-", false: ""}[falling]+c.By, "from", "")
	}
	l.label()
	if total > pageRows {
		l.Shown = prose.Count(int64(min(o.From+1, total))) + " to " + prose.Count(int64(min(o.From+pageRows, total))) + " of " + prose.Count(int64(total))
	}
	if o.From > 0 {
		l.Previous = with(r, "from", strconv.Itoa(o.From-pageRows))
	}
	if o.From+pageRows < total {
		l.Next = with(r, "from", strconv.Itoa(o.From+pageRows))
	}
}

// label gives cells the titles of their columns, which narrow screens show beside them.
func (l *listing) label() {
	for _, row := range l.Rows {
		for i := range row {
			row[i].Label, row[i].Number = l.Columns[i].Title, l.Columns[i].Number
		}
	}
}

// with returns the address of a request with some parameters changed; a parameter set to "" or 0 is left out.
func with(r *http.Request, changes ...string) string {
	q := url.Values{}
	for name, v := range r.URL.Query() {
		q[name] = v
	}
	for i := 0; i < len(changes); i += 2 {
		if q.Del(changes[i]); changes[i+1] != "" && changes[i+1] != "0" {
			q.Set(changes[i], changes[i+1])
		}
	}
	return (&url.URL{Path: r.URL.Path, RawQuery: q.Encode()}).String()
}

func (l *listing) write(w io.Writer) error { return templates.ExecuteTemplate(w, "listing", l) }

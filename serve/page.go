package serve

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"

	"straggler/report"
	"straggler/report/html"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
	"straggler/serve/api"
	"straggler/serve/catalog"
)

// page is the frame of a page.
type page struct {
	Title  string
	Here   string // the entry of the navigation that is shown as the current one
	Crumbs []link // from the list of applications to here
	Status int    // 0 is 200

	Scripts []string // that it needs beside those of all pages
}

// link is a text with an address, or a hidden field of a form: its name and value.
type link struct{ Text, Href string }

// frame is the data of the template of all pages.
type frame struct {
	page
	Nav      []link
	Problems []problemView
	Stale    bool // outliers and causes are of other logs than the page
	Style    string
	Load     []string // addresses of scripts
	Version  string
	Store    string
}

// problemView is a problem and what to do about it.
type problemView struct{ What, Error, Remedy string }

var navigation = []link{{"Applications", "/"}, {"Machines", "/machines"}, {"Policies", "/policies"}, {"Audit", "/audit"}, {"SQL", "/sql"}, {"Logs", "/logs"}}

//go:embed *.tmpl
var templateFiles embed.FS

var templates = template.Must(template.ParseFS(templateFiles, "*.tmpl"))

// write writes the frame, so that a browser has something to show at once, and then the content. An error replaces the rest of
// it.
func (s *Server) write(w http.ResponseWriter, r *http.Request, p page, content func(ctx context.Context, w io.Writer) error) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	if r.Method == http.MethodHead {
		return
	}
	f := frame{page: p, Nav: navigation, Problems: problems(s.c.Status().Problems), Stale: !s.c.Fresh() && p.Status == 0 &&
		p.Here == "", Style: assetPath("style.css"), Load: scripts(p.Scripts), Version: s.o.Version, Store: s.c.Where()}
	if templates.ExecuteTemplate(w, "head", f) != nil {
		return // the client is gone
	}
	html.WritePatterns(w)
	http.NewResponseController(w).Flush()
	if err := content(r.Context(), w); err != nil && r.Context().Err() == nil {
		templates.ExecuteTemplate(w, "problem", newProblem("This part of the page could not be made", err))
	}
	templates.ExecuteTemplate(w, "foot", f)
}

// fail writes a page about an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := page{Title: "Not available", Status: api.Status(err)}
	switch p.Status {
	case http.StatusNotFound:
		p.Title = "Not found"
	case http.StatusMethodNotAllowed:
		p.Title = "Method not supported"
	case http.StatusConflict:
		p.Title = "Already replaying"
	case http.StatusBadRequest:
		p.Title = "Invalid request"
	}
	s.write(w, r, p, func(_ context.Context, w io.Writer) error {
		writeTitle(w, p.Title)
		return templates.ExecuteTemplate(w, "problem", newProblem("", err))
	})
}

// noAnswer writes that an address does not exist, or which methods it supports.
func (s *Server) noAnswer(w http.ResponseWriter, r *http.Request, m *http.ServeMux) {
	err := api.ErrAddress
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		other := *r
		other.Method = method
		if _, pattern := m.Handler(&other); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		err = fmt.Errorf("%w, but with %s", api.ErrMethod, strings.Join(allowed, " or "))
	}
	s.answerError(w, r, err)
}

func (s *Server) noPage(w http.ResponseWriter, r *http.Request) { s.answerError(w, r, api.ErrAddress) }

// answerError writes an error in the form of the API or of a page.
func (s *Server) answerError(w http.ResponseWriter, r *http.Request, err error) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		api.Refuse(w, err)
		return
	}
	s.fail(w, r, err)
}

// writeLinks writes links to related pages. Texts and addresses are not escaped: none is from a log.
func writeLinks(w io.Writer, links ...link) {
	for i, l := range links {
		fmt.Fprintf(w, "%s<a href=\"%s\">%s</a>", map[bool]string{true: "<p class=\"more-pages\">", false: " · "}[i == 0], l.Href, l.Text)
	}
	if len(links) > 0 {
		fmt.Fprint(w, "</p>")
	}
}

// writeTitle writes the heading of a page.
func writeTitle(w io.Writer, text string) {
	fmt.Fprintf(w, "<h1 class=\"title\">%s</h1>", template.HTMLEscapeString(text))
}

// writeLead writes a paragraph that introduces or replaces what a page shows.
func writeLead(w io.Writer, text string) error {
	_, err := fmt.Fprintf(w, "<p class=\"lead\">%s</p>", template.HTMLEscapeString(text))
	return err
}

// writeAge notes that the following content is from an earlier state of the store.
func writeAge(w io.Writer, current bool) {
	if !current {
		fmt.Fprint(w, "<p class=\"trust weak\">This is of an earlier state of the store: what has changed since is being added up.</p>")
	}
}

// sections writes sections of the report, linked to the other pages.
func sections(w io.Writer, list ...view.Section) error {
	view.Link(list, address)
	return html.WriteSections(w, list)
}

// address returns the address of the page that a reference points to.
func address(r view.Ref) string {
	switch r.Kind {
	case view.ToApplication:
		return applicationAddress(r.Key)
	case view.ToQuery:
		return fmt.Sprintf("/queries/%d", r.Key)
	case view.ToJob:
		return fmt.Sprintf("/jobs/%d", r.Key)
	case view.ToPhase:
		return fmt.Sprintf("/phases/%d", r.Key)
	case view.ToAttempt:
		return fmt.Sprintf("/attempts/%d", r.Key)
	case view.ToMachine:
		return "/machine?name=" + template.URLQueryEscaper(r.Name)
	}
	return ""
}

func applicationAddress(k schema.Key) string { return fmt.Sprintf("/applications/%d", k) }

// key returns the key in the address of a page.
func key(r *http.Request) (schema.Key, error) {
	k, err := strconv.ParseInt(r.PathValue("key"), 10, 64)
	if err != nil || k <= 0 {
		return 0, api.ErrAddress
	}
	return k, nil
}

func problems(list []catalog.Problem) []problemView {
	var out []problemView
	for _, p := range list {
		v := newProblem(prose.Upper(p.Task)+" fails since "+p.Since.UTC().Format("15:04:05 UTC"), p.Error)
		out = append(out, v)
	}
	return out
}

// newProblem explains an error to a reader.
func newProblem(what string, err error) problemView {
	p := problemView{What: what, Error: prose.Clean(err.Error(), 4*prose.TextRunes)}
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		p.Remedy = "The disk is full. Free some space; it is tried again by itself, and what was read before is intact."
	case errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES):
		p.Remedy = "The store cannot be written. Name one that can, or start with --fixed to change nothing."
	case errors.Is(err, catalog.ErrReplaying) || errors.Is(err, catalog.ErrReplay):
		p.Remedy = "Go back to the page of policies."
	case errors.Is(err, report.ErrNoRow):
		p.Remedy = "Its log may have been removed from the store, or the address is of another store."
	case errors.Is(err, context.DeadlineExceeded):
		p.Remedy = "It took too long; try again, or ask for less."
	}
	return p
}

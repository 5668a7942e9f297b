package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"straggler/report"
	"straggler/report/prose"
	"straggler/serve/api"
)

// The framework's id of an application identifies the run in every store and at any time, so /history/ID is a permanent address.
// Several applications of a store may share an id: attempts of one run, two copies of its log, or runs on two clusters. All
// other addresses contain keys.

// historyAddress returns the address of an application by the framework's id. Spark's History Server uses the same.
func historyAddress(id string) string { return "/history/" + url.PathEscape(id) }

// named returns the applications with a framework's id.
func (s *Server) named(id string) (found []report.Application) {
	apps, _ := s.c.Applications()
	for i := range apps {
		if apps[i].NativeID == id {
			found = append(found, apps[i])
		}
	}
	return found
}

// historyLink redirects to the application with an id, or lists the applications if several have it.
func (s *Server) historyLink(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	found := s.named(id)
	switch {
	case len(found) == 1:
		http.Redirect(w, r, applicationAddress(found[0].ApplicationID), http.StatusFound)
		return
	case len(found) == 0 && s.o.Running != nil && s.o.Running.Application(id) != nil:
		http.Redirect(w, r, runningAddress(id), http.StatusFound)
		return
	case len(found) == 0:
		s.fail(w, r, fmt.Errorf("%w: no application has the id %q", api.ErrAddress, prose.Clean(id, prose.NameRunes)))
		return
	}
	title := prose.Upper(prose.Plural(int64(len(found)), "application", "applications")) + " of the id " + prose.Name(id)
	s.write(w, r, page{Title: title, Crumbs: []link{{"Applications", "/"}}, Status: http.StatusMultipleChoices}, func(_ context.Context, w io.Writer) error {
		writeTitle(w, title)
		writeLead(w, "The store has several of this id: attempts of one run, copies of its log, or runs of different clusters. Choose one.")
		l := &listing{ID: "choices", Caption: "Applications of this id", Columns: []column{
			{Title: "Started"}, {Title: "Took", Number: true}, {Title: "Attempts", Number: true}, {Title: "Ended"}, {Title: "Log"},
		}}
		for i := range found[:min(len(found), mostChoices)] {
			a := &found[i]
			row := applicationRow(a, true)
			started, took, attempts, ended := row[3], row[4], row[5], row[len(row)-1]
			started.Href = applicationAddress(a.ApplicationID)
			l.Rows = append(l.Rows, []cell{started, took, attempts, ended, {Text: prose.Clean(a.SourceFile, prose.TextRunes)}})
		}
		l.label()
		if err := l.write(w); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "<p><a href=\"/compare?a=%d&amp;b=%d\">Compare the first two</a></p>", found[1].ApplicationID, found[0].ApplicationID)
		return err
	})
}

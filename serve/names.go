package serve

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"straggler/report"
	"straggler/report/prose"
)

// The framework's own id of an application names the same run in every store and at any time, so that /history/ID is an address
// to keep. Several applications of a store may have one id: the attempts of a run, two copies of its log, or runs of two
// clusters. Everything else goes by their keys.

// historyAddress is the address of an application by the framework's own id, as Spark's History Server has it.
func historyAddress(id string) string { return "/history/" + url.PathEscape(id) }

// named are the applications that have an id of the framework.
func (s *Server) named(id string) (found []report.Application) {
	apps, _ := s.c.Applications()
	for i := range apps {
		if apps[i].NativeID == id {
			found = append(found, apps[i])
		}
	}
	return found
}

// historyLink leads to the application that has an id, or lets one choose where several do.
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
		s.fail(w, r, fmt.Errorf("%w: no application has the id %q", errNoPage, prose.Clean(id, prose.NameRunes)))
		return
	}
	title := prose.Upper(prose.Plural(int64(len(found)), "application", "applications")) + " of the id " + prose.Name(id)
	s.write(w, r, page{Title: title, Crumbs: []link{{"Applications", "/"}}, Status: http.StatusMultipleChoices}, func(_ context.Context, w io.Writer) error {
		fmt.Fprintf(w, "<h1 class=\"title\">%s</h1><p class=\"lead\">The store has several of this id: attempts of one run, copies of its log, or runs of different clusters. Choose one.</p>", template.HTMLEscapeString(title))
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

// errSeveral is returned for an id that several applications have.
var errSeveral = errors.New("several applications have this id")

// plainID is an id of a framework as clients put it into an address: they leave a slash in it as it is.
var plainID = regexp.MustCompile(`^[\pL\pN_][\pL\pN_.:-]*$`)

// apiID is the id by which the API lists an application: the framework's own, or its key where several have that, or where
// clients could not ask for it.
func apiID(a *report.Application, count map[string]int) string {
	if count[a.NativeID] > 1 || !plainID.MatchString(a.NativeID) {
		return strconv.FormatInt(a.ApplicationID, 10)
	}
	return a.NativeID
}

// nativeIDs counts the applications of each id.
func nativeIDs(apps []report.Application) map[string]int {
	count := make(map[string]int, len(apps))
	for i := range apps {
		count[apps[i].NativeID]++
	}
	return count
}

// native finds the application of a request by its key, or by the framework's id where no other has that.
func (s *Server) native(r *http.Request) (*report.Application, error) {
	apps, _ := s.c.Applications()
	id := r.PathValue("id")
	var found []*report.Application
	for i := range apps {
		if strconv.FormatInt(apps[i].ApplicationID, 10) == id {
			return &apps[i], nil
		}
		if apps[i].NativeID == id {
			found = append(found, &apps[i])
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: unknown app: %s", report.ErrNoRow, prose.Clean(id, prose.NameRunes))
	case 1:
		return found[0], nil
	}
	var keys []string
	for _, a := range found[:min(len(found), 10)] {
		keys = append(keys, strconv.FormatInt(a.ApplicationID, 10))
	}
	return nil, fmt.Errorf("%w: ask with a key in place of %s: %s", errSeveral, prose.Clean(id, prose.NameRunes), strings.Join(keys, ", "))
}

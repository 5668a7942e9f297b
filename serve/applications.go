package serve

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
	"straggler/serve/catalog"
)

// applicationColumns are those of the list of applications.
var applicationColumns = []column{
	{Title: "Application", By: "name"}, {Title: "Framework", By: "framework"}, {Title: "User", By: "user"}, {Title: "Started", By: "start", Falling: true},
	{Title: "Took", Doc: "start to finish", By: "took", Number: true, Falling: true}, {Title: "Attempts", By: "attempts", Number: true, Falling: true},
	{Title: "Job time", Doc: "completion times of its jobs, summed", By: "jobs", Number: true, Falling: true},
	{Title: "Lost", Doc: "how much earlier its jobs would have ended had slow tasks taken their phase's median", By: "lost", Number: true, Falling: true},
	{Title: "Share", Doc: "lost / job time", By: "share", Number: true, Falling: true}, {Title: "Mostly", Doc: "the cause that most of the lost time went to"},
	{Title: "Ended", By: "status"},
}

// applicationsPage lists the applications, and what has not been read yet.
func (s *Server) applicationsPage(w http.ResponseWriter, r *http.Request) {
	s.write(w, r, page{Title: "Applications", Here: "/", Scripts: []string{"running.js"}}, func(_ context.Context, w io.Writer) error {
		apps, judged := s.c.Applications()
		writeTitle(w, prose.Upper(prose.Plural(int64(len(apps)), "application", "applications")))
		status := s.c.Status()
		if lead := s.readingLead(len(apps), judged, &status); lead != "" {
			writeLead(w, lead)
		}
		if err := s.writeRunningSection(w); err != nil {
			return err
		}
		if len(apps) > 0 {
			fmt.Fprintf(w, "<p><a href=\"/all\">One report on all of them</a> · <a href=\"/compare\">Compare two</a></p>")
		}
		picked, form := pickApplications(r, apps)
		if len(apps)+len(status.Waiting) > 1 {
			if err := templates.ExecuteTemplate(w, "search", form); err != nil {
				return err
			}
		}
		if err := applicationListing(r, picked, judged).write(w); err != nil {
			return err
		}
		return writeLogs(w, r, &status, 20)
	})
}

// readingLead describes the work in progress.
func (s *Server) readingLead(apps int, judged bool, status *catalog.Status) string {
	switch {
	case status.Reading || len(status.Waiting) > 0:
		return prose.Upper(prose.Plural(int64(len(status.Waiting)+status.More), "log was", "logs were")) + " found and not read yet; the newest are read first."
	case apps == 0 && len(s.c.Logs()) > 0 && status.Rounds == 0:
		return "Looking for logs …"
	case apps == 0 && len(s.c.Logs()) > 0:
		return "No log was found yet in what is watched. Logs that appear there are read within seconds."
	case apps == 0:
		return "The store is empty: straggler ingest LOG… --store DIR fills it."
	case status.Doing != "": // serve.js says what
	case !judged:
		return "Adding up what they lost …"
	}
	return ""
}

// searchForm is the form above a list.
type searchForm struct {
	Action, Text string
	Choices      []choice
	Keep         []link // other parameters, by name
	Clear        bool
}

type choice struct {
	Title, Name, Now string
	Values           []string
}

// pickApplications returns the requested applications.
func pickApplications(r *http.Request, apps []report.Application) ([]report.Application, searchForm) {
	words := searched(r)
	framework, user, status := r.FormValue("framework"), r.FormValue("user"), r.FormValue("status")
	sets := [3]map[string]bool{{}, {}, {}}
	var picked []report.Application
	for _, a := range apps {
		fields := [3]string{prose.Clean(a.Framework, 40), prose.Clean(a.User.V, 40), string(a.Status)}
		for i, f := range fields {
			if f != "" && len(sets[i]) < 200 {
				sets[i][f] = true
			}
		}
		if framework != "" && fields[0] != framework || user != "" && fields[1] != user || status != "" && fields[2] != status {
			continue
		}
		if holds(a.NativeID+" "+a.Name.V+" "+a.User.V+" "+a.SourceFile, words) {
			picked = append(picked, a)
		}
	}
	form := searchForm{Action: "/", Text: r.FormValue("q"), Clear: len(words) > 0 || framework+user+status != ""}
	for i, c := range []choice{{Title: "Framework", Name: "framework", Now: framework}, {Title: "User", Name: "user", Now: user},
		{Title: "Ended", Name: "status", Now: status}} {
		if c.Values = slices.Sorted(maps.Keys(sets[i])); len(c.Values) > 1 {
			form.Choices = append(form.Choices, c)
		}
	}
	if sort := r.FormValue("sort"); sort != "" {
		form.Keep = []link{{"sort", sort}}
	}
	return picked, form
}

// searched returns the words that a request searches for.
func searched(r *http.Request) []string { return strings.Fields(strings.ToLower(r.FormValue("q"))) }

// holds reports whether a text has all words, in any case.
func holds(text string, words []string) bool {
	text = strings.ToLower(text)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// applicationListing returns the requested page of the list.
func applicationListing(r *http.Request, apps []report.Application, judged bool) *listing {
	l := &listing{ID: "applications", Caption: "Applications", Empty: "No application matches.", Columns: slices.Clone(applicationColumns),
		Query: newQuery("list", "SELECT * FROM applications ORDER BY start_time DESC NULLS LAST")}
	if len(apps) == 0 && r.URL.RawQuery == "" {
		l.Empty = "No application was read yet."
	}
	o := orderOf(r, l.Columns, "start", true)
	apps = slices.Clone(apps)
	slices.SortStableFunc(apps, func(a, b report.Application) int {
		c := compareApplications(&a, &b, o.By)
		if o.Falling {
			return -c
		}
		return c
	})
	for _, a := range apps[min(o.From, len(apps)):min(o.From+pageRows, len(apps))] {
		l.Rows = append(l.Rows, applicationRow(&a, judged))
	}
	l.finish(r, o, len(apps))
	return l
}

func compareApplications(a, b *report.Application, by string) int {
	switch by {
	case "name":
		return cmp.Or(strings.Compare(cmp.Or(a.Name.V, a.NativeID), cmp.Or(b.Name.V, b.NativeID)), strings.Compare(a.NativeID, b.NativeID))
	case "framework":
		return strings.Compare(a.Framework, b.Framework)
	case "user":
		return strings.Compare(a.User.V, b.User.V)
	case "took":
		return cmp.Compare(a.TookS().Or(-1), b.TookS().Or(-1))
	case "attempts":
		return cmp.Compare(a.Attempts, b.Attempts)
	case "jobs":
		return cmp.Compare(a.Loss.CompletionS.Or(-1), b.Loss.CompletionS.Or(-1))
	case "lost":
		return cmp.Compare(a.Loss.LostS.Or(-1), b.Loss.LostS.Or(-1))
	case "share":
		return cmp.Compare(a.Loss.LostShare.Or(-1), b.Loss.LostShare.Or(-1))
	case "status":
		return strings.Compare(string(a.Status), string(b.Status))
	}
	return cmp.Compare(a.StartTime.V, b.StartTime.V)
}

func applicationRow(a *report.Application, judged bool) []cell {
	unknown := a.Loss.Note
	if !judged && !a.Loss.LostS.OK {
		unknown = "not added up yet"
	}
	id := cell{Text: prose.Name(a.NativeID), Href: applicationAddress(a.ApplicationID)}
	if n := prose.MaybeName(a.Name); n != "" && n != a.NativeID {
		id.Text, id.Sub = n, prose.Name(a.NativeID)
	}
	ended := cell{Text: string(a.Status)}
	switch {
	case !a.Complete:
		ended.Text += ", log incomplete"
	case a.Status == schema.RunUnknown:
		ended = cell{Text: "yes", Note: "the log has its end and does not say whether it succeeded"}
	}
	var mostly cell
	if a.Loss.LostS.V > 0 && len(a.Loss.Parts) > 0 {
		most := slices.MaxFunc(a.Loss.Parts, func(a, b report.LostPart) int { return cmp.Compare(a.LostS, b.LostS) })
		mostly = causeCell(most.Cause)
		mostly.Sub = prose.Seconds(most.LostS)
	}
	return []cell{id, {Text: prose.Clean(strings.TrimSpace(a.Framework+" "+a.FrameworkVersion.V), 40)}, {Text: prose.MaybeName(a.User)},
		{Text: prose.OrDash(a.StartTime, func(t schema.Time) string { return prose.Instant(t, a.TimeOrigin) })},
		figure(a.TookS(), prose.Seconds, "the log does not say"),
		{Text: prose.Count(a.Attempts)}, figure(a.Loss.CompletionS, prose.Seconds, unknown),
		figure(a.Loss.LostS, prose.Seconds, unknown), figure(a.Loss.LostShare, prose.Percent, unknown),
		mostly, ended}
}

func figure(v schema.Null[float64], write func(float64) string, note string) cell {
	if !v.OK || !prose.Finite(v.V) {
		return cell{Text: prose.Dash, Note: note}
	}
	return cell{Text: write(v.V)}
}

// newQuery returns a query with the address that runs it.
func newQuery(what, sql string) *queryView {
	return &queryView{What: what, SQL: sql, Run: "/sql?q=" + url.QueryEscape(sql)}
}

package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// timelinePage is the timeline of an application that can be zoomed and panned; timeline.js requests its windows.
func (s *Server) timelinePage(w http.ResponseWriter, r *http.Request) {
	a, err := s.application(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	k := a.ApplicationID
	p := page{Title: "Timeline of " + prose.Name(a.NativeID),
		Crumbs: []link{{"Applications", "/"}, {prose.Name(a.NativeID), applicationAddress(k)}}, Scripts: []string{"timeline.js"}}
	s.write(w, r, p, func(_ context.Context, w io.Writer) error {
		v := timelineView{Title: p.Title, Source: fmt.Sprintf("/api/v1/applications/%d/timeline", k), Application: applicationAddress(k)}
		for _, c := range report.Causes() {
			info := report.InfoOf(c)
			v.Causes = append(v.Causes, timelineCause{string(c), info.Letter, info.Title})
		}
		return templates.ExecuteTemplate(w, "timeline", v)
	})
}

// timelineView is the data of the page's template.
type timelineView struct {
	Title, Source, Application string
	Causes                     []timelineCause
}

type timelineCause struct{ Name, Letter, Title string }

// timelineAddress returns the address of an application's timeline around one of its jobs or phases.
func timelineAddress(application, part schema.Key) string {
	return fmt.Sprintf("%s/timeline?of=%d", applicationAddress(application), part)
}

// writeTimelineLink links to a timeline that can be zoomed.
func writeTimelineLink(w io.Writer, address string) {
	writeLinks(w, link{"Timeline to zoom and pan", address})
}

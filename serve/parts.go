package serve

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"

	"straggler/report"
	"straggler/report/html"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
	"straggler/serve/catalog"
)

// storePage is the report on all applications.
func (s *Server) storePage(w http.ResponseWriter, r *http.Request) {
	s.write(w, r, page{Title: "All applications", Crumbs: []link{{"Applications", "/"}}}, func(ctx context.Context, w io.Writer) error {
		d, current, err := s.c.All(ctx)
		if err != nil {
			return err
		}
		writeAge(w, current)
		return writeReport(w, d, view.Sections(d))
	})
}

// applicationPage is the report on one application, with the list of all its jobs.
func (s *Server) applicationPage(w http.ResponseWriter, r *http.Request) {
	a, err := s.application(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	k := a.ApplicationID
	s.write(w, r, page{Title: prose.Name(a.NativeID), Crumbs: []link{{"Applications", "/"}}}, func(ctx context.Context, w io.Writer) error {
		d, err := s.c.Document(ctx, report.Scope{Application: k})
		if err != nil {
			return err
		}
		list := view.Sections(d)
		if apps, _ := s.c.Applications(); len(apps) > 1 { // policies were replayed over all applications
			list = without(list, "policies")
		}
		if s.o.Running != nil && !a.Complete && s.o.Running.Application(a.NativeID) != nil {
			fmt.Fprintf(w, "<p class=\"progress\">It still runs: <a href=\"%s\">its slow tasks now</a></p>",
				template.HTMLEscapeString(runningAddress(a.NativeID)))
		}
		if n := len(s.named(a.NativeID)); n > 1 {
			fmt.Fprintf(w, "<p class=\"dim\"><a href=\"%s\">%s have this id</a></p>",
				template.HTMLEscapeString(historyAddress(a.NativeID)), prose.Upper(prose.Plural(int64(n), "application", "applications")))
		}
		if err := writeReport(w, d, list, link{"Timeline to zoom and pan", applicationAddress(k) + "/timeline"},
			link{"Replay policies on it", policiesAddress(k)}); err != nil {
			return err
		}
		if d.Queries.Total > 0 {
			if err := writeRows(ctx, s, w, r, queryRows(k)); err != nil {
				return err
			}
		}
		return writeRows(ctx, s, w, r, jobRows(fmt.Sprintf("j.application_id = %d", k)))
	})
}

// application returns the application whose key is in the address.
func (s *Server) application(r *http.Request) (report.Application, error) {
	k, err := key(r)
	if err != nil {
		return report.Application{}, err
	}
	a, ok := s.c.Application(k)
	if !ok {
		return a, fmt.Errorf("%w: application %d", report.ErrNoRow, k)
	}
	return a, nil
}

// writeReport writes a document as straggler report does, with links to other pages.
func writeReport(w io.Writer, d *report.Document, list []view.Section, more ...link) error {
	fmt.Fprintf(w, "<header class=\"summary\"><h1>%s</h1><p class=\"what\">%s</p>", template.HTMLEscapeString(view.Title(d)),
		template.HTMLEscapeString(view.Span(d)))
	if err := html.WriteHeadline(w, d); err != nil {
		return err
	}
	writeLinks(w, more...)
	fmt.Fprintf(w, "</header><nav class=\"inpage\" aria-label=\"Sections\"><ul>")
	for _, s := range list {
		if s.Short != "" {
			fmt.Fprintf(w, "<li><a href=\"#%s\">%s</a></li>", template.HTMLEscapeString(s.ID), template.HTMLEscapeString(s.Short))
		}
	}
	fmt.Fprintf(w, "</ul></nav>")
	if err := html.WriteFilter(w); err != nil {
		return err
	}
	return sections(w, list...)
}

func without(list []view.Section, id string) []view.Section {
	var out []view.Section
	for _, s := range list {
		if s.ID != id {
			out = append(out, s)
		}
	}
	return out
}

// ancestry is the application, job and phase that a query, a job, a phase or an attempt belongs to.
type ancestry struct {
	ApplicationID schema.Key              `col:"application_id"`
	Application   string                  `col:"application"`
	QueryID       schema.Null[schema.Key] `col:"query_id"`
	Query         schema.Null[string]     `col:"query"`
	QueryName     schema.Null[string]     `col:"query_name"`
	JobID         schema.Key              `col:"job_id"`
	Job           string                  `col:"job"`
	JobName       schema.Null[string]     `col:"job_name"`
	PhaseID       schema.Null[schema.Key] `col:"phase_id"`
	Phase         schema.Null[string]     `col:"phase"`
	PhaseAttempt  schema.Null[int32]      `col:"phase_attempt"`
	PhaseName     schema.Null[string]     `col:"phase_name"`
	AttemptID     schema.Null[schema.Key] `col:"attempt_id"`
	Task          schema.Null[int64]      `col:"task"`
	Number        schema.Null[int32]      `col:"number"`
}

// part finds the ancestry of the row whose key is in the address.
func (s *Server) part(r *http.Request, file string) (*ancestry, error) {
	k, err := key(r)
	if err != nil {
		return nil, err
	}
	found, err := catalog.Read[ancestry](r.Context(), s.c, sqlOf(file, k))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, report.ErrNoRow
	}
	return &found[0], nil
}

// crumbs returns links to the pages above that of the part, and its own title.
func (p *ancestry) crumbs() (up []link, title string) {
	up = []link{{"Applications", "/"}, {prose.Name(p.Application), applicationAddress(p.ApplicationID)}}
	if title = report.JobTitle(p.Job); p.QueryID.OK {
		query := "Query " + prose.Clean(p.Query.V, 24)
		if p.JobID == 0 {
			return up, query
		}
		up = append(up, link{query, address(view.Ref{Kind: view.ToQuery, Key: p.QueryID.V})})
	}
	if p.PhaseID.OK {
		up, title = append(up, link{prose.Upper(title), address(view.Ref{Kind: view.ToJob, Key: p.JobID})}), report.PhaseTitle(p.Phase.V, p.PhaseAttempt.V)
	}
	if p.AttemptID.OK {
		up = append(up, link{prose.Upper(title), address(view.Ref{Kind: view.ToPhase, Key: p.PhaseID.V})})
		title = fmt.Sprintf("task %d, attempt %d", p.Task.V, p.Number.V)
	}
	return up, prose.Upper(title)
}

// queryPage shows the time that a query of Spark SQL lost, and draws its plan.
func (s *Server) queryPage(w http.ResponseWriter, r *http.Request) {
	s.partPage(w, r, "ancestry_of_query", func(ctx context.Context, w io.Writer, p *ancestry) error {
		d, err := s.c.Document(ctx, report.Scope{Query: p.QueryID.V})
		if err != nil {
			return err
		}
		if n := prose.MaybeName(p.QueryName); n != "" {
			fmt.Fprintf(w, "<p class=\"what\">%s</p>", template.HTMLEscapeString(n))
		}
		if err := sections(w, view.QuerySection(d)); err != nil {
			return err
		}
		return writeRows(ctx, s, w, r, jobRows(fmt.Sprintf("j.job_id IN (SELECT job_id FROM query_jobs WHERE query_id = %d)", p.QueryID.V)))
	})
}

func (s *Server) jobPage(w http.ResponseWriter, r *http.Request) {
	s.partPage(w, r, "ancestry_of_job", func(ctx context.Context, w io.Writer, p *ancestry) error {
		scope := report.Scope{Job: p.JobID}
		d, err := s.c.Document(ctx, scope)
		if err != nil {
			return err
		}
		if n := prose.MaybeName(p.JobName); n != "" {
			fmt.Fprintf(w, "<p class=\"what\">%s</p>", template.HTMLEscapeString(n))
		}
		fmt.Fprint(w, "<div class=\"summary\">")
		if err := html.WriteHeadline(w, d); err != nil {
			return err
		}
		writeTimelineLink(w, timelineAddress(p.ApplicationID, p.JobID))
		fmt.Fprint(w, "</div>")
		if err := sections(w, view.ScopedSections(d, scope)...); err != nil {
			return err
		}
		return writeRows(ctx, s, w, r, phaseRows(p.JobID))
	})
}

func (s *Server) phasePage(w http.ResponseWriter, r *http.Request) {
	s.partPage(w, r, "ancestry_of_phase", func(ctx context.Context, w io.Writer, p *ancestry) error {
		scope := report.Scope{Phase: p.PhaseID.V}
		d, err := s.c.Document(ctx, scope)
		if err != nil {
			return err
		}
		if n := prose.MaybeName(p.PhaseName); n != "" {
			fmt.Fprintf(w, "<p class=\"what\">%s</p>", template.HTMLEscapeString(n))
		}
		writeTimelineLink(w, timelineAddress(p.ApplicationID, p.PhaseID.V))
		if err := sections(w, view.ScopedSections(d, scope)...); err != nil {
			return err
		}
		return writeRows(ctx, s, w, r, attemptRows(p.PhaseID.V))
	})
}

// attemptPage explains why one attempt took as long as it did.
func (s *Server) attemptPage(w http.ResponseWriter, r *http.Request) {
	s.partPage(w, r, "ancestry_of_attempt", func(ctx context.Context, w io.Writer, p *ancestry) error {
		scope := report.Scope{Attempt: p.AttemptID.V}
		d, err := s.c.Document(ctx, scope)
		if err != nil {
			return err
		}
		if len(d.Outliers.Rows) > 0 {
			if err := sections(w, view.AttemptSection(&d.Outliers.Rows[0])); err != nil {
				return err
			}
		}
		if err := sections(w, view.ScopedSections(d, scope)...); err != nil {
			return err
		}
		return s.writeFields(ctx, w, r, p.AttemptID.V)
	})
}

// partPage writes the page of a job, a phase or an attempt.
func (s *Server) partPage(w http.ResponseWriter, r *http.Request, file string, content func(context.Context, io.Writer, *ancestry) error) {
	p, err := s.part(r, file)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	up, title := p.crumbs()
	s.write(w, r, page{Title: title + " of " + prose.Name(p.Application), Crumbs: up}, func(ctx context.Context, w io.Writer) error {
		writeTitle(w, strings.TrimSpace(title))
		return content(ctx, w, p)
	})
}

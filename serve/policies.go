package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
	"straggler/serve/api"
	"straggler/serve/catalog"
	"straggler/whatif"
	"straggler/whatif/policy"
)

// policiesPage shows what speculation policies would have saved over all applications, and replays others.
func (s *Server) policiesPage(w http.ResponseWriter, r *http.Request) {
	s.write(w, r, page{Title: "Policies", Here: "/policies", Scripts: []string{"replays.js"}}, func(ctx context.Context, w io.Writer) error {
		writeTitle(w, "Policies over all applications")
		fmt.Fprint(w, `<p class="lead"><a href="#replay-title">Replay other policies</a></p>`)
		if err := s.writeReplays(w, r, 0); err != nil {
			return err
		}
		if err := s.writeSavings(ctx, w); err != nil {
			return err
		}
		return writeReplayForm(w, 0)
	})
}

// writeSavings shows what the usual policies would have saved, from the store.
func (s *Server) writeSavings(ctx context.Context, w io.Writer) error {
	d, current, err := s.c.Overview(ctx)
	if err != nil {
		return err
	}
	writeAge(w, current)
	for _, section := range view.Sections(d) {
		if section.ID == "policies" && len(d.Whatif.Savings.Rows) > 0 {
			return sections(w, section)
		}
	}
	return writeLead(w, d.Whatif.Savings.Note)
}

// applicationPoliciesPage replays policies on one application.
func (s *Server) applicationPoliciesPage(w http.ResponseWriter, r *http.Request) {
	a, err := s.application(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	name := prose.Name(a.NativeID)
	s.write(w, r, page{Title: "Policies on " + name,
		Crumbs: []link{{"Applications", "/"}, {name, applicationAddress(a.ApplicationID)}}, Scripts: []string{"replays.js"}},
		func(_ context.Context, w io.Writer) error {
			writeTitle(w, "Policies on "+name)
			if err := s.writeReplays(w, r, a.ApplicationID); err != nil {
				return err
			}
			return writeReplayForm(w, a.ApplicationID)
		})
}

// writeReplays shows the replays of one application, or all of them for key 0.
func (s *Server) writeReplays(w io.Writer, r *http.Request, application schema.Key) error {
	for _, p := range s.c.Replays() {
		if application != 0 && p.Options.Application != application {
			continue
		}
		if err := s.writeReplay(w, r, &p); err != nil {
			return err
		}
	}
	return nil
}

// writeReplayForm shows the form for a replay of one application, or of all for key 0.
func writeReplayForm(w io.Writer, application schema.Key) error {
	return templates.ExecuteTemplate(w, "replay-form", struct {
		Application schema.Key
		Policies    []*policy.Spec
	}{application, policy.Specs()})
}

// policiesAddress returns the address of the page about policies on an application, or on all of them for key 0.
func policiesAddress(application schema.Key) string {
	if application == 0 {
		return "/policies"
	}
	return applicationAddress(application) + "/policies"
}

// startReplay replays the policies selected in the form.
func (s *Server) startReplay(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, fmt.Errorf("%w: %w", api.ErrParameter, err))
		return
	}
	o := catalog.ReplayOptions{Policies: r.PostForm["policy"],
		Settings: strings.FieldsFunc(r.PostFormValue("settings"), func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == '\r' })}
	o.Seeds, _ = strconv.Atoi(r.PostFormValue("seeds")) // 0 is refused
	if text := r.PostFormValue("application"); text != "" {
		k, err := strconv.ParseInt(text, 10, 64)
		if err != nil || k <= 0 {
			s.fail(w, r, fmt.Errorf("%w: application is a key", api.ErrParameter))
			return
		}
		o.Application = k
	}
	if _, err := s.c.StartReplay(o); err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, policiesAddress(o.Application), http.StatusSeeOther)
}

func (s *Server) cancelReplay(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PostFormValue("id"))
	s.c.CancelReplay(id) // one that has ended meanwhile is shown as it ended
	of := schema.Key(0)
	for _, p := range s.c.Replays() {
		if p.ID == id {
			of = p.Options.Application
		}
	}
	http.Redirect(w, r, policiesAddress(of), http.StatusSeeOther)
}

// replayView is the data of a replay's template.
type replayView struct {
	ID             int
	Title, State   string
	Of, Href       string // its application; empty for all
	Percent        int
	Error, Summary string
	Notes          []string
}

// writeReplay shows a replay, running or ended.
func (s *Server) writeReplay(w io.Writer, r *http.Request, p *catalog.Replay) error {
	v := replayView{ID: p.ID, State: p.State(), Percent: int(100 * p.Share), Title: "usual policies"}
	if len(p.Options.Policies) > 0 {
		v.Title = prose.Clean(strings.Join(p.Options.Policies, ", "), prose.TextRunes)
	}
	if len(p.Options.Settings) > 0 {
		v.Title += " with " + prose.Clean(strings.Join(p.Options.Settings, ", "), prose.TextRunes)
	}
	v.Title += ", " + prose.Plural(int64(p.Options.Seeds), "seed", "seeds")
	if k := p.Options.Application; k != 0 {
		v.Of, v.Href = "an application that is gone", policiesAddress(k)
		if a, ok := s.c.Application(k); ok {
			v.Of = prose.Name(a.NativeID)
		}
	}
	if p.Error != nil && !p.Cancelled {
		v.Error = prose.Clean(p.Error.Error(), 2*prose.TextRunes)
		if errors.Is(p.Error, context.DeadlineExceeded) {
			v.Error = "It took longer than a page may ask for; run straggler whatif on the store."
		}
	}
	if p.Summary != nil {
		v.Summary = fmt.Sprintf("%s of %s replayed in %s; the replay of the unchanged log differs from the observed completion times by %s (%s).", prose.Plural(int64(p.Summary.Jobs), "job", "jobs"),
			prose.Plural(int64(p.Summary.Attempts), "attempt", "attempts"),
			prose.Seconds(p.Ended.Sub(p.Began).Round(time.Millisecond).Seconds()), prose.Seconds(p.Summary.ReplayErrorS), prose.Percent(p.Summary.ReplayError))
		for _, n := range p.Summary.Assumed() {
			v.Notes = append(v.Notes, prose.Clean(n, prose.TextRunes))
		}
	}
	if err := templates.ExecuteTemplate(w, "replay", v); err != nil || p.Summary == nil {
		return err
	}
	return replayListing(r, p).write(w)
}

// replayListing returns the table of what each policy would have saved.
func replayListing(r *http.Request, p *catalog.Replay) *listing {
	l := &listing{ID: fmt.Sprintf("replay-%d", p.ID), Caption: "What each policy would have saved, over all jobs", Empty: "No job could be replayed.",
		Columns: []column{{Title: "Policy"}, {Title: "Verdict"},
			{Title: "Saves", Doc: "seconds, summed over the jobs", Number: true}, {Title: "95 % interval", Number: true}, {Title: "Of job time", Number: true},
			{Title: "Slot time", Doc: "change", Number: true}, {Title: "Copies", Number: true}, {Title: "Of them won", Number: true}}}
	for i := range p.Summary.Results {
		x := &p.Summary.Results[i]
		settings := x.Changed()
		if x.Progress && x.Error > 0 {
			settings = strings.Join(prose.NonEmpty(settings, "progress off by "+prose.Percent(x.Error)), ", ")
		}
		g := &x.All
		l.Rows = append(l.Rows, []cell{{Text: x.Name, Sub: prose.Clean(settings, prose.TextRunes)},
			{Text: string(x.Verdict(p.Summary.Uncertainty()))}, {Text: prose.Seconds(g.Saving.Mean)}, intervalCell(g.Saving),
			{Text: prose.Percent(g.Share)}, {Text: prose.Percent(g.SlotChange)}, {Text: prose.Count(int64(g.Copies + 0.5))},
			{Text: prose.Count(int64(g.Wins + 0.5))}})
	}
	l.finish(r, order{}, 0)
	return l
}

func intervalCell(i whatif.Interval) cell {
	if !prose.Finite(i.Low) || !prose.Finite(i.High) {
		return cell{Text: prose.Dash, Note: "one seed does not show it"}
	}
	if i.Low == i.High {
		return cell{Text: prose.Dash, Note: "another run would save the same"}
	}
	return cell{Text: prose.Interval(schema.Some(i.Low), schema.Some(i.High), prose.Seconds)}
}

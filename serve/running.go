package serve

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strings"

	"straggler/live"
	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
	"straggler/serve/api"
	"straggler/serve/running"
)

// runningAddress returns the address of the page of a running application. After its end it redirects to the usual page.
func runningAddress(id string) string { return "/running/" + url.PathEscape(id) }

// runningPart writes the part of a page that running.js refreshes: the whole page, or the part alone if the request has the
// parameter part.
func (s *Server) runningPart(w http.ResponseWriter, r *http.Request, p page, source string, content func(io.Writer) error) {
	if r.FormValue("part") != "" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.Method != http.MethodHead {
			content(w) // an error means that the client is gone
		}
		return
	}
	p.Scripts = append(p.Scripts, "running.js")
	s.write(w, r, p, func(_ context.Context, w io.Writer) error {
		fmt.Fprintf(w, "<noscript><p class=\"progress\">Without JavaScript this page shows what was known when it was loaded.</p></noscript><div id=\"running\" data-source=\"%s?part=1\">", template.HTMLEscapeString(source))
		if err := content(w); err != nil {
			return err
		}
		_, err := io.WriteString(w, "</div>")
		return err
	})
}

// runningListPage lists the applications that run.
func (s *Server) runningListPage(w http.ResponseWriter, r *http.Request) {
	s.runningPart(w, r, page{Title: "Running applications", Here: "/", Crumbs: []link{{"Applications", "/"}}}, "/running", func(w io.Writer) error {
		always := r.FormValue("part") != "list"
		if always {
			writeTitle(w, "Running applications")
		}
		return s.writeRunning(w, always)
	})
}

// writeRunningSection lists the running applications above the list of all applications, if any endpoint is watched.
func (s *Server) writeRunningSection(w io.Writer) error {
	if s.o.Running == nil {
		return nil
	}
	fmt.Fprint(w, "<div id=\"running\" data-source=\"/running?part=list\">")
	if err := s.writeRunning(w, false); err != nil {
		return err
	}
	_, err := io.WriteString(w, "</div>")
	return err
}

// writeRunning lists the running applications. If there are none it says so if always is set, and else writes nothing.
func (s *Server) writeRunning(w io.Writer, always bool) error {
	if s.o.Running == nil {
		if always {
			return writeLead(w, "This server follows no running applications: start it with logs, or with --watch URL.")
		}
		return nil
	}
	list := s.o.Running.Applications()
	names, trouble := s.o.Running.Endpoints()
	if len(list) == 0 && len(names) == 0 && !always {
		return nil
	}
	l := &listing{ID: "running-list", Caption: "Running now", Empty: "Nothing runs at the moment.",
		Columns: []column{
			{Title: "Application"}, {Title: "Running for", Number: true}, {Title: "Stages", Number: true},
			{Title: "Tasks", Doc: "that run", Number: true},
			{Title: "Slow", Doc: "tasks that take, or surely will take, 1.5 × the median of their stage", Number: true},
			{Title: "Mostly", Doc: "the likely cause so far of most of them"},
			{Title: "Where"},
		}}
	for _, a := range list {
		l.Rows = append(l.Rows, runningRow(a))
	}
	l.label()
	if err := l.write(w); err != nil {
		return err
	}
	for i, name := range names {
		if trouble[i] != nil {
			fmt.Fprintf(w, "<p class=\"dim\">What runs at %s is unknown: %s. It will be tried again.</p>",
				template.HTMLEscapeString(prose.Clean(name, prose.NameRunes)), template.HTMLEscapeString(prose.Clean(trouble[i].Error(), prose.TextRunes)))
		}
	}
	return nil
}

func runningRow(a *running.Application) []cell {
	id := cell{Text: prose.Name(a.ID), Href: runningAddress(a.ID)}
	if n := prose.MaybeName(a.Name); n != "" && n != a.ID {
		id.Text, id.Sub = n, prose.Name(a.ID)
	}
	row := []cell{id, {Text: prose.Dash, Note: "nothing was heard of it yet"}, {}, {}, {}, {}, {Text: prose.Clean(a.Where, prose.NameRunes)}}
	if a.Seen.IsZero() {
		return row
	}
	f := &a.Frame
	if a.Started.OK {
		row[1] = cell{Text: prose.Seconds(max(f.Now.Sub(a.Started.V), 0))}
	}
	row[2] = cell{Text: prose.Count(int64(len(f.Stages) + a.Left.Stages))}
	row[3] = cell{Text: prose.Count(runningTasks(f))}
	row[4] = cell{Text: prose.Count(int64(len(f.Slow) + a.Left.Slow))}
	if cause, ok := mostlyCause(f.Slow); ok {
		row[5] = causeCell(cause)
	}
	return row
}

func runningTasks(f *live.Frame) (n int64) {
	for i := range f.Stages {
		n += int64(f.Stages[i].Running)
	}
	return n
}

// mostlyCause returns the likely cause of the most slow tasks; of several such causes, the first in the order of causes.
func mostlyCause(slow []live.SlowTask) (most schema.Cause, ok bool) {
	count := map[schema.Cause]int{}
	for i := range slow {
		count[slow[i].Cause]++
	}
	best := 0
	for _, c := range report.Causes() {
		if count[c] > best {
			best, most = count[c], c
		}
	}
	return most, best > 0
}

// runningPage shows a running application, and redirects to its usual page after its end.
func (s *Server) runningPage(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	var a *running.Application
	if s.o.Running != nil {
		a = s.o.Running.Application(id)
	}
	if a == nil || a.Ended {
		for _, app := range s.named(id) {
			if a == nil || app.Complete || a.Settled() {
				http.Redirect(w, r, historyAddress(id), http.StatusFound)
				return
			}
		}
	}
	if a == nil {
		s.fail(w, r, fmt.Errorf("%w: no application of the id %q runs, and none is in the store", api.ErrAddress, prose.Clean(id, prose.NameRunes)))
		return
	}
	title := prose.Name(id)
	if n := prose.MaybeName(a.Name); n != "" {
		title = n
	}
	s.runningPart(w, r, page{Title: title + ", running", Here: "/", Crumbs: []link{{"Applications", "/"}, {"Running", "/running"}}},
		runningAddress(id), func(w io.Writer) error {
			fmt.Fprintf(w, "<header class=\"summary\"><h1>%s</h1><p class=\"what\">%s</p></header>", template.HTMLEscapeString(title),
				template.HTMLEscapeString(prose.Name(id)+", as told by "+prose.Clean(a.Where, prose.NameRunes)))
			return s.writeRunningApplication(w, a)
		})
}

func (s *Server) writeRunningApplication(w io.Writer, a *running.Application) error {
	f := &a.Frame
	v := runningView{Ended: a.Ended, Waiting: a.Seen.IsZero()}
	if a.Trouble != nil {
		v.Trouble = prose.Clean(a.Trouble.Error(), prose.TextRunes)
	}
	if !v.Waiting {
		v.Verdict = runningVerdict(a)
		if n := len(f.Stages) + a.Left.Stages; n > 0 {
			v.Tasks = prose.Upper(prose.Plural(runningTasks(f), "task runs", "tasks run")) + " in " + prose.Plural(int64(n), "stage", "stages") + ", "
		}
		v.Now = prose.Instant(f.Now, "epoch")
		if a.Started.OK {
			v.For = prose.Seconds(max(f.Now.Sub(a.Started.V), 0))
		}
	}
	for i := range f.Machines[:min(len(f.Machines), 10)] {
		m := &f.Machines[i]
		v.Machines = append(v.Machines,
			runningMachine{prose.Name(m.Machine), address(view.Ref{Kind: view.ToMachine, Name: m.Machine}),
				prose.Upper(prose.Clean(m.Advice, 2*prose.TextRunes))})
	}
	for _, n := range f.Notes {
		v.Notes = append(v.Notes, prose.Upper(prose.Clean(n, 2*prose.TextRunes)))
	}
	for _, e := range f.Errors {
		v.Notes = append(v.Notes, fmt.Sprintf("Estimates by %s were off by %s so far (median of %s).", e.Basis,
			prose.Percent(e.Median), prose.Plural(int64(e.Tasks), "task", "tasks")))
	}
	if err := templates.ExecuteTemplate(w, "running-head", v); err != nil || v.Waiting {
		return err
	}
	for _, part := range []struct {
		id, title string
		list      *listing
		left      int
	}{{"slow", "Slow tasks", slowListing(a), a.Left.Slow}, {"stages", "Stages that run", stageListing(f), a.Left.Stages},
		{"decisions", "What policies would have done", decisionListing(a), 0}} {
		part.list.label()
		fmt.Fprintf(w, "<div id=\"part-%s\" data-part>", part.id) // our own
		if err := writeSection(w, part.id, part.title, part.list); err != nil {
			return err
		}
		if part.left > 0 {
			fmt.Fprintf(w, "<p class=\"more\">And %s more.</p>", prose.Count(int64(part.left)))
		}
		fmt.Fprint(w, "</div>")
	}
	return templates.ExecuteTemplate(w, "running-foot", v)
}

// runningVerdict returns the sentence about the slow tasks of a running application.
func runningVerdict(a *running.Application) string {
	slow := int64(len(a.Frame.Slow) + a.Left.Slow)
	switch {
	case slow > 0:
		verdict := prose.Upper(prose.Plural(slow, "task is slow", "tasks are slow"))
		if cause, ok := mostlyCause(a.Frame.Slow); ok {
			verdict += map[bool]string{true: "; likely cause so far: ", false: "; likely cause of most so far: "}[slow == 1] + report.InfoOf(cause).Title
		}
		return verdict + "."
	case len(a.Frame.Stages) == 0:
		return "No stage runs."
	default:
		return "No task is slow."
	}
}

// runningView is the data of the page's templates.
type runningView struct {
	Ended, Waiting                    bool
	Trouble, Verdict, Tasks, For, Now string
	Machines                          []runningMachine
	Notes                             []string
}

type runningMachine struct{ Name, Href, Advice string }

// slowListing returns the table of the slow tasks.
func slowListing(a *running.Application) *listing {
	l := &listing{ID: "slow-tasks", Caption: "Slow tasks, the slowest first",
		Empty: "No running task takes, or surely will take, longer than 1.5 × the median of its stage.",
		Columns: []column{
			{Title: "Task"}, {Title: "Runs for", Number: true},
			{Title: "Median", Doc: "of its stage", Number: true},
			{Title: "Expected end", Doc: "time left, with its 90 % interval", Number: true},
			{Title: "Likely cause", Doc: "so far"},
			{Title: "Would a copy help?"},
			{Title: "Policies", Doc: "that would have acted"},
		}}
	for i := range a.Frame.Slow {
		t := &a.Frame.Slow[i]
		cause := causeCell(t.Cause)
		if t.Confidence.OK {
			cause.Text += " (" + prose.Percent(t.Confidence.V) + ")"
		}
		cause.Sub = prose.Upper(prose.Clean(t.Evidence, prose.TextRunes))
		left := cell{Text: prose.Dash, Note: "too little is known"}
		if prose.Finite(t.LeftS) {
			left = cell{Text: prose.Upper(t.Left()), Sub: "by " + string(t.Basis)}
		}
		l.Rows = append(l.Rows, []cell{{Text: fmt.Sprintf("Task %d.%d of stage %s", t.Task, t.Number,
			stageTitle(t.Stage, t.StageTry)), Sub: prose.Name(t.Machine)},
			{Text: prose.Seconds(t.ElapsedS), Sub: prose.Times(t.ElapsedS / t.MedianS)}, {Text: prose.Seconds(t.MedianS)}, left, cause,
			{Text: map[live.Helps]string{live.Yes: "Yes", live.No: "No", live.Perhaps: "Perhaps"}[t.Copy.Helps],
				Sub: prose.Upper(t.Copy.Advice)}, policiesCell(a.Would(t))})
	}
	return l
}

// policiesCell returns the cell with what each policy would have done about a task.
func policiesCell(decisions []live.Decision) cell {
	if len(decisions) == 0 {
		return cell{Text: prose.Dash, Note: "none would have acted so far"}
	}
	var names []string
	for _, d := range decisions {
		names = append(names, fmt.Sprintf("%s: %s", d.Policy, d.Verb))
	}
	return cell{Text: strings.Join(names, ", ")}
}

func stageTitle(stage string, attempt int32) string {
	if attempt > 0 {
		return fmt.Sprintf("%s.%d", prose.Name(stage), attempt)
	}
	return prose.Name(stage)
}

// stageListing returns the table of the running stages.
func stageListing(f *live.Frame) *listing {
	l := &listing{ID: "running-stages", Caption: "Stages that run", Empty: "No stage runs.",
		Columns: []column{
			{Title: "Stage"},
			{Title: "Done", Doc: "tasks that are done, of all"},
			{Title: "Running", Number: true}, {Title: "Waiting", Number: true}, {Title: "Runs for", Number: true},
			{Title: "Median", Doc: "of the tasks that are done", Number: true},
		}}
	for i := range f.Stages {
		s := &f.Stages[i]
		done := cell{Text: prose.Count(int64(s.Done)) + " of " + prose.Count(s.Tasks)}
		if s.Tasks > 0 {
			done.Bar = max(1, 100*s.Done/int(s.Tasks))
		}
		l.Rows = append(l.Rows, []cell{{Text: "Stage " + stageTitle(s.Stage, s.Attempt), Sub: prose.Name(s.Name)}, done,
			{Text: prose.Count(int64(s.Running))}, {Text: prose.Count(int64(s.Waiting))},
			{Text: prose.Seconds(s.ElapsedS)}, figure(s.MedianS, prose.Seconds, "no task is done")})
	}
	return l
}

// decisionListing returns the table of the policies' latest decisions.
func decisionListing(a *running.Application) *listing {
	l := &listing{ID: "running-decisions", Caption: "Decisions, the last first", Empty: "No policy has decided anything yet.", Columns: []column{
		{Title: "When"}, {Title: "Policy"}, {Title: "Decision"}, {Title: "Now"},
	}}
	for i := range a.Recent {
		d := &a.Recent[i]
		state := "over"
		switch {
		case d.Open:
			state = "still slow"
		case d.Task < 0 && d.Tasks == 0:
			state = ""
		}
		l.Rows = append(l.Rows, []cell{{Text: prose.Instant(d.At, "epoch")}, {Text: d.Policy},
			{Text: prose.Upper(prose.Clean(d.Text, 2*prose.TextRunes))}, {Text: state}})
	}
	return l
}

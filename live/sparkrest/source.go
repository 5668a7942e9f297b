package sparkrest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"straggler/live"
	"straggler/live/rest"
	"straggler/schema"
)

// Source polls one application of a driver or a History Server. What it asks for a poll is bounded: the application, the
// stages that run, their running tasks, and pages of the tasks of which some were still running when they were last read.
type Source struct {
	c         *rest.Client
	want      string // the application's id; "": the only one, or the one that runs
	id        string // of the one that is watched
	attempt   string
	rows      *rows
	now       schema.Time // by the server's clock, at the last answer that says
	at        time.Time   // here, then
	stages    map[stageID]*pages
	due       []stageID // to be read page by page, oldest first
	known     time.Time // when executors were last asked for
	unknown   bool      // a task ran on an executor that is not known
	skew      time.Duration
	ended     bool
	listed    int  // stages known when all of them were last listed
	listedEnd bool // that was after the end
}

// pages are the tasks of a stage by pages, in the order of their ids.
type pages struct {
	stage
	settled []bool // pages that are full and of which every task has ended
	seen    counts // when its pages were last read
	over    bool
	read    bool // to the end, after it was over
	tries   int
}

// counts are the figures of a stage that change when tasks do.
type counts struct{ active, complete, failed, killed int64 }

func (s *stage) counts() counts {
	return counts{s.NumActiveTasks, s.NumCompleteTasks, s.NumFailedTasks, s.NumKilledTasks}
}

const (
	// pageTasks is how many tasks are asked for at once: about 1 MB, which a driver writes in some 10 ms.
	pageTasks = 500
	// pagesAPoll bounds the pages that are read in a poll, so that a stage of a hundred thousand tasks is read in passing.
	pagesAPoll = 8
	// executorsEvery is how often executors are asked for that no task told of.
	executorsEvery = 30 * time.Second
)

// API is that of drivers and History Servers.
var API = rest.API{Path: "/api/v1/", Name: "Spark's REST API"}

// NewSource watches an application of a server, by its id, or where that is "" the only one or the one that runs.
func NewSource(c *rest.Client, app string) *Source { return &Source{c: c, want: app} }

// Close closes the connections.
func (s *Source) Close() { s.c.Close() }

// Pause is how long to wait before the next poll. The client itself waits between requests.
func (s *Source) Pause() time.Duration { return s.c.Pause() }

// Poll asks for what is new.
func (s *Source) Poll(ctx context.Context) (*live.State, error) {
	app, a, err := s.application(ctx)
	if err != nil {
		return nil, err
	}
	if s.rows == nil || s.id != app.ID || s.attempt != a.AttemptID {
		if err := s.begin(ctx, app, a); err != nil {
			return nil, err
		}
	}
	s.rows.application(app, a)
	s.clock(a)
	s.ended = a.Completed
	if err := s.update(ctx); err != nil {
		return nil, err
	}
	return s.state(), nil
}

func (s *Source) state() *live.State {
	st := &live.State{Trace: &s.rows.Trace, Now: s.now + schema.Time(time.Since(s.at).Microseconds()), Ended: s.ended && len(s.due) == 0}
	if s.ended {
		st.Now = max(s.now, s.rows.Applications[0].FinishTime.Or(s.now))
	}
	st.Notes = live.SkewNote("server", s.skew)
	if n := len(s.due); n > 0 {
		st.Notes = append(st.Notes, fmt.Sprintf("tasks of %d stages are still to be read", n))
	}
	return st
}

// application finds the application that is watched, and its last attempt.
func (s *Source) application(ctx context.Context) (*application, *applicationAttempt, error) {
	var list []application
	id := s.want
	if id == "" {
		id = s.id
	}
	if id != "" {
		var one application
		err := s.c.Get(ctx, "applications/"+url.PathEscape(id), nil, &one)
		switch {
		case err == nil:
			list = []application{one}
		case !errors.Is(err, rest.ErrNotFound):
			return nil, nil, err
		}
	}
	if list == nil {
		if err := s.c.Get(ctx, "applications", url.Values{"limit": {"200"}}, &list); err != nil {
			if errors.Is(err, rest.ErrNotFound) {
				// a driver that starts answers so too
				return nil, nil, fmt.Errorf("%w: %w; is it the address of a Spark driver or History Server, and is spark.ui.enabled true?", live.ErrAway, err)
			}
			return nil, nil, err
		}
	}
	app, err := s.pick(list)
	if err != nil {
		return nil, nil, err
	}
	s.at = time.Now()
	if len(app.Attempts) == 0 {
		return nil, nil, fmt.Errorf("%w: application %s has no attempt", live.ErrAway, app.ID)
	}
	return app, latest(app.Attempts), nil
}

// latest is the attempt that started last.
func latest(attempts []applicationAttempt) *applicationAttempt {
	best := &attempts[0]
	for i := range attempts {
		if a := &attempts[i]; a.StartTime.V > best.StartTime.V {
			best = a
		}
	}
	return best
}

// pick chooses the application to watch from a server's list.
func (s *Source) pick(list []application) (*application, error) {
	var running, named []*application
	for i := range list {
		a := &list[i]
		if s.want != "" && a.ID == s.want {
			named = append(named, a)
		}
		if len(a.Attempts) > 0 && !latest(a.Attempts).Completed {
			running = append(running, a)
		}
	}
	switch {
	case len(named) > 0:
		return named[0], nil
	case s.want != "" && s.rows == nil:
		return nil, fmt.Errorf("%w: %s knows no application %s%s", live.ErrGone, s.c.Address(), s.want, there(list))
	case s.want != "":
		return nil, fmt.Errorf("%w: %s no longer knows application %s", live.ErrGone, s.c.Address(), s.want)
	case len(running) == 1: // on a driver's address another may have started since
		return running[0], nil
	case len(list) == 1:
		return &list[0], nil
	case len(running) > 1:
		slices.SortStableFunc(running, func(a, b *application) int { return strings.Compare(a.ID, b.ID) })
		var names []application
		for _, a := range running {
			names = append(names, *a)
		}
		return nil, fmt.Errorf("%w: several applications run there; name one with --app%s", rest.ErrURL, there(names))
	}
	return nil, fmt.Errorf("%w: no application runs there; name one with --app%s", rest.ErrURL, there(list))
}

// there lists the first ids.
func there(list []application) string {
	if len(list) == 0 {
		return ""
	}
	var ids []string
	for i := range list[:min(len(list), 5)] {
		ids = append(ids, list[i].ID)
	}
	if len(list) > 5 {
		ids = append(ids, "…")
	}
	return ": " + strings.Join(ids, ", ")
}

// begin starts to watch an application or another attempt of it.
func (s *Source) begin(ctx context.Context, app *application, a *applicationAttempt) error {
	s.id, s.attempt = app.ID, a.AttemptID
	r := newRows(app, a, s.c.Address())
	var env environment
	err := s.get(ctx, "environment", nil, &env)
	if err != nil && !errors.Is(err, rest.ErrNotFound) {
		return err
	}
	r.environment(&env)
	s.rows, s.stages, s.due, s.unknown = r, map[stageID]*pages{}, nil, true
	if a.Completed {
		s.c.Hasten(100 * time.Millisecond) // a finished application's figures are the History Server's
	}
	var list []stage
	if err := s.get(ctx, "stages", nil, &list); err != nil {
		s.rows = nil
		return err
	}
	if err := s.jobs(ctx); err != nil {
		s.rows = nil
		return err
	}
	for i := range list {
		s.stage(&list[i])
	}
	s.listed, s.listedEnd = len(s.stages), false
	return nil
}

// get asks for something of the application.
func (s *Source) get(ctx context.Context, path string, query url.Values, into any) error {
	at := "applications/" + url.PathEscape(s.id) + "/"
	if s.attempt != "" {
		at += url.PathEscape(s.attempt) + "/"
	}
	return s.c.Get(ctx, at+path, query, into)
}

// clock notes the server's time.
func (s *Source) clock(a *applicationAttempt) {
	if !a.StartTime.OK || a.Duration <= 0 {
		return
	}
	s.now = max(a.StartTime.V+schema.FromMillis(a.Duration), s.now)
	s.skew = time.Duration(int64(s.now)-s.at.UnixMicro()) * time.Microsecond
	if a.Completed {
		s.skew = 0
	}
}

func (s *Source) update(ctx context.Context) error {
	if err := s.activeStages(ctx); err != nil {
		return err
	}
	left := pagesAPoll
	for _, id := range s.running() {
		if err := s.runningTasks(ctx, id); err != nil {
			return err
		}
	}
	for n := len(s.due); n > 0 && left > 0; n-- {
		id := s.due[0]
		s.due = s.due[1:]
		more, err := s.readPages(ctx, id, &left)
		if err != nil {
			s.due = append(s.due, id)
			return err
		}
		if more {
			s.due = append(s.due, id)
		}
	}
	if s.unknown || time.Since(s.known) > executorsEvery {
		return s.executors(ctx)
	}
	return nil
}

// activeStages asks which stages run, and what became of those that no longer do.
func (s *Source) activeStages(ctx context.Context) error {
	var list []stage
	if err := s.get(ctx, "stages", url.Values{"status": {"active"}}, &list); err != nil {
		return err
	}
	active := map[stageID]bool{}
	newJobs := false
	for i := range list {
		active[stageID{list[i].StageID, list[i].AttemptID}] = true
		_, ok := s.rows.jobOf[list[i].StageID]
		newJobs = newJobs || !ok
	}
	if newJobs || s.ended {
		if err := s.jobs(ctx); err != nil {
			return err
		}
	}
	for i := range list {
		s.stage(&list[i])
	}
	for id, p := range s.stages { // that still have tasks to be read
		if p.over && !p.read && !slices.Contains(s.due, id) {
			s.due = append(s.due, id)
		}
	}
	for _, id := range s.running() {
		if active[id] {
			continue
		}
		var one stage
		err := s.get(ctx, fmt.Sprintf("stages/%d/%d", id.id, id.attempt), url.Values{"details": {"false"}}, &one)
		switch {
		case errors.Is(err, rest.ErrNotFound):
			one = s.stages[id].stage
			one.Status = "COMPLETE"
		case err != nil:
			return err
		}
		s.stage(&one)
	}
	return s.missed(ctx)
}

// missed asks for stages that came and went between two polls: they are among the complete ones only. That is asked when
// a stage has come or gone, and at the end.
func (s *Source) missed(ctx context.Context) error {
	if n := len(s.stages); n == s.listed && !s.ended || s.listedEnd {
		return nil
	}
	var list []stage
	if err := s.get(ctx, "stages", nil, &list); err != nil {
		return err
	}
	for i := range list {
		if _, ok := s.rows.jobOf[list[i].StageID]; !ok {
			if err := s.jobs(ctx); err != nil {
				return err
			}
			break
		}
	}
	for i := range list {
		s.stage(&list[i])
	}
	s.listed, s.listedEnd = len(s.stages), s.ended
	return nil
}

func (s *Source) jobs(ctx context.Context) error {
	var list []job
	if err := s.get(ctx, "jobs", nil, &list); err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b job) int { return int(a.JobID - b.JobID) })
	for i := range list {
		s.rows.job(&list[i])
	}
	return nil
}

// stage takes the figures of a stage.
func (s *Source) stage(x *stage) {
	if x.Status == "PENDING" || x.Status == "SKIPPED" || !s.rows.stage(x) {
		return
	}
	id := stageID{x.StageID, x.AttemptID}
	p := s.stages[id]
	if p == nil {
		p = &pages{}
		s.stages[id] = p
	}
	p.stage = *x
	p.over = x.Status != "ACTIVE"
	if !p.read && (p.seen != x.counts() || p.over) && !slices.Contains(s.due, id) {
		s.due = append(s.due, id)
	}
}

// running are the stages that run, in order.
func (s *Source) running() []stageID {
	var out []stageID
	for id, p := range s.stages {
		if !p.over {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b stageID) int {
		if a.id != b.id {
			return int(a.id - b.id)
		}
		return int(a.attempt - b.attempt)
	})
	return out
}

// maxRunning bounds the running tasks of a stage that are asked for at once.
const maxRunning = 1000

// runningTasks asks for the tasks of a stage that run, with what they have read. Spark before 3.1 does not know the
// status and answers with the first tasks, which is harmless.
func (s *Source) runningTasks(ctx context.Context, id stageID) error {
	p := s.stages[id]
	if p.NumActiveTasks == 0 {
		return nil
	}
	n := min(p.NumActiveTasks+100, maxRunning)
	_, err := s.tasks(ctx, id, url.Values{"status": {"running"}, "length": {strconv.FormatInt(n, 10)}})
	return err
}

// readPages reads pages of a stage's tasks of which some had not ended, as many as are left; more is whether it has to go on.
func (s *Source) readPages(ctx context.Context, id stageID, left *int) (more bool, err error) {
	p := s.stages[id]
	at, over, running := p.counts(), p.over, false
	for n := 0; ; n++ {
		if n == len(p.settled) {
			p.settled = append(p.settled, false)
		}
		if p.settled[n] {
			continue
		}
		if *left == 0 {
			return true, nil
		}
		*left--
		list, err := s.tasks(ctx, id, url.Values{"offset": {strconv.Itoa(n * pageTasks)}, "length": {strconv.Itoa(pageTasks)}})
		if err != nil {
			return true, err
		}
		unended := slices.ContainsFunc(list, func(t task) bool { return t.Status == "RUNNING" || t.Status == "PENDING" })
		p.settled[n] = len(list) == pageTasks && !unended
		running = running || unended
		if len(list) < pageTasks {
			break
		}
	}
	p.seen = at
	if over {
		p.tries++
		p.read = !running || p.tries > 3 // killed copies may never be said to have ended
	}
	return false, nil
}

func (s *Source) tasks(ctx context.Context, id stageID, query url.Values) ([]task, error) {
	var list []task
	err := s.get(ctx, fmt.Sprintf("stages/%d/%d/taskList", id.id, id.attempt), query, &list)
	if errors.Is(err, rest.ErrNotFound) { // Spark has dropped the stage from its pages
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range list {
		s.rows.task(id, &list[i])
		if _, ok := s.rows.executors[list[i].ExecutorID]; !ok {
			s.unknown = true
		}
	}
	return list, nil
}

func (s *Source) executors(ctx context.Context) error {
	var list []executor
	if err := s.get(ctx, "allexecutors", nil, &list); err != nil && !errors.Is(err, rest.ErrNotFound) {
		return err
	}
	for i := range list {
		s.rows.executor(&list[i])
	}
	s.known, s.unknown = time.Now(), false
	return nil
}

package sparkrest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"straggler/live"
	"straggler/live/rest"
	"straggler/schema"
)

// Source polls one application of a driver or a History Server. A poll requests the running stages and, for those that have
// changed, the tasks that were not known to have ended; while no stage runs it is one request.
type Source struct {
	c       *rest.Client
	want    string // the application's id; "": the only one, or the running one
	id      string // of the watched one
	attempt string
	rows    *rows
	polls   int         // since the application was last requested
	now     schema.Time // by the server's clock, at the last answer that gives it
	at      time.Time   // here, at that time
	silent  schema.Time // when a History Server last found anything new in the log; 0: just now, or it is not one
	read    time.Time   // here, before tasks were requested in the last poll that did
	stages  map[stageID]*stageTasks
	due     []stageID // whose tasks must be read, the longest waiting first
	known   time.Time // when executors were last requested
	unknown bool      // a task ran on an executor that is not known
	skew    time.Duration
	ended   bool
	listing listing
}

const (
	// applicationEvery is the number of polls after which the application itself is requested again while stages run: its end
	// shows in its stages, and its clock runs like the one here.
	applicationEvery = 30
	// executorsEvery is how often executors without tasks are polled.
	executorsEvery = 30 * time.Second
)

// API is the API of drivers and History Servers.
var API = rest.API{Path: "/api/v1/", Name: "Spark's REST API"}

// NewSource watches an application of a server, by its id; "" means the only one or the running one.
func NewSource(c *rest.Client, app string) *Source { return &Source{c: c, want: app} }

// Close closes the connections.
func (s *Source) Close() { s.c.Close() }

// Pause returns how long to wait before the next poll. The client itself waits between requests.
func (s *Source) Pause() time.Duration { return s.c.Pause() }

// Poll requests changes. While no stage runs, it alternates between the application and the stages.
func (s *Source) Poll(ctx context.Context) (*live.State, error) {
	idle := s.rows != nil && !s.ended && len(s.running()) == 0 && len(s.due) == 0
	look, fresh := s.rows == nil || idle && s.polls > 0 || s.polls >= applicationEvery, false
	s.polls++
	if look {
		var err error
		if fresh, err = s.look(ctx); err != nil {
			return nil, err
		}
		if idle && !fresh && !s.ended {
			return s.state(), nil
		}
	}
	err := s.update(ctx, fresh)
	if errors.Is(err, rest.ErrNotFound) && !look { // it runs under another attempt, or another application has its address
		if fresh, err = s.look(ctx); err == nil {
			err = s.update(ctx, fresh)
		}
	}
	switch {
	case errors.Is(err, rest.ErrNotFound):
		return nil, fmt.Errorf("%w: %w", live.ErrAway, err)
	case err != nil:
		return nil, err
	}
	if len(s.rows.Attempts) > 0 { // every kind of answer arrived at least once
		s.c.Meter()
	}
	return s.state(), nil
}

// look requests the application; fresh reports whether it is another one, or another attempt, than before.
func (s *Source) look(ctx context.Context) (fresh bool, err error) {
	app, a, err := s.application(ctx)
	if err != nil {
		return false, err
	}
	s.polls = 0
	s.clock(a, time.Now())
	if s.rows == nil || s.id != app.ID || s.attempt != a.AttemptID {
		if err := s.begin(ctx, app, a); err != nil {
			return false, err
		}
		fresh = true
	}
	s.rows.application(app, a)
	s.ended = a.Completed
	return fresh, nil
}

func (s *Source) state() *live.State {
	s.catchUp()
	st := &live.State{Trace: &s.rows.Trace, Now: s.now + schema.Time(time.Since(s.at).Microseconds()), Ended: s.ended && len(s.due) == 0,
		Heartbeat: s.rows.heartbeat}
	st.Read = s.now + schema.Time(s.read.Sub(s.at).Microseconds())
	if s.ended {
		st.Now = max(s.now, s.rows.Applications[0].FinishTime.Or(s.now))
	}
	st.Stale = map[schema.Key]bool{}
	for _, id := range s.running() {
		if s.stages[id].looks > 0 {
			st.Stale[s.rows.Phases[s.rows.phases[id]].PhaseID] = true
		}
	}
	st.Notes = live.SkewNote("server", s.skew)
	if s.silent > 0 {
		st.Notes = append(st.Notes, fmt.Sprintf("the History Server has found nothing new in the log since %s: the driver may be gone", time.UnixMicro(int64(s.silent)).UTC().Format(time.DateTime)))
	}
	if n := len(s.due); n > 0 {
		st.Notes = append(st.Notes, fmt.Sprintf("tasks of %d stages have not been read yet", n))
	}
	if p := s.Pause(); p >= rareS*time.Second {
		st.Notes = append(st.Notes, fmt.Sprintf("the server answers slowly; to limit its load the next request is after %s", p.Round(time.Second)))
	}
	return st
}

// rareS is the number of seconds between two polls from which a note says so.
const rareS = 5

// application finds the watched application, and its last attempt.
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
				// a driver that is starting answers like this too
				return nil, nil, fmt.Errorf("%w: %w; is it the address of a Spark driver or History Server, and is spark.ui.enabled true? (write a YARN resource manager's as http://HOST:PORT/cluster)", live.ErrAway, err)
			}
			return nil, nil, err
		}
		list = slices.DeleteFunc(list, func(a application) bool { return a.ID == "" }) // of no server
	}
	app, err := s.pick(list)
	if err != nil {
		return nil, nil, err
	}
	if len(app.Attempts) == 0 {
		return nil, nil, fmt.Errorf("%w: application %s has no attempt", live.ErrAway, app.ID)
	}
	return app, latest(app.Attempts), nil
}

// latest returns the attempt that started last.
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
	case len(running) == 1: // at a driver's address another one may have started since
		return running[0], nil
	case len(list) == 1:
		return &list[0], nil
	case len(running) > 1:
		slices.SortStableFunc(running, func(a, b *application) int { return strings.Compare(a.ID, b.ID) })
		var names []application
		for _, a := range running {
			names = append(names, *a)
		}
		return nil, fmt.Errorf("%w: several applications run at %s; name one with --app%s", rest.ErrURL, s.c.Address(), there(names))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: %s lists no applications: neither a running one nor one that has ended", rest.ErrURL, s.c.Address())
	}
	return nil, fmt.Errorf("%w: no application runs at %s; name one that has ended with --app%s", rest.ErrURL, s.c.Address(), there(list))
}

// Running lists the ids of the applications that run according to a server.
func Running(ctx context.Context, c *rest.Client) (ids []string, err error) {
	var list []application
	if err := c.Get(ctx, "applications", url.Values{"status": {"running"}, "limit": {"200"}}, &list); err != nil {
		return nil, err
	}
	for i := range list {
		if a := &list[i]; len(a.Attempts) > 0 && !latest(a.Attempts).Completed {
			ids = append(ids, a.ID)
		}
	}
	return ids, nil
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
	s.rows, s.stages, s.due, s.unknown, s.listing = r, map[stageID]*stageTasks{}, nil, true, listing{}
	if a.Completed {
		s.c.Unthrottle(100 * time.Millisecond) // a finished application's figures are the History Server's
	}
	if err := s.list(ctx); err != nil {
		s.rows = nil
		return err
	}
	return nil
}

// get sends a request about the application.
func (s *Source) get(ctx context.Context, path string, query url.Values, into any) error {
	at := "applications/" + url.PathEscape(s.id) + "/"
	if s.attempt != "" {
		at += url.PathEscape(s.attempt) + "/"
	}
	return s.c.Get(ctx, at+path, query, into)
}

// clock records the server's time. A History Server reports none for a running application, so it follows from the part of the
// log that it has read.
func (s *Source) clock(a *applicationAttempt, requested time.Time) {
	s.silent = 0
	switch {
	case a.StartTime.OK && a.Duration > 0:
		s.now, s.at = max(a.StartTime.V+schema.FromMillis(a.Duration), s.now), requested
		s.skew = time.Duration(int64(s.now)-s.at.UnixMicro()) * time.Microsecond
	case s.at.IsZero():
		s.now, s.at = a.StartTime.V, requested
	}
	if a.Completed {
		s.skew = 0
	} else if a.Duration <= 0 && a.LastUpdated.OK && requested.Sub(time.UnixMicro(int64(a.LastUpdated.V))) > silence {
		s.silent = a.LastUpdated.V
	}
}

// silence is how long the log of a living driver may plausibly not grow: Spark writes it through a buffer, and writes about a
// task when it ends. By default a History Server looks every 10 s.
const silence = 5 * time.Minute

// catchUp advances the server's time to the latest time of an attempt: the application, whose answer has the time, is
// requested rarely.
func (s *Source) catchUp() {
	now := s.now + schema.Time(time.Since(s.at).Microseconds())
	latest := now
	for i := range s.rows.Attempts {
		a := &s.rows.Attempts[i]
		latest = max(latest, a.StartTime.Or(0), a.FinishTime.Or(0))
	}
	if latest > now {
		s.now, s.at = latest, time.Now()
	}
}

// update requests stages, unless all of them are fresh, tasks and executors.
func (s *Source) update(ctx context.Context, fresh bool) error {
	if !fresh && !s.listing.ended {
		if err := s.activeStages(ctx); err != nil {
			return err
		}
	}
	for _, id := range s.which(func(p *stageTasks) bool { return p.over && !p.read }) { // that still have tasks to be read
		if !slices.Contains(s.due, id) {
			s.due = append(s.due, id)
		}
	}
	left := pagesAPoll
	if len(s.due) > 0 {
		s.read = time.Now()
	}
	for n := len(s.due); n > 0 && left > 0; n-- {
		id := s.due[0]
		s.due = s.due[1:]
		more, err := s.readTasks(ctx, id, &left)
		if err != nil || more {
			s.due = append(s.due, id)
		}
		if err != nil {
			return err
		}
	}
	if s.unknown || time.Since(s.known) > executorsEvery {
		return s.executors(ctx)
	}
	return nil
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

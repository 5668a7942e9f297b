package yarn

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"straggler/live"
	"straggler/live/rest"
	"straggler/live/sparkrest"
	"straggler/schema"
)

// managerAPI is the API of resource managers.
var managerAPI = rest.API{Path: "/ws/v1/cluster/", Name: "YARN's resource manager"}

// Source watches one application of a resource manager, of any framework that reports on its tasks.
type Source struct {
	address string // the manager's
	app     string // "": the only running one
	o       rest.Options
	manager *rest.Client
	of      framework   // the application's own source, once found
	last    *live.State // returned by it
}

// framework is a source with connections.
type framework interface {
	live.Source
	Close()
}

// New watches an application of a manager by its id; "" means the only running one.
func New(address, app string, o rest.Options) (*Source, error) {
	c, err := rest.New(address, managerAPI, o)
	if err != nil {
		return nil, err
	}
	return &Source{address: c.Address(), app: app, o: o, manager: c}, nil
}

// Manager parses an address that certainly belongs to a resource manager: it has one of the manager's pages about itself or
// applications, or the default port of its pages (yarn.resourcemanager.webapp.address and its https equivalent).
func Manager(address string) (manager, app string, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", false
	}
	if m := page.FindStringSubmatch(u.Path); m != nil {
		u.Path, u.Fragment, u.RawQuery = m[1], "", ""
		return u.String(), m[2], true
	}
	root, _, own := strings.Cut(u.Path+"/", "/cluster/")
	if p := u.Port(); own || p == "8088" || p == "8090" {
		u.Path = strings.TrimSuffix(root, "/")
		u.Fragment, u.RawQuery = "", ""
		return u.String(), "", true
	}
	return "", "", false
}

// page matches the path of a page about an application: its own server through the proxy, or the manager's page.
var page = regexp.MustCompile(`^(.*)/(?:proxy|cluster/app)/(application_\d+_\d+)(?:/.*)?$`)

// Close closes the connections.
func (s *Source) Close() {
	s.manager.Close()
	if s.of != nil {
		s.of.Close()
	}
}

// Pause returns how long to wait before the next poll.
func (s *Source) Pause() time.Duration {
	if s.of != nil {
		return s.of.Pause()
	}
	return s.manager.Pause()
}

// Poll requests changes. When the application no longer answers, it asks the manager whether it has ended.
func (s *Source) Poll(ctx context.Context) (*live.State, error) {
	if s.of == nil {
		if err := s.find(ctx); err != nil {
			return nil, err
		}
	}
	state, err := s.of.Poll(ctx)
	switch {
	case err == nil:
		s.last = state
		return state, nil
	case s.last == nil && !errors.Is(err, live.ErrAway), !errors.Is(err, live.ErrAway) && !errors.Is(err, live.ErrGone):
		return nil, err
	}
	app, appErr := s.one(ctx, s.app)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if appErr != nil || app.FinishedTime == 0 {
		return nil, err
	}
	if s.last == nil {
		return nil, app.over()
	}
	return s.ended(app), nil
}

// find finds the application and its source.
func (s *Source) find(ctx context.Context) error {
	app, err := s.pick(ctx)
	if err != nil {
		return err
	}
	at := s.address + "/proxy/" + url.PathEscape(app.ID)
	switch {
	case app.FinishedTime > 0:
		return app.over()
	case app.State != "RUNNING":
		return fmt.Errorf("%w: %s does not run yet: it is %s", live.ErrAway, app.ID, strings.ToLower(app.State))
	case app.Type == "SPARK":
		c, err := rest.New(at, sparkrest.API, s.o)
		if err != nil {
			return err
		}
		s.of = sparkrest.NewSource(c, app.ID)
	case app.Type == "MAPREDUCE":
		if s.of, err = newMapReduce(at, app.ID, s.o); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%w: %s is of the framework %s, whose running tasks nothing here reads; there are SPARK, MAPREDUCE", rest.ErrURL, app.ID, app.Type)
	}
	s.app = app.ID
	return nil
}

// pick returns the named application, or the only running one that can be watched.
func (s *Source) pick(ctx context.Context) (*application, error) {
	if s.app != "" {
		return s.one(ctx, s.app)
	}
	running, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	if len(running) == 1 {
		return &running[0], nil
	}
	ids := idsOf(running)
	if len(ids) > 5 {
		ids = append(ids[:5], "…")
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("%w: no application of Spark or MapReduce runs at %s; name one with --app", rest.ErrURL, s.address)
	}
	return nil, fmt.Errorf("%w: several applications run at %s; name one with --app: %s", rest.ErrURL, s.address, strings.Join(ids, ", "))
}

// list requests the running applications that can be watched.
func (s *Source) list(ctx context.Context) ([]application, error) {
	var list applications
	if err := s.manager.Get(ctx, "apps", url.Values{"states": {"RUNNING"}, "applicationTypes": {"SPARK,MAPREDUCE"}, "limit": {"200"}}, &list); err != nil {
		return nil, s.noManager(err)
	}
	return list.Apps.App, nil
}

// Running lists the ids of running applications that can be watched.
func (s *Source) Running(ctx context.Context) ([]string, error) {
	list, err := s.list(ctx)
	return idsOf(list), err
}

func idsOf(list []application) []string {
	var ids []string
	for i := range list {
		ids = append(ids, list[i].ID)
	}
	slices.Sort(ids)
	return ids
}

// one requests one application.
func (s *Source) one(ctx context.Context, id string) (*application, error) {
	var x oneApplication
	err := s.manager.Get(ctx, "apps/"+url.PathEscape(id), nil, &x)
	if errors.Is(err, rest.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w; the manager knows no application %s", live.ErrGone, err, id)
	}
	if err != nil {
		return nil, s.noManager(err)
	}
	return &x.App, nil
}

func (s *Source) noManager(err error) error {
	if errors.Is(err, rest.ErrNotFound) {
		return fmt.Errorf("%w: %w; is it the address of a resource manager?", rest.ErrURL, err)
	}
	return err
}

// over is the error about an application that ended before anything of it was read.
func (a *application) over() error {
	return fmt.Errorf("%w: %s has ended (%s); read its log or history instead, as with straggler report", live.ErrGone, a.ID, strings.ToLower(a.FinalStatus))
}

// ended returns the last state of an application whose end only the manager saw.
func (s *Source) ended(app *application) *live.State {
	last := s.last
	last.Ended = true
	x := &last.Trace.Applications[0]
	if !x.FinishTime.OK {
		x.FinishTime = schema.Some(schema.FromMillis(app.FinishedTime))
		last.Now = max(last.Now, x.FinishTime.V)
	}
	if x.Status == schema.RunRunning {
		x.Status = finalStatus(app.FinalStatus)
	}
	last.Notes = append(slices.Clip(last.Notes),
		"its end was reported by the resource manager: what its last tasks did was not seen, but is in its log or history")
	return last
}

func finalStatus(s string) schema.RunStatus {
	switch s {
	case "SUCCEEDED":
		return schema.RunSucceeded
	case "FAILED", "KILLED":
		return schema.RunFailed
	}
	return schema.RunUnknown
}

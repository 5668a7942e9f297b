package running

import (
	"context"
	"slices"
	"sync"

	"straggler/live"
	"straggler/live/rest"
	"straggler/live/sparkrest"
	"straggler/live/yarn"
)

// Spark returns the endpoint of a driver or a History Server, by Spark's REST API. All its applications share one client, so that
// the interval between requests does not depend on how many run. app is the id of the application to follow, or "" for all.
func Spark(address, app string, o rest.Options) (Endpoint, error) {
	c, err := rest.New(address, sparkrest.API, o)
	if err != nil {
		return nil, err
	}
	return &sparkServer{app: app, client: c}, nil
}

type sparkServer struct {
	app    string
	mu     sync.Mutex // held while the client asks
	client *rest.Client
}

func (e *sparkServer) Name() string { return e.client.Address() }
func (e *sparkServer) Logged() bool { return false }
func (e *sparkServer) Close()       { e.client.Close() }

func (e *sparkServer) Running(ctx context.Context) ([]string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ids, err := sparkrest.Running(ctx, e.client)
	return only(ids, e.app), err
}

func (e *sparkServer) Open(id string) (Source, error) {
	return &oneAtATime{e, sparkrest.NewSource(e.client, id)}, nil
}

// oneAtATime is a source that shares its client with others.
type oneAtATime struct {
	server *sparkServer
	*sparkrest.Source
}

func (s *oneAtATime) Poll(ctx context.Context) (*live.State, error) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	return s.Source.Poll(ctx)
}

// Close leaves the client open: it is the server's.
func (s *oneAtATime) Close() {}

// YARN returns the endpoint of a resource manager. app is the id of the application to follow, or "" for all.
func YARN(address, app string, o rest.Options) (Endpoint, error) {
	list, err := yarn.New(address, "", o)
	if err != nil {
		return nil, err
	}
	return &manager{address: address, app: app, o: o, list: list}, nil
}

type manager struct {
	address, app string
	o            rest.Options
	list         *yarn.Source
}

func (e *manager) Name() string                   { return e.address }
func (e *manager) Logged() bool                   { return false }
func (e *manager) Close()                         { e.list.Close() }
func (e *manager) Open(id string) (Source, error) { return yarn.New(e.address, id, e.o) }

func (e *manager) Running(ctx context.Context) ([]string, error) {
	ids, err := e.list.Running(ctx)
	return only(ids, e.app), err
}

// only returns the ids, or want alone if it is set and among them.
func only(ids []string, want string) []string {
	return slices.DeleteFunc(ids, func(id string) bool { return want != "" && id != want })
}

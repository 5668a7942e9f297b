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

// Spark is the place behind Spark's REST API: of a driver, or of a History Server. All its applications are asked for through
// one client, so that the server is asked once in the client's pause, however many run. app is the only one to watch, "" for
// all.
func Spark(address, app string, o rest.Options) (Place, error) {
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

func (p *sparkServer) Name() string { return p.client.Address() }
func (p *sparkServer) Logged() bool { return false }
func (p *sparkServer) Close()       { p.client.Close() }

func (p *sparkServer) Running(ctx context.Context) ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids, err := sparkrest.Running(ctx, p.client)
	return only(ids, p.app), err
}

func (p *sparkServer) Open(id string) (Source, error) {
	return &oneAtATime{p, sparkrest.NewSource(p.client, id)}, nil
}

// oneAtATime is a source that shares the client of its server.
type oneAtATime struct {
	p *sparkServer
	*sparkrest.Source
}

func (s *oneAtATime) Poll(ctx context.Context) (*live.State, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.Source.Poll(ctx)
}

// Close leaves the client open: it is the server's.
func (s *oneAtATime) Close() {}

// YARN is the place behind a resource manager. app is the only one to watch, "" for all.
func YARN(address, app string, o rest.Options) (Place, error) {
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

func (p *manager) Name() string                   { return p.address }
func (p *manager) Logged() bool                   { return false }
func (p *manager) Close()                         { p.list.Close() }
func (p *manager) Open(id string) (Source, error) { return yarn.New(p.address, id, p.o) }

func (p *manager) Running(ctx context.Context) ([]string, error) {
	ids, err := p.list.Running(ctx)
	return only(ids, p.app), err
}

// only are the ids, or the one that is wanted of them.
func only(ids []string, want string) []string {
	return slices.DeleteFunc(ids, func(id string) bool { return want != "" && id != want })
}

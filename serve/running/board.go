package running

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"straggler/ingest"
	"straggler/live"
	"straggler/schema"
	"straggler/whatif/policy"
)

// Options of a Board.
type Options struct {
	Endpoints []Endpoint
	Policies  []policy.Policy                                       // that say what they would do
	Health    func(context.Context) ([]schema.MachineHealth, error) // what is known of the machines; nil: nothing
	// is given what was seen of an application that ended without a log; nil: it is forgotten
	Keep  func(context.Context, *live.State) error
	Every time.Duration // between two looks at what runs at an endpoint; 0 is 10 s

	// Settling is how long endpoints may lag behind the end of an application: its log is still listed as being written, a
	// manager still lists it as running, and the store lacks the last lines of its log. 0 means a minute.
	Settling time.Duration
}

// Board follows the applications that run at some endpoints. It is safe for concurrent use.
type Board struct {
	o Options

	mu       sync.Mutex
	followed map[string]bool         // ids that a goroutine follows, or keeps what it saw of
	known    map[string]*Application // by id: those that run, and those that ended last
	trouble  map[string]error        // why an endpoint does not say what runs there, by its name
}

const (
	// mostFollowed bounds the applications that are followed at once: each keeps its rows in memory.
	mostFollowed = 24
	// keepEnded is how long an ended application is kept: its page needs it until the application is in the store.
	keepEnded = 10 * time.Minute
	// awayLimit is how long an application is followed whose endpoint has stopped answering.
	awayLimit = time.Minute
)

// New returns a Board.
func New(o Options) *Board {
	if o.Every <= 0 {
		o.Every = 10 * time.Second
	}
	if o.Settling <= 0 {
		o.Settling = time.Minute
	}
	return &Board{o: o, followed: map[string]bool{}, known: map[string]*Application{}, trouble: map[string]error{}}
}

// Run finds the applications that run at the endpoints and follows them, until the context ends.
func (b *Board) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, e := range b.o.Endpoints {
		wg.Go(func() {
			defer e.Close()
			b.watchEndpoint(ctx, e)
		})
	}
	wg.Wait()
}

// watchEndpoint follows the applications of an endpoint.
func (b *Board) watchEndpoint(ctx context.Context, e Endpoint) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for ctx.Err() == nil {
		ids, err := e.Running(ctx)
		if ctx.Err() != nil {
			return
		}
		b.noteTrouble(e, err)
		for _, id := range ids {
			if !b.claim(id, e) {
				continue
			}
			src, err := e.Open(id)
			if err != nil {
				b.noteTrouble(e, err)
				b.finish(id, nil, err)
				continue
			}
			wg.Go(func() {
				defer src.Close()
				b.follow(ctx, id, e, src)
			})
		}
		select {
		case <-time.After(b.o.Every):
		case <-ctx.Done():
		}
	}
}

// noteTrouble records whether an endpoint could list its applications, and removes those that ended long ago.
func (b *Board) noteTrouble(e Endpoint, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if delete(b.trouble, e.Name()); err != nil {
		b.trouble[e.Name()] = err
	}
	for id, a := range b.known {
		if a.Ended && !b.followed[id] && time.Since(a.Seen) > keepEnded {
			delete(b.known, id)
		}
	}
}

// claim adds an application to the board. It returns false if the application is already followed, or too many are.
func (b *Board) claim(id string, e Endpoint) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.known[id]; b.followed[id] || a != nil && !a.Settled() {
		return false
	}
	n := 0
	for _, a := range b.known {
		if !a.Ended {
			n++
		}
	}
	if n >= mostFollowed {
		b.trouble[e.Name()] = fmt.Errorf("more than %d applications run: %s and others are not followed", mostFollowed, id)
		return false
	}
	b.followed[id], b.known[id] = true, &Application{ID: id, Where: e.Name(), settling: b.o.Settling}
	return true
}

// follow follows an application until it ends or is lost.
func (b *Board) follow(ctx context.Context, id string, e Endpoint, src live.Source) {
	var last *live.State
	err := b.run(ctx, id, src, &last)
	if last != nil && last.Ended && !e.Logged() && b.o.Keep != nil && ctx.Err() == nil {
		err = errors.Join(err, b.o.Keep(ctx, last))
	}
	b.finish(id, last, err)
}

// run follows an application. It survives panics of the code that reads a server's answers or a log.
func (b *Board) run(ctx context.Context, id string, src live.Source, last **live.State) (err error) {
	defer ingest.Recover(&err)
	o := live.Options{Policies: b.o.Policies}
	if b.o.Health != nil {
		if o.Health, err = b.o.Health(ctx); err != nil {
			return err
		}
	}
	*last, err = live.Run(ctx, src, live.New(o), live.RunOptions{
		Show: func(f *live.Frame) { b.change(id, func(a *Application) *Application { return a.see(f, time.Now()) }) },
		Away: func(err error) {
			b.change(id, func(a *Application) *Application { x := *a; x.Trouble = err; return &x })
		},
		AwayFor: awayLimit,
	})
	return err
}

func (b *Board) change(id string, to func(*Application) *Application) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known[id] = to(b.known[id])
}

// finish records the end of an application. One of which nothing was read is removed; if it still runs, it is tried again.
func (b *Board) finish(id string, last *live.State, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.followed, id)
	if last == nil {
		delete(b.known, id)
		return
	}
	x := *b.known[id]
	x.Trouble, x.Ended = err, true
	b.known[id] = &x
}

// Applications returns the running applications, newest first.
func (b *Board) Applications() []*Application {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []*Application
	for _, a := range b.known {
		if !a.Ended {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b *Application) int {
		return cmp.Or(cmp.Compare(b.Started.V, a.Started.V), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Application returns the application with an id that is running or has just ended, or nil.
func (b *Board) Application(id string) *Application {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known[id]
}

// Endpoints returns the names of the endpoints, and for each the error with which it failed to list its applications, or nil.
func (b *Board) Endpoints() (names []string, trouble []error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.o.Endpoints {
		if !e.Logged() {
			names, trouble = append(names, e.Name()), append(trouble, b.trouble[e.Name()])
		}
	}
	return names, trouble
}

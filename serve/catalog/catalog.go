package catalog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"straggler/engine"
	"straggler/ingest"
	"straggler/ingest/run"
	"straggler/report"
	"straggler/schema"
	"straggler/store"
)

// Options configure a catalog.
type Options struct {
	Store *store.Store // to write to; with Fixed only to read
	// the same store, opened a second time for reading: pages change only when they are given a new version
	Shown   *store.Store
	Fixed   bool            // change nothing: no results are brought up to date
	Logs    []string        // files, directories and URLs to watch; none without
	Formats []ingest.Format // that logs may have
	Ingest  run.Options     // of the logs
	Tool    string          // version of straggler, for the record
	Every   time.Duration   // between two looks at the logs and at the store; 0 is 2 s
	// memory for all queries together, in bytes; 0 means three quarters of the machine's, at least 3 GiB
	Memory int64
}

// Catalog serves documents and rows of a changing store. It is safe for concurrent use.
type Catalog struct {
	o      Options
	status statusBoard

	mu     sync.Mutex
	now    *version
	closed bool
	last   map[string]keptResult // over the whole store, by name

	prepared []func(context.Context) // build such results of the version that is shown

	refreshing, judging sync.Mutex // held by the one that does it

	replays    []*replay // the newest last
	lastReplay int

	base     context.Context // of documents that are being built, and of replays
	stop     context.CancelFunc
	building sync.WaitGroup

	analysing sync.Mutex    // held while the results are brought up to date; guards what follows
	analysed  time.Time     // when they last were
	took      time.Duration // how long that took
}

// ErrStarting is returned before the store has been read for the first time.
var ErrStarting = errors.New("the store is being opened")

// Open reads the store for the first time. Run keeps the catalog up to date.
func Open(ctx context.Context, o Options) (*Catalog, error) {
	if o.Every <= 0 {
		o.Every = 2 * time.Second
	}
	if o.Memory <= 0 {
		o.Memory = max(engine.Memory()/4*3, 3<<30)
	}
	if o.Ingest.Round == 0 {
		o.Ingest.Round = roundBytes
	}
	c := &Catalog{o: o}
	c.base, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := c.refresh(ctx); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// Run watches the logs and the store until the context ends. Problems are in the Status; an error is returned only if nothing
// can be watched.
func (c *Catalog) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { c.followStore(ctx) })
	wg.Go(func() { c.renew(ctx) })
	err := c.watch(ctx)
	cancel()
	wg.Wait()
	return err
}

// Close cancels documents under construction and replays, and releases the store.
func (c *Catalog) Close() error {
	c.stop()
	c.building.Wait()
	c.mu.Lock()
	v := c.now
	c.now, c.closed = nil, true
	c.mu.Unlock()
	if v == nil {
		return nil
	}
	return v.retire()
}

// Applications returns the applications of the store, newest first, and whether their losses are known yet.
func (c *Catalog) Applications() (apps []report.Application, judged bool) {
	v, err := c.version()
	if err != nil {
		return nil, false
	}
	return v.applications()
}

// Fresh reports whether outliers and causes are up to date with the logs shown.
func (c *Catalog) Fresh() bool {
	v, err := c.version()
	return err == nil && v.fresh
}

// Application finds an application by its key.
func (c *Catalog) Application(key schema.Key) (report.Application, bool) {
	apps, _ := c.Applications()
	for i := range apps {
		if apps[i].ApplicationID == key {
			return apps[i], true
		}
	}
	return report.Application{}, false
}

// Where returns the store's directory or URL, without secrets.
func (c *Catalog) Where() string { return c.o.Store.Where() }

// Logs returns the watched logs, as the user named them.
func (c *Catalog) Logs() []string { return c.o.Logs }

// version returns the state of the store that pages show.
func (c *Catalog) version() (*version, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, fmt.Errorf("catalog: %w", context.Canceled)
	case c.now == nil:
		return nil, ErrStarting
	}
	return c.now, nil
}

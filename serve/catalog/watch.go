package catalog

import (
	"context"
	"errors"
	"sync"
	"time"

	"straggler/analysis"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest"
	"straggler/ingest/run"
	"straggler/store"
)

// roundBytes is the amount of logs read before pages show it. With larger rounds new logs appear later; with smaller ones
// directories are walked more often. At 0.5 to 3 GB/s a round takes well under a second.
const roundBytes = 128 << 20

// watch follows the logs, or the results of a store without logs, until the context ends.
func (c *Catalog) watch(ctx context.Context) error {
	if !c.o.Fixed {
		c.analyse(ctx)
	}
	if len(c.o.Logs) == 0 {
		c.keepUp(ctx)
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	var others sync.WaitGroup
	defer others.Wait()
	defer stop()
	others.Go(func() { c.keepUp(ctx) })
	o := run.FollowOptions{Options: c.o.Ingest, Every: c.o.Every}
	o.Tool, o.Progress, o.Planned = c.o.Tool, c.status.progress, c.status.planned
	o.Each = func(s run.Summary, err error) {
		c.status.read(&s, err)
		if s.Commit == nil {
			return
		}
		if c.look(ctx); c.due(s.Count(run.Waiting)) {
			c.analyse(ctx)
		}
	}
	for {
		err := run.Follow(ctx, c.o.Store, c.o.Formats, c.o.Logs, o)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, ingest.ErrUse) {
			return err
		}
		c.status.fail(ingestTask, err)
		select {
		case <-time.After(c.o.Every):
		case <-ctx.Done():
			return nil
		}
	}
}

// keepUp brings the results up to date after other programs have added logs. It waits until the store has not changed for an
// interval, since such a program may add more, or update the results itself. It returns when the context ends.
func (c *Catalog) keepUp(ctx context.Context) {
	if c.o.Fixed {
		<-ctx.Done()
		return
	}
	tick := time.NewTicker(c.o.Every)
	defer tick.Stop()
	for seen, tried := 0, 0; ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		v, err := c.version()
		if err != nil || v.fresh || v.number == tried {
			continue
		}
		if v.number != seen {
			seen = v.number
			continue
		}
		if c.due(1) {
			tried = v.number
			c.analyse(ctx)
		}
	}
}

// due reports whether to bring the results up to date although more logs are waiting. As this takes longer the more has been
// read, it gets at most a quarter of the time.
func (c *Catalog) due(waiting int) bool {
	c.analysing.Lock()
	defer c.analysing.Unlock()
	return waiting == 0 || time.Since(c.analysed) >= 3*c.took
}

// analyse brings the results up to date and shows them.
func (c *Catalog) analyse(ctx context.Context) {
	c.analysing.Lock()
	defer c.analysing.Unlock()
	began := time.Now()
	err := c.update(ctx)
	c.analysed, c.took = time.Now(), time.Since(began)
	if ctx.Err() == nil {
		c.status.done(analysisTask, err)
		c.look(ctx)
	}
}

// Change runs do, which writes to the store, and then brings the results up to date.
func (c *Catalog) Change(ctx context.Context, do func(context.Context, *store.Store) error) error {
	if err := do(ctx, c.o.Store); err != nil {
		return err
	}
	c.analyse(ctx)
	return nil
}

func (c *Catalog) update(ctx context.Context) (err error) {
	defer ingest.Recover(&err)
	if apps, _ := c.Applications(); len(apps) == 0 {
		if inputs, err := c.o.Store.Inputs(ctx); err != nil || len(inputs) == 0 {
			return err
		}
	}
	open := func() (engine.Engine, error) { return engines.Open(ctx, c.o.Store, engine.Options{}) }
	eng, _, err := analysis.Open(ctx, c.o.Store, open, analysis.Options{Tool: c.o.Tool, Step: func(what string) func() {
		c.status.begin(what)
		return func() {
			if ctx.Err() == nil {
				c.look(ctx) // outliers without causes, and causes without savings, are worth showing
			}
		}
	}})
	if err != nil {
		return err
	}
	return eng.Close()
}

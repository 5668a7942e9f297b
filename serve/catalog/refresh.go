package catalog

import (
	"context"
	"fmt"
	"strings"
	"time"

	"straggler/ingest"
	"straggler/store"
)

// followStore watches for commits of other processes.
func (c *Catalog) followStore(ctx context.Context) {
	tick := time.NewTicker(c.o.Every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.look(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// look replaces the version if the store has changed, and sums up what its applications lost. Errors go to the status.
func (c *Catalog) look(ctx context.Context) {
	err := c.refresh(ctx)
	if err == nil {
		err = c.judge(ctx)
	}
	if ctx.Err() == nil {
		c.status.done(storeTask, err)
	}
}

// refresh replaces the version if the store has changed.
func (c *Catalog) refresh(ctx context.Context) (err error) {
	defer ingest.Recover(&err)
	c.refreshing.Lock()
	defer c.refreshing.Unlock()
	id, fresh, err := c.visible(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	old := c.now
	c.mu.Unlock()
	if old != nil && old.id == id {
		return nil
	}
	v, err := newVersion(ctx, id, c.o.Shown, c.o.Memory)
	if err != nil {
		return err
	}
	v.fresh = fresh
	if v.number = 1; old != nil {
		v.keepLosses(old)
		v.number = old.number + 1
	}
	return c.show(v)
}

// judge sums up what the applications of the version lost, once per version.
func (c *Catalog) judge(ctx context.Context) (err error) {
	defer ingest.Recover(&err)
	c.judging.Lock()
	defer c.judging.Unlock()
	v, err := c.version()
	if err != nil {
		return err
	}
	if _, judged := v.applications(); judged || !v.fresh && !c.o.Fixed {
		return nil // results are on their way: those of other logs would say that the new ones lost nothing
	}
	d, current, err := storewide(ctx, c, "overview", storewideTime, overview)
	if err == nil && current {
		v.judge(d)
	}
	return err
}

// visible returns an id of the state of the store, and whether its outliers and causes are up to date with its logs.
func (c *Catalog) visible(ctx context.Context) (id string, fresh bool, err error) {
	entries, err := c.o.Shown.List(ctx)
	if err != nil {
		return "", false, err
	}
	var b strings.Builder
	of := map[store.Kind]bool{}
	for _, e := range entries {
		if e.Visible {
			fmt.Fprintf(&b, "%d:%d ", e.Sequence, e.Hidden)
			of[e.Kind] = !e.Stale
		}
	}
	return b.String(), of[store.Detect] && of[store.Causes], nil
}

// show makes a version current.
func (c *Catalog) show(v *version) error {
	c.mu.Lock()
	old := c.now
	if c.closed {
		c.mu.Unlock()
		return v.retire()
	}
	c.now = v
	c.mu.Unlock()
	if old != nil {
		return old.retire()
	}
	return nil
}

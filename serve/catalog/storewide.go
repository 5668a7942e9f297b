package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"straggler/audit/measure"
	"straggler/engine"
	"straggler/ingest"
	"straggler/report"
)

// Results over a whole large store take long. Each is built once per version, to the end even if its request is cancelled, and
// the result of an earlier version is shown meanwhile.

const (
	storewideTime = time.Hour              // that one may take
	pageWait      = 400 * time.Millisecond // that a page waits before it shows what an earlier version gave
	// that it waits for what it can do without; half of that where there is an earlier version
	soonWait = 200 * time.Millisecond
)

// storewideResults holds the results of a version. The zero value is ready to use.
type storewideResults struct {
	mu sync.Mutex
	by map[string]*storewideResult
}

// storewideResult is a result, built or being built.
type storewideResult struct {
	ready chan struct{}
	value any
	err   error
}

// Overview returns the document of report.Overview, and whether it is up to date. It is shared and must not be modified.
func (c *Catalog) Overview(ctx context.Context) (d *report.Document, current bool, err error) {
	return storewide(ctx, c, "overview", pageWait, overview)
}

// All returns the document on all applications, and whether it is up to date. It is shared and must not be modified.
func (c *Catalog) All(ctx context.Context) (d *report.Document, current bool, err error) {
	return storewide(ctx, c, "all", pageWait, c.all)
}

// Runs returns the applications as measured by an audit, and whether they are up to date. They are shared and must not be
// modified.
func (c *Catalog) Runs(ctx context.Context) (runs []measure.Run, current bool, err error) {
	return storewide(ctx, c, "runs", pageWait, runsOf)
}

// Storewide returns what build computes from the whole store, cached under a name, and whether it is up to date.
func Storewide[T any](ctx context.Context, c *Catalog, name string, build func(context.Context) (T, error)) (value T, current bool, err error) {
	return storewide(ctx, c, name, pageWait, func(ctx context.Context, _ *version) (T, error) { return build(ctx) })
}

// ErrBuilding is returned for a result over the whole store that has not been built yet.
var ErrBuilding = errors.New("it is still being added up over the whole store")

// Prepared is Storewide for a result that is built for every version in the background, before a page needs it.
func Prepared[T any](c *Catalog, name string, build func(context.Context) (T, error)) func(context.Context) (T, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prepared = append(c.prepared, func(ctx context.Context) {
		storewide(ctx, c, name, storewideTime, func(ctx context.Context, _ *version) (T, error) { return build(ctx) })
	})
	return func(ctx context.Context) (T, bool, error) { return Storewide(ctx, c, name, build) }
}

// Soon calls get with a shorter wait, for what a page can do without: it returns the result of an earlier version, or
// ErrBuilding.
func Soon[T any](ctx context.Context, get func(context.Context) (T, bool, error)) (value T, current bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, soonWait, ErrBuilding)
	defer cancel()
	value, current, err = get(ctx)
	if err != nil && context.Cause(ctx) == ErrBuilding {
		err = ErrBuilding
	}
	return value, current, err
}

// Tasks reads the tasks of runs, as measure.Tasks does.
type Tasks func(...*measure.Run) error

// OfRuns is Storewide for a result computed from the applications as measured by an audit. It is always computed from the
// applications of one version. For a version whose causes are not up to date nothing is computed, since applications without
// causes would seem to have lost nothing; the result of an earlier version is returned, or ErrBuilding.
func OfRuns[T any](ctx context.Context, c *Catalog, name string,
	build func(context.Context, []measure.Run, Tasks) (T, error)) (value T, current bool, err error) {
	value, current, err = storewide(ctx, c, name, pageWait, ofRuns(c, build))
	if errors.Is(err, ErrBuilding) {
		if last, found := c.kept(name); found {
			return last.(T), false, nil
		}
	}
	return value, current, err
}

func ofRuns[T any](c *Catalog, build func(context.Context, []measure.Run, Tasks) (T, error)) func(context.Context, *version) (T, error) {
	return func(ctx context.Context, v *version) (value T, err error) {
		if !v.fresh && !c.o.Fixed {
			return value, ErrBuilding
		}
		r := startStorewide(c, v, "runs", runsOf)
		select {
		case <-r.ready:
		case <-ctx.Done():
			return value, ctx.Err()
		}
		if r.err != nil {
			return value, r.err
		}
		return build(ctx, r.value.([]measure.Run), func(runs ...*measure.Run) error {
			return v.pages.with(ctx, func(eng engine.Engine) error { return measure.Tasks(ctx, eng, runs...) })
		})
	}
}

func overview(ctx context.Context, v *version) (d *report.Document, err error) {
	err = v.pages.with(ctx, func(eng engine.Engine) error { d, err = report.Overview(ctx, eng); return err })
	return d, err
}

func (c *Catalog) all(ctx context.Context, v *version) (*report.Document, error) {
	return v.build(ctx, c.Where(), report.Scope{})
}

func runsOf(ctx context.Context, v *version) (runs []measure.Run, err error) {
	err = v.pages.with(ctx, func(eng engine.Engine) error {
		runs, err = measure.Runs(ctx, eng, measure.Grouping{})
		return err
	})
	return runs, err
}

// storewide returns the result of the current version or, after a wait, that of an earlier version if there is one.
func storewide[T any](ctx context.Context, c *Catalog, name string, wait time.Duration,
	build func(context.Context, *version) (T, error)) (value T, current bool, err error) {
	v, err := c.version()
	if err != nil {
		return value, false, err
	}
	r := startStorewide(c, v, name, build)
	var enough <-chan time.Time
	last, found := c.kept(name)
	if found {
		if end, ok := ctx.Deadline(); ok {
			wait = min(wait, time.Until(end)/2)
		}
		timer := time.NewTimer(wait)
		defer timer.Stop()
		enough = timer.C
	}
	select {
	case <-r.ready:
		if r.err != nil {
			return value, false, r.err
		}
		return r.value.(T), true, nil
	case <-enough:
		return last.(T), false, nil
	case <-ctx.Done():
		return value, false, fmt.Errorf("catalog: %w", ctx.Err())
	}
}

// startStorewide returns a result of a version, ready or not.
func startStorewide[T any](c *Catalog, v *version, name string, build func(context.Context, *version) (T, error)) *storewideResult {
	return v.storewide.start(name, func(r *storewideResult) {
		c.building.Go(func() {
			ctx, cancel := context.WithTimeout(c.base, storewideTime)
			defer cancel()
			defer close(r.ready)
			defer func() {
				if r.err != nil {
					v.storewide.forget(name, r) // the next one tries again
					return
				}
				c.keep(name, v, r.value)
			}()
			defer ingest.Recover(&r.err)
			r.value, r.err = build(ctx, v)
		})
	})
}

// start returns a result, and starts building it if nobody has.
func (w *storewideResults) start(name string, build func(*storewideResult)) *storewideResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, ok := w.by[name]; ok {
		return r
	}
	if w.by == nil {
		w.by = make(map[string]*storewideResult)
	}
	r := &storewideResult{ready: make(chan struct{})}
	w.by[name] = r
	build(r)
	return r
}

func (w *storewideResults) forget(name string, r *storewideResult) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by[name] == r {
		delete(w.by, name)
	}
}

// keptResult is the latest result of a name.
type keptResult struct {
	of    int // number of the version
	value any
}

func (c *Catalog) keep(name string, v *version, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		c.last = make(map[string]keptResult)
	}
	if c.last[name].of <= v.number {
		c.last[name] = keptResult{v.number, value}
	}
}

func (c *Catalog) kept(name string) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.last[name]
	return k.value, ok
}

// renew builds the slowest results before a page needs them. It takes at most a quarter of the time, since the store may change
// faster than they can be built. Errors are shown on the pages that need the result.
func (c *Catalog) renew(ctx context.Context) {
	renewed, next := 0, time.Now()
	tick := time.NewTicker(c.o.Every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		v, err := c.version()
		if err != nil || v.number == renewed || time.Now().Before(next) {
			continue
		}
		if _, judged := v.applications(); !judged {
			continue
		}
		began := time.Now()
		for _, build := range c.toPrepare() {
			build(ctx)
		}
		storewide(ctx, c, "night", storewideTime, ofRuns(c, night))
		storewide(ctx, c, "all", storewideTime, c.all)
		renewed, next = v.number, time.Now().Add(3*time.Since(began))
	}
}

func (c *Catalog) toPrepare() []func(context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.prepared)
}

package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest"
	"straggler/report"
	"straggler/schema"
	"straggler/selection"
	"straggler/whatif"
	"straggler/whatif/policy"
)

// Limits on the replays kept, and on a request.
const (
	mostReplays = 8
	mostSeeds   = 50
	replayTime  = time.Hour
)

// Replay is a what-if analysis started by a user: policies on one application, or on the whole store, in the state in which the
// store was then. Nothing is written.
type Replay struct {
	ID        int
	of        int // number of the version
	Options   ReplayOptions
	Began     time.Time
	Share     float64 // of the work that is done
	Ended     time.Time
	Cancelled bool
	Error     error
	Summary   *whatif.Summary // nil until it has ended well; read it only
}

// State returns "running", "done", "cancelled" or "failed".
func (p *Replay) State() string {
	switch {
	case p.Ended.IsZero():
		return "running"
	case p.Cancelled && p.Summary == nil:
		return "cancelled"
	case p.Error != nil:
		return "failed"
	}
	return "done"
}

// ReplayOptions are the options of straggler whatif of the same names.
type ReplayOptions struct {
	Application schema.Key // its jobs alone; 0: those of all
	Policies    []string   // nil: the usual ones
	Settings    []string   // such as late.cap=0.2
	Seeds       int
}

func (o *ReplayOptions) equal(p *ReplayOptions) bool {
	return o.Application == p.Application && slices.Equal(o.Policies, p.Policies) && slices.Equal(o.Settings, p.Settings) && o.Seeds == p.Seeds
}

// Errors of StartReplay.
var (
	ErrReplaying = errors.New("policies are being replayed already; wait for the end, or cancel it")
	ErrReplay    = errors.New("not a valid replay")
	ErrCancelled = errors.New("the replay was cancelled")
)

// replay is a Replay that can be cancelled.
type replay struct {
	Replay
	cancel context.CancelFunc
}

// StartReplay starts a replay; only one runs at a time.
func (c *Catalog) StartReplay(o ReplayOptions) (id int, err error) {
	if o.Seeds < 1 || o.Seeds > mostSeeds {
		return 0, fmt.Errorf("%w: %d seeds; give 1 to %d", ErrReplay, o.Seeds, mostSeeds)
	}
	if _, err := policy.Choose(o.Policies, o.Settings, nil, whatif.Default()); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrReplay, err)
	}
	if o.Application != 0 {
		if _, ok := c.Application(o.Application); !ok {
			return 0, fmt.Errorf("%w: application %d", report.ErrNoRow, o.Application)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.now == nil {
		return 0, fmt.Errorf("catalog: %w", context.Canceled)
	}
	if n := len(c.replays); n > 0 && c.replays[n-1].Ended.IsZero() {
		return 0, ErrReplaying
	}
	ctx, cancel := context.WithTimeout(c.base, replayTime)
	c.lastReplay++
	r := &replay{Replay: Replay{ID: c.lastReplay, of: c.now.number, Options: o, Began: time.Now()}, cancel: cancel}
	c.replays = append(c.replays[max(0, len(c.replays)-mostReplays+1):], r)
	c.building.Go(func() {
		defer cancel()
		s, err := c.replay(ctx, o, func(share float64) { c.mu.Lock(); defer c.mu.Unlock(); r.Share = share })
		c.mu.Lock()
		defer c.mu.Unlock()
		r.Ended = time.Now()
		if r.Error = err; err == nil {
			r.Share, r.Summary = 1, &s
		}
	})
	return r.ID, nil
}

func (c *Catalog) replay(ctx context.Context, o ReplayOptions, progress func(float64)) (s whatif.Summary, err error) {
	defer ingest.Recover(&err)
	eng, err := engines.Open(ctx, c.o.Shown, engine.Options{MemoryBytes: c.o.Memory / 6})
	if err != nil {
		return s, err
	}
	defer eng.Close()
	w := whatif.Options{Seeds: o.Seeds, Tool: c.o.Tool, Progress: progress, Applications: selection.Applications{Key: o.Application}}
	usual, err := whatif.Usual(ctx, c.o.Shown, eng, w)
	if err != nil {
		return s, err
	}
	if w.Policies, err = policy.Choose(o.Policies, o.Settings, nil, usual); err != nil {
		return s, err
	}
	return whatif.Try(ctx, c.o.Shown, eng, w)
}

// CancelReplay cancels a replay, and reports whether it was running.
func (c *Catalog) CancelReplay(id int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.replays {
		if r.ID == id && r.Ended.IsZero() {
			r.Cancelled = true
			r.cancel()
			return true
		}
	}
	return false
}

// Replayed returns a replay that has ended: an earlier one with the same options of the same state of the store, or a new one,
// which is cancelled when the context ends. progress is called with the share of the new one that is done.
func (c *Catalog) Replayed(ctx context.Context, o ReplayOptions, progress func(float64)) (Replay, error) {
	v, err := c.version()
	if err != nil {
		return Replay{}, err
	}
	for _, r := range c.Replays() {
		if r.of == v.number && r.Summary != nil && r.Options.equal(&o) {
			return r, nil
		}
	}
	id, err := c.StartReplay(o)
	if err != nil {
		return Replay{}, err
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			c.CancelReplay(id)
			return Replay{}, fmt.Errorf("catalog: %w", ctx.Err())
		}
		for _, r := range c.Replays() {
			switch {
			case r.ID != id:
			case r.Ended.IsZero():
				progress(r.Share)
			case r.Cancelled && r.Summary == nil:
				return r, ErrCancelled
			default:
				progress(r.Share)
				return r, r.Error
			}
		}
	}
}

// Replays returns the replays started last, newest first.
func (c *Catalog) Replays() []Replay {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Replay
	for _, r := range slices.Backward(c.replays) {
		out = append(out, r.Replay)
	}
	return out
}

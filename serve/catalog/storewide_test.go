package catalog

import (
	"context"
	"errors"
	"testing"
	"time"

	"straggler/audit/measure"
)

// While the applications of a new version are being measured, the previous version's result is returned and marked as such; a
// result marked as current is computed from the new ones.
func TestOfRunsOfTheVersion(t *testing.T) {
	measuring := &storewideResult{ready: make(chan struct{})}
	c := &Catalog{now: &version{number: 2, fresh: true}, base: t.Context(), last: map[string]keptResult{"runs": {1, []measure.Run{}}, "count": {1, 0}}}
	c.now.storewide.by = map[string]*storewideResult{"runs": measuring}
	count := func() (int, bool, error) {
		return OfRuns(t.Context(), c, "count", func(_ context.Context, runs []measure.Run, _ Tasks) (int, error) { return len(runs), nil })
	}
	if n, current, err := count(); n != 0 || current || err != nil {
		t.Errorf("meanwhile: %d, %v, %v", n, current, err)
	}
	measuring.value = []measure.Run{{}}
	close(measuring.ready)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		n, current, err := count()
		if err != nil || current && n != 1 {
			t.Fatalf("of one run: %d, %v", n, err)
		}
		if current {
			return
		}
	}
	t.Error("it never is current")
}

// Pages that can do without a result do not wait while it is built: they get that of an earlier version, or are told that
// there is none. Once it exists it is current, and it was built once.
func TestSoon(t *testing.T) {
	c := &Catalog{now: &version{number: 1}, base: t.Context()}
	ready, built := make(chan struct{}), 0
	get := Prepared(c, "slow", func(context.Context) (int, error) { built++; <-ready; return 7, nil })
	if _, _, err := Soon(t.Context(), get); !errors.Is(err, ErrBuilding) {
		t.Errorf("while it is built for the first time: %v", err)
	}
	close(ready)
	if n, current, err := get(t.Context()); n != 7 || !current || err != nil {
		t.Errorf("then: %d, %v, %v", n, current, err)
	}
	ready = make(chan struct{})
	c.now = &version{number: 2}
	if n, current, err := Soon(t.Context(), get); n != 7 || current || err != nil {
		t.Errorf("while it is built of the next version: %d, %v, %v", n, current, err)
	}
	close(ready)
	for _, build := range c.toPrepare() {
		build(t.Context())
	}
	if n, current, err := Soon(t.Context(), get); n != 7 || !current || err != nil || built != 2 {
		t.Errorf("at the end: %d, %v, %v, built %d times", n, current, err, built)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.now = &version{number: 3}
	ready = make(chan struct{})
	defer close(ready)
	if _, _, err := Soon(ctx, get); !errors.Is(err, context.Canceled) {
		t.Errorf("a reader who leaves: %v", err)
	}
}

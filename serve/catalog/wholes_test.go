package catalog

import (
	"context"
	"testing"
	"time"

	"straggler/audit/measure"
)

// While the applications of a new version are being measured, a result of them is that of the version before and says so; what is
// then called current is made of the new ones.
func TestOfRunsOfTheVersion(t *testing.T) {
	measuring := &wholeResult{ready: make(chan struct{})}
	c := &Catalog{now: &version{number: 2}, base: t.Context(), last: map[string]keptResult{"runs": {1, []measure.Run{}}, "count": {1, 0}}}
	c.now.wholes.by = map[string]*wholeResult{"runs": measuring}
	count := func() (int, bool, error) {
		return OfRuns(t.Context(), c, "count", func(_ context.Context, runs []measure.Run) (int, error) { return len(runs), nil })
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

package whatif

import (
	"context"
	"fmt"

	"straggler/store"
)

const (
	briefFrom = 20_000    // attempts above which a report replays less
	briefWork = 6_000_000 // attempts that it replays then, over all policies and seeds
)

// Brief are the options of a replay that a report can wait for: the usual ones for small stores, fewer policies and seeds
// for large ones. Fewer seeds give wider intervals, which the report shows.
func Brief(ctx context.Context, eng store.Engine) (Options, error) {
	attempts := int64(0)
	for row, err := range store.Read[struct {
		N int64 `col:"n"`
	}](ctx, eng, "SELECT count(*) AS n FROM attempts") {
		if err != nil {
			return Options{}, fmt.Errorf("whatif: %w", err)
		}
		attempts = row.N
	}
	if attempts <= briefFrom {
		return Options{Optimize: true}, nil
	}
	o := Options{Errors: errorLevels[1:]}
	for _, name := range []string{"late", "mantri", "dolly", "spark", "medianrate"} {
		o.Policies = append(o.Policies, known(name))
	}
	o.Seeds = int(min(max(briefWork/(attempts*int64(len(o.Policies))), 2), 20))
	return o, nil
}

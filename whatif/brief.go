package whatif

import (
	"context"
	"fmt"

	"straggler/engine"
	"straggler/schema"
	"straggler/selection"
)

const (
	briefFrom  = 20_000    // work of a replay above which a report replays less
	briefWork  = 6_000_000 // work that it does then, over all policies and seeds
	briefSeeds = 3         // the fewest seeds: from two the interval is sixteen standard deviations either way, from three five
	briefWatch = 20        // s of a running task that cost a policy which watches it what an attempt costs the replay
)

// Brief are the options of a replay that a report can wait for: the usual ones for small stores, fewer policies and seeds for
// large ones, or where few applications of one are meant. Fewer seeds give wider intervals, which the report shows. The work is
// the attempts, and the looks at them while they run: a few thousand slots for hours are many looks.
func Brief(ctx context.Context, eng engine.Engine, apps selection.Applications) (Options, error) {
	work := 0.0
	from, err := tablesOf(ctx, eng, apps)
	if err != nil {
		return Options{}, fmt.Errorf("whatif: %w", err)
	}
	for row, err := range read[struct {
		N       int64                `col:"n"`
		Seconds schema.Null[float64] `col:"seconds"`
	}](ctx, from, "SELECT count(*) AS n, sum(duration_s) AS seconds FROM attempts") {
		if err != nil {
			return Options{}, fmt.Errorf("whatif: %w", err)
		}
		work = float64(row.N) + row.Seconds.V/briefWatch
	}
	if work <= briefFrom {
		return Options{Applications: apps, Optimize: true}, nil
	}
	o := Options{Applications: apps, Errors: errorLevels[1:], brief: true}
	for _, name := range []string{"late", "mantri", "dolly", "spark", "medianrate"} {
		o.Policies = append(o.Policies, known(name))
	}
	o.Seeds = int(min(max(briefWork/(work*float64(len(o.Policies))), briefSeeds), 20))
	return o, nil
}

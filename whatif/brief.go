package whatif

import (
	"context"
	"fmt"

	"straggler/engine"
	"straggler/schema"
	"straggler/selection"
)

const (
	briefFrom  = 20_000    // work above which a report uses fewer policies and seeds
	briefWork  = 6_000_000 // the work that it then does, over all policies and seeds
	briefSeeds = 3         // the fewest seeds: with two the interval is ± 16 standard deviations, with three ± 5
	briefWatch = 20        // seconds of watching a running task that cost as much as replaying an attempt
)

// Brief returns the options of a replay that is fast enough for a report: the defaults for small stores, fewer policies and
// seeds for large ones, or where the report is on few applications of one. Fewer seeds give wider intervals, which the report
// shows. The work is the number of attempts plus that of looks at running attempts, which are many on a few thousand slots for
// hours.
func Brief(ctx context.Context, eng engine.Engine, apps selection.Applications) (Options, error) {
	work := 0.0
	from, err := tablesOf(ctx, eng, apps)
	if err != nil {
		return Options{}, fmt.Errorf("whatif: %w", err)
	}
	for row, err := range read[struct {
		N       int64                `col:"n"`
		Seconds schema.Null[float64] `col:"seconds"`
	}](ctx, from, "SELECT count(*) AS n, CAST(sum(TRY_CAST(round(duration_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS seconds FROM attempts") {
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

package catalog

import (
	"context"
	"fmt"
	"time"

	"straggler/audit"
	"straggler/audit/baseline"
	"straggler/audit/measure"
	"straggler/engine"
	"straggler/report"
	"straggler/schema"
)

// Night returns an audit of the store without a baseline, and whether it is up to date. It is shared and must not be modified.
func (c *Catalog) Night(ctx context.Context) (*audit.Night, bool, error) {
	return OfRuns(ctx, c, "night", night)
}

func night(_ context.Context, runs []measure.Run, tasks Tasks) (*audit.Night, error) {
	return audit.Judge(runs, &baseline.Baseline{}, audit.DefaultConfig(), audit.Options{Now: time.Now(), Tasks: tasks})
}

// Compare compares two applications like straggler compare. It returns report.ErrNoRow for an unknown key.
func (c *Catalog) Compare(ctx context.Context, a, b schema.Key) (*audit.Pair, error) {
	var pair [2]*measure.Run
	for i, application := range [...]schema.Key{a, b} {
		run, err := c.run(ctx, application)
		if err != nil {
			return nil, err
		}
		if run == nil {
			return nil, fmt.Errorf("application %d has no finished job, so there is nothing to compare", application)
		}
		pair[i] = run
	}
	return audit.Compare(pair[0], pair[1], audit.DefaultConfig()), nil
}

// run returns an application as measured by an audit, or nil if it cannot be measured, for instance without a finished job.
func (c *Catalog) run(ctx context.Context, application schema.Key) (run *measure.Run, err error) {
	v, err := c.version()
	if err != nil {
		return nil, err
	}
	if _, ok := c.Application(application); !ok {
		return nil, fmt.Errorf("%w: application %d", report.ErrNoRow, application)
	}
	err = v.pages.with(ctx, func(eng engine.Engine) error {
		runs, err := measure.Runs(ctx, eng, measure.Grouping{}, application)
		if len(runs) > 0 {
			run = &runs[0]
		}
		return err
	})
	return run, err
}

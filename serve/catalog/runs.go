package catalog

import (
	"context"
	"fmt"

	"straggler/audit/measure"
	"straggler/engine"
	"straggler/report"
	"straggler/schema"
)

// RunOf is an application as an audit measures it, nil where nothing of it could be measured, as without a finished job. It
// returns report.ErrNoRow for a key of no application.
func (c *Catalog) RunOf(ctx context.Context, application schema.Key) (run *measure.Run, err error) {
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

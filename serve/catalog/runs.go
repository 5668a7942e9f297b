package catalog

import (
	"context"
	"fmt"

	"straggler/audit/measure"
	"straggler/engine"
	"straggler/report"
	"straggler/schema"
)

// Runs are the applications as an audit measures them. They are measured once a version, and shared: read them only.
func (c *Catalog) Runs(ctx context.Context) ([]measure.Run, error) {
	v, err := c.version()
	if err != nil {
		return nil, err
	}
	v.measuring.Lock()
	defer v.measuring.Unlock()
	if v.measured {
		return v.runs, nil
	}
	err = v.pages.with(ctx, func(eng engine.Engine) (err error) {
		v.runs, err = measure.Runs(ctx, eng, measure.Grouping{})
		return err
	})
	v.measured = err == nil
	return v.runs, err
}

// RunOf is an application as an audit measures it, nil where nothing of it could be measured, as without a finished job. It
// returns report.ErrNoRow for a key of no application.
func (c *Catalog) RunOf(ctx context.Context, application schema.Key) (*measure.Run, error) {
	runs, err := c.Runs(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := c.Application(application); !ok {
		return nil, fmt.Errorf("%w: application %d", report.ErrNoRow, application)
	}
	for i := range runs {
		if runs[i].ApplicationKey == application {
			return &runs[i], nil
		}
	}
	return nil, nil
}

package catalog

import (
	"context"

	"straggler/audit/measure"
	"straggler/engine"
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

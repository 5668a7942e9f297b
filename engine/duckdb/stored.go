package duckdb

import (
	"context"
	"fmt"

	"straggler/schema"
	"straggler/store"
)

// Stored returns the files of a table of the store, or those with rows of some inputs, as Choose selects them; with nil inputs,
// all. They are on this machine, and stay until the engine is closed: callers that need few columns of many rows read them
// faster than they get rows of SQL.
func (d *Engine) Stored(ctx context.Context, table string, inputs []schema.Key) (*store.Snapshot, []store.Slice, error) {
	if err := d.prepare(ctx, ""); err != nil {
		return nil, nil, err
	}
	d.refreshing.Lock()
	defer d.refreshing.Unlock()
	slices, err := d.files.Slices(table), error(nil)
	if inputs != nil {
		slices, err = d.files.SlicesOf(table, inputs)
	}
	for _, s := range slices {
		if err == nil {
			err = d.files.Fetch(ctx, s.Files)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("duckdb: table %s: %w", table, err)
	}
	return d.files, slices, nil
}

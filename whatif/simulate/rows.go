package simulate

import (
	"context"
	"errors"
	"fmt"

	"straggler/schema"
	"straggler/store"
	"straggler/whatif/workload"
)

// Into runs a workload and commits simulate_runs, simulate_jobs and simulate_samples into a store, in place of those of an
// earlier simulation. When the context ends, what was finished is committed, and the error is the context's.
func Into(ctx context.Context, st *store.Store, w *workload.File, o Options, tool string) (*Summary, error) {
	keep := context.WithoutCancel(ctx)
	tx, err := st.Begin(keep, store.Origin{Kind: store.Simulate, Tool: tool})
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	each := o.Each
	o.Each = func(r *Result) error {
		err := store.Append(tx, 0, []schema.SimulateRun{r.Run})
		if err == nil {
			err = store.Append(tx, 0, r.Jobs)
		}
		if err == nil {
			err = store.Append(tx, 0, r.Samples)
		}
		if err == nil && each != nil {
			err = each(r)
		}
		return err
	}
	s, failed := Run(ctx, w, o)
	if s == nil || len(s.Runs) == 0 || failed != nil && ctx.Err() == nil {
		return s, errors.Join(failed, tx.Abort())
	}
	if _, err := tx.Commit(keep); err != nil {
		return s, fmt.Errorf("simulate: %w", errors.Join(err, tx.Abort()))
	}
	return s, failed
}

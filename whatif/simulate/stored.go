package simulate

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"

	"straggler/engine"
	"straggler/schema"
	"straggler/whatif"
	"straggler/whatif/workload"
)

// StoredJobs returns the jobs of a store, from the first submission on.
func StoredJobs(ctx context.Context, eng engine.Engine) ([]workload.PlanJob, error) {
	rows, err := whatif.Load(ctx, eng)
	if err != nil {
		return nil, err
	}
	w := workload.Build(rows)
	first := int64(math.MaxInt64)
	for _, p := range w.Pools {
		first = min(first, p.Origin)
	}
	var jobs []workload.PlanJob
	for _, p := range w.Pools {
		from := len(jobs)
		for _, j := range p.PlanJobs() {
			if j.Behind > 0 {
				j.Behind += from
			} else {
				j.Arrival += float64(p.Origin-first) / 1e6
			}
			jobs = append(jobs, j)
		}
	}
	if len(jobs) == 0 {
		return nil, errors.New("it has no job with tasks")
	}
	return jobs, nil
}

//go:embed swim.sql
var swimSQL string

// SWIMJobs returns the jobs of a SWIM file that was read into a store, in order of submission.
func SWIMJobs(ctx context.Context, eng engine.Engine) ([]workload.Size, error) {
	type line struct {
		Name   schema.Null[string]      `col:"name"`
		Submit schema.Null[schema.Time] `col:"submit_time"`
		Input  schema.Null[int64]       `col:"input"`
		Move   schema.Null[int64]       `col:"shuffle"`
		Output schema.Null[int64]       `col:"output"`
	}
	var out []workload.Size
	first := int64(0)
	for l, err := range engine.Read[line](ctx, eng, swimSQL) {
		if err != nil {
			return nil, fmt.Errorf("reading the jobs: %w", err)
		}
		at := int64(l.Submit.V)
		if len(out) == 0 {
			first = at
		}
		out = append(out, workload.Size{Name: l.Name.V, Submit: float64(at-first) / 1e6, Input: l.Input.V, Shuffle: l.Move.V, Output: l.Output.V})
	}
	if len(out) == 0 {
		return nil, errors.New("it has no job of a SWIM file")
	}
	return out, nil
}

package whatif

import (
	"context"
	"fmt"

	"straggler/schema"
	"straggler/store"
	"straggler/whatif/replay"
)

// Load reads what a replay needs from the tables of a store.
func Load(ctx context.Context, eng store.Engine) (*replay.Rows, error) {
	r := &replay.Rows{}
	err := first(
		func() error {
			return collect(ctx, eng, &r.Applications, `SELECT * FROM applications ORDER BY application_id NULLS LAST`)
		},
		func() error {
			return collect(ctx, eng, &r.Settings, `SELECT * FROM settings
WHERE name LIKE 'spark.speculation%' ORDER BY application_id NULLS LAST, name NULLS LAST`)
		},
		func() error {
			return collect(ctx, eng, &r.Jobs, `SELECT * FROM jobs ORDER BY job_id NULLS LAST`)
		},
		func() error {
			return collect(ctx, eng, &r.Phases, `SELECT * FROM phases ORDER BY phase_id NULLS LAST`)
		},
		func() error {
			return collect(ctx, eng, &r.Edges, `SELECT * FROM edges
ORDER BY from_phase NULLS LAST, to_phase NULLS LAST`)
		},
		func() error {
			return collect(ctx, eng, &r.Machines, `SELECT * FROM machines ORDER BY application_id NULLS LAST, machine NULLS LAST, executor NULLS LAST, added_time NULLS LAST, removed_time NULLS LAST, slots NULLS LAST`)
		},
		func() error {
			return collect(ctx, eng, &r.Health, `SELECT * FROM machine_health
WHERE factor IS NOT NULL ORDER BY machine NULLS LAST, window_start NULLS LAST`)
		},
		func() error {
			return collect(ctx, eng, &r.Losses, `SELECT * FROM losses WHERE attempt_id IS NOT NULL AND recomputed_by IS NOT NULL
ORDER BY time NULLS LAST, recomputed_by`)
		},
		func() error { return loadOutputs(ctx, eng, r) },
		func() error { return loadAttempts(ctx, eng, r) },
		func() error { return loadProgress(ctx, eng, r) },
	)
	if err != nil {
		return nil, fmt.Errorf("whatif: reading the store: %w", err)
	}
	return r, nil
}

// Workload is the workload of a store, with what the analysis of causes says of its machines where that is of the logs
// that the store has now.
func Workload(ctx context.Context, st *store.Store, eng store.Engine) (*replay.Workload, error) {
	rows, err := Load(ctx, eng)
	if err != nil {
		return nil, err
	}
	analysed, err := causesAreFresh(ctx, st)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	if !analysed {
		rows.Health = nil
	}
	return replay.Build(rows), nil
}

func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func collect[R any](ctx context.Context, eng store.Engine, to *[]R, sql string) error {
	for row, err := range store.Read[R](ctx, eng, sql) {
		if err != nil {
			return err
		}
		*to = append(*to, *row)
	}
	return nil
}

// loadOutputs reads how large outputs are, in applications that lost any.
func loadOutputs(ctx context.Context, eng store.Engine, r *replay.Rows) error {
	if len(r.Losses) == 0 {
		return nil
	}
	type output struct {
		AttemptID schema.Key `col:"attempt_id"`
		Bytes     int64      `col:"bytes"`
	}
	r.Outputs = map[schema.Key]int64{}
	for o, err := range store.Read[output](ctx, eng, `SELECT attempt_id, COALESCE(shuffle_write_bytes, output_bytes) AS bytes FROM attempts
WHERE COALESCE(shuffle_write_bytes, output_bytes) IS NOT NULL AND application_id IN (
  SELECT a.application_id FROM losses l JOIN attempts a ON a.attempt_id = l.recomputed_by)`) {
		if err != nil {
			return err
		}
		r.Outputs[o.AttemptID] = o.Bytes
	}
	return nil
}

func loadAttempts(ctx context.Context, eng store.Engine, r *replay.Rows) error {
	type count struct {
		N int64 `col:"n"`
	}
	var counts []count
	if err := collect(ctx, eng, &counts, "SELECT count(*) AS n FROM attempts"); err != nil {
		return err
	}
	for _, c := range counts {
		r.Attempts = make([]replay.Attempt, 0, c.N)
	}
	for row, err := range store.Read[replay.AttemptRow](ctx, eng, `SELECT attempt_id, recompute, phase_id, task, number, machine,
executor, start_time, finish_time, status, speculative, locality, input_bytes, input_records
FROM attempts ORDER BY attempt_id NULLS LAST`) {
		if err != nil {
			return err
		}
		r.Add(row)
	}
	return nil
}

// loadProgress reads what attempts reported; after the attempts, and in their order.
func loadProgress(ctx context.Context, eng store.Engine, r *replay.Rows) error {
	type sample struct {
		AttemptID schema.Key  `col:"attempt_id"`
		Time      schema.Time `col:"time"`
		Progress  float64     `col:"progress"`
	}
	for row, err := range store.Read[sample](ctx, eng, `SELECT attempt_id, time, progress FROM progress
WHERE source <> 'synthetic' ORDER BY attempt_id NULLS LAST, time NULLS LAST, progress NULLS LAST`) {
		if err != nil {
			return err
		}
		r.Report(row.AttemptID, int64(row.Time), row.Progress)
	}
	return nil
}

package detect

import (
	"context"
	"errors"
	"fmt"

	"straggler/engine"
	"straggler/schema"
)

// pin creates a session table with the rows of another by reading and loading them. If Spark keeps session tables in memory,
// for a store in a bucket or with ?results=server, it plans a table's whole lineage again each time the table is named, and one
// that is joined with itself several times over takes minutes to plan; a loaded one needs no planning. In DuckDB, which keeps
// only the rows, pin just gives them another name. R is a struct of keys and doubles, which may be NULL.
func pin[R any](ctx context.Context, eng engine.Engine, name, from string) error {
	in, ok := eng.(engine.Loader)
	if _, many := eng.(engine.RemoteRunner); !many || !ok {
		return eng.Materialize(ctx, name, "SELECT * FROM "+from)
	}
	return engine.Load(ctx, in, name, func(yield func([]R, error) bool) {
		rows := make([]R, 0, chunk)
		for r, err := range engine.Read[R](ctx, eng, "SELECT * FROM "+from+" ORDER BY phase_id NULLS LAST") {
			if err != nil {
				yield(nil, err)
				return
			}
			if rows = append(rows, *r); len(rows) < chunk {
				continue
			}
			if !yield(rows, nil) {
				return
			}
			rows = rows[:0]
		}
		yield(rows, nil)
	})
}

// pinRows is pin for rows in this process.
func pinRows[R any](ctx context.Context, eng engine.Engine, name string, rows []R) error {
	in, ok := eng.(engine.Loader)
	if !ok {
		return fmt.Errorf("%s takes no rows: %w", eng.Name(), errors.ErrUnsupported)
	}
	return engine.Load(ctx, in, name, func(yield func([]R, error) bool) { yield(rows, nil) })
}

// taskMedian is what executions.sql needs of phase_stats.
type taskMedian struct {
	PhaseID   schema.Key           `col:"phase_id"`
	Succeeded int64                `col:"succeeded"`
	MedianS   schema.Null[float64] `col:"median_s"`
	P95S      schema.Null[float64] `col:"p95_s"`
}

// stageExecution is a row of stages.sql.
type stageExecution struct {
	PhaseID      schema.Key           `col:"phase_id"`
	StageID      schema.Key           `col:"stage_id"`
	Place        int64                `col:"place"`
	Known        int64                `col:"known"`
	Todo         int64                `col:"todo"`
	Tasks        int64                `col:"tasks"`
	MedianS      float64              `col:"median_s"`
	Spread       schema.Null[float64] `col:"spread"`
	InputBytes   schema.Null[float64] `col:"input_bytes"`
	InputRecords schema.Null[float64] `col:"input_records"`
	CPUS         schema.Null[float64] `col:"cpu_s"`
	WaitS        schema.Null[float64] `col:"wait_s"`
	TickS        schema.Null[float64] `col:"tick_s"`
	phase        int32                // index of part.scanned; -1: it is not of the part
}

// expectation is a row of usual.sql.
type expectation struct {
	PhaseID      schema.Key           `col:"phase_id"`
	Executions   int64                `col:"executions"`
	MedianS      float64              `col:"median_s"`
	Compared     schema.Null[int64]   `col:"compared"`
	UsualS       schema.Null[float64] `col:"usual_s"`
	WithinRun    schema.Null[float64] `col:"within_run"`
	BetweenRuns  schema.Null[float64] `col:"between_runs"`
	UsualBytes   schema.Null[float64] `col:"usual_bytes"`
	UsualRecords schema.Null[float64] `col:"usual_records"`
	UsualCPUS    schema.Null[float64] `col:"usual_cpu_s"`
	UsualWaitS   schema.Null[float64] `col:"usual_wait_s"`
	UsualTasks   schema.Null[float64] `col:"usual_tasks"`
	TickS        schema.Null[float64] `col:"tick_s"`
	WorkRatio    schema.Null[float64] `col:"work_ratio"`
	LimitS       schema.Null[float64] `col:"limit_s"`
	phase        int32                // as of its execution
}

// comparedExecution is a row of copies_compared.sql.
type comparedExecution struct {
	PhaseID schema.Key `col:"phase_id"`
	StageID schema.Key `col:"stage_id"`
	Place   int64      `col:"place"`
	Tasks   int64      `col:"tasks"`
	Past    int64      `col:"past"`
}

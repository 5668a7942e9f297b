package detect

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"straggler/engine"
	"straggler/schema"
)

// mostPinned is how many rows are written into a statement: some megabytes of text.
const mostPinned = 20_000

// pin makes a session table of the rows of another, as values of its statement. Each time that a session table is named Spark plans anew
// all that it was made from, and one that is joined with itself several times over takes minutes to plan; values need no planning. With
// more than mostPinned rows, and in DuckDB, which keeps the rows alone, it only gives them another name. R is a struct of keys, integers
// and doubles, which may be NULL.
func pin[R any](ctx context.Context, eng engine.Engine, name, from string) error {
	if eng.Name() == "duckdb" {
		return eng.Materialize(ctx, name, "SELECT * FROM "+from)
	}
	columns := schema.Columns(reflect.TypeFor[R]())
	var rows []string
	for r, err := range engine.Read[R](ctx, eng, "SELECT * FROM "+from+" ORDER BY phase_id NULLS LAST") {
		if err != nil {
			return err
		}
		if rows = append(rows, "("+literals(reflect.ValueOf(r).Elem())+")"); len(rows) > mostPinned {
			return eng.Materialize(ctx, name, "SELECT * FROM "+from)
		}
	}
	var names, typed, nulls []string
	for i, c := range columns {
		names = append(names, fmt.Sprintf("c%d", i))
		typed = append(typed, fmt.Sprintf("CAST(c%d AS %s) AS %s", i, c.Type, c.Name))
		nulls = append(nulls, "NULL")
	}
	where := ""
	if len(rows) == 0 {
		rows, where = append(rows, "("+strings.Join(nulls, ", ")+")"), " WHERE FALSE"
	}
	return eng.Materialize(ctx, name, "SELECT "+strings.Join(typed, ", ")+" FROM (VALUES "+strings.Join(rows, ", ")+") AS t("+strings.Join(names, ", ")+")"+where)
}

// literals writes the fields of a row as SQL.
func literals(row reflect.Value) string {
	var b []byte
	for i := range row.NumField() {
		if i > 0 {
			b = append(b, ", "...)
		}
		v := row.Field(i)
		if v.Kind() == reflect.Struct { // schema.Null
			if !v.Field(1).Bool() {
				b = append(b, "NULL"...)
				continue
			}
			v = v.Field(0)
		}
		if v.CanInt() {
			b = strconv.AppendInt(b, v.Int(), 10)
		} else {
			b = strconv.AppendFloat(b, v.Float(), 'e', -1, 64)
		}
	}
	return string(b)
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
	Known        int32                `col:"known"`
	Todo         int32                `col:"todo"`
	Tasks        int64                `col:"tasks"`
	MedianS      float64              `col:"median_s"`
	Spread       schema.Null[float64] `col:"spread"`
	InputBytes   schema.Null[float64] `col:"input_bytes"`
	InputRecords schema.Null[float64] `col:"input_records"`
	CPUS         schema.Null[float64] `col:"cpu_s"`
	WaitS        schema.Null[float64] `col:"wait_s"`
	TickS        schema.Null[float64] `col:"tick_s"`
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
}

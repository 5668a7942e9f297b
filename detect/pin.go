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

// pinnedAtOnce is how many rows are written into a statement, a megabyte or two of text.
const pinnedAtOnce = 10_000

// mostPinned is how many rows are written into all statements of a table; tests lower it.
var mostPinned = 2_000_000

// pin makes a session table of the rows of another, as text in its statement. Each time that a session table is named Spark plans anew
// all that it was made from, and one that is joined with itself several times over takes minutes to plan; text needs no planning, and one
// of many rows is read more quickly than as many VALUES. With more than mostPinned rows, and in DuckDB, which keeps the rows alone, it
// only gives them another name. R is a struct of keys, integers and doubles, which may be NULL.
func pin[R any](ctx context.Context, eng engine.Engine, name, from string) error {
	if eng.Name() == "duckdb" {
		return eng.Materialize(ctx, name, "SELECT * FROM "+from)
	}
	made := newPinned[R](eng, name)
	for r, err := range engine.Read[R](ctx, eng, "SELECT * FROM "+from+" ORDER BY phase_id NULLS LAST") {
		if err != nil {
			return err
		}
		if made.n == mostPinned {
			return eng.Materialize(ctx, name, "SELECT * FROM "+from)
		}
		if err := made.add(ctx, r); err != nil {
			return err
		}
	}
	return made.end(ctx)
}

// pinRows is pin for rows that are here.
func pinRows[R any](ctx context.Context, eng engine.Engine, name string, rows []R) error {
	if in, ok := eng.(engine.Loader); ok {
		return engine.Load(ctx, in, name, func(yield func([]R, error) bool) { yield(rows, nil) })
	}
	made := newPinned[R](eng, name)
	for i := range rows {
		if err := made.add(ctx, &rows[i]); err != nil {
			return err
		}
	}
	return made.end(ctx)
}

// pinned is a table that pin makes.
type pinned[R any] struct {
	pieced
	columns string
	rows    []byte
	n       int
}

func newPinned[R any](eng engine.Engine, name string) *pinned[R] {
	var columns []string
	for i, c := range schema.Columns(reflect.TypeFor[R]()) {
		columns = append(columns, fmt.Sprintf("CAST(nullif(split_part(r, ',', %d), '') AS %s) AS %s", i+1, c.Type, c.Name))
	}
	return &pinned[R]{pieced: pieced{eng: eng, name: name}, columns: strings.Join(columns, ", ")}
}

func (p *pinned[R]) add(ctx context.Context, r *R) error {
	if p.n > 0 && p.n%pinnedAtOnce == 0 {
		if err := p.keep(ctx); err != nil {
			return err
		}
	}
	if len(p.rows) > 0 {
		p.rows = append(p.rows, ';')
	}
	p.rows = appendFields(p.rows, reflect.ValueOf(r).Elem())
	p.n++
	return nil
}

// keep makes a piece of the rows that were added since the last.
func (p *pinned[R]) keep(ctx context.Context) error {
	where := ""
	if p.n == 0 {
		where = " WHERE r <> ''"
	}
	sql := "SELECT " + p.columns + " FROM (SELECT explode(split('" + string(p.rows) + "', ';')) AS r) AS t" + where
	p.rows = p.rows[:0]
	return p.pieced.add(ctx, sql)
}

func (p *pinned[R]) end(ctx context.Context) error {
	if len(p.rows) > 0 || p.n == 0 {
		if err := p.keep(ctx); err != nil {
			return err
		}
	}
	return p.join(ctx)
}

// pieced is a session table that is made by several statements, since one would be too long.
type pieced struct {
	eng    engine.Engine
	name   string
	pieces []string
}

func (p *pieced) add(ctx context.Context, sql string) error {
	piece := fmt.Sprintf("%s_%d", p.name, len(p.pieces))
	p.pieces = append(p.pieces, "SELECT * FROM "+piece)
	return p.eng.Materialize(ctx, piece, sql)
}

// join makes the table, once there is a piece.
func (p *pieced) join(ctx context.Context) error {
	return p.eng.Materialize(ctx, p.name, strings.Join(p.pieces, " UNION ALL "))
}

// appendFields writes the fields of a row, with commas between them; NULL is nothing.
func appendFields(b []byte, row reflect.Value) []byte {
	for i := range row.NumField() {
		if i > 0 {
			b = append(b, ',')
		}
		v := row.Field(i)
		if v.Kind() == reflect.Struct { // schema.Null
			if !v.Field(1).Bool() {
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
	return b
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

// comparedExecution is a row of copies_compared.sql.
type comparedExecution struct {
	PhaseID schema.Key `col:"phase_id"`
	StageID schema.Key `col:"stage_id"`
	Place   int64      `col:"place"`
	Tasks   int64      `col:"tasks"`
	Past    int64      `col:"past"`
}

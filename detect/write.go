package detect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"straggler/engine"
	"straggler/engine/copies"
	"straggler/schema"
	"straggler/store"
)

// fileAttempts is the approximate number of attempts that the rows of a file written by a machine of a cluster are about.
const fileAttempts = 2_000_000

// chunk is the number of rows appended at once.
const chunk = 4096

// resultRows describes how the rows of a result table are written.
type resultRows[R any] struct {
	order   string // columns, of which phase_id is the first
	phaseOf func(*R) schema.Key
}

var (
	statsRows   = resultRows[schema.PhaseStats]{"phase_id", func(s *schema.PhaseStats) schema.Key { return s.PhaseID }}
	outlierRows = resultRows[schema.Outlier]{"phase_id, attempt_id, rule", func(o *schema.Outlier) schema.Key { return o.PhaseID }}
	historyRows = resultRows[schema.StageHistory]{"phase_id", func(h *schema.StageHistory) schema.Key { return h.PhaseID }}
	timeRows    = resultRows[schema.TaskTime]{"phase_id, task, duration_s, input_bytes, input_records",
		func(t *schema.TaskTime) schema.Key { return t.PhaseID }}
)

// output is where results are written.
type output struct {
	tx       *store.Tx
	eng      engine.Engine
	part     *part
	attempts int64 // approximate number of attempts that the rows are about, on an engine of many machines
}

func (p *part) output(tx *store.Tx, eng engine.Engine) output { return output{tx, eng, p, p.attempts} }

// write writes the rows of a query, each under the key of the input that its phase came from. The machines of an engine of many
// machines write them themselves.
func (r resultRows[R]) write(ctx context.Context, to output, sql string) error {
	if many, ok := to.eng.(engine.RemoteRunner); ok {
		rows := copies.Rows{Table: schema.TableOf[R](), SQL: sql, Order: r.order, Partitions: int(to.attempts/fileAttempts) + 1,
			Tool: to.tx.Tool(), Inputs: to.part.inputsByBlock()}
		if err := rows.Write(ctx, to.tx, many); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	rows := inputRows[R]{tx: to.tx, p: to.part}
	for row, err := range engine.Read[R](ctx, to.eng, ordered(sql, r.order)) {
		if err != nil {
			return err
		}
		if err := rows.add(r.phaseOf(row), *row); err != nil {
			return err
		}
	}
	return rows.flush()
}

// inputRows appends rows of one phase after the other, a chunk at a time.
type inputRows[R any] struct {
	tx    *store.Tx
	p     *part
	rows  []R
	phase schema.Key // of the last row
	input schema.Key // of the rows
}

func (a *inputRows[R]) add(phase schema.Key, row R) error {
	if phase != a.phase || len(a.rows) == 0 {
		if input := a.p.inputOf(phase); input != a.input {
			if err := a.flush(); err != nil {
				return err
			}
			a.input = input
		}
		a.phase = phase
	}
	if a.rows = append(a.rows, row); len(a.rows) == chunk {
		return a.flush()
	}
	return nil
}

func (a *inputRows[R]) flush() error {
	err := store.Append(a.tx, a.input, a.rows)
	a.rows = a.rows[:0]
	return err
}

// ordered returns a query for the rows of another query, sorted.
func ordered(sql, order string) string {
	return fmt.Sprintf("%s ORDER BY %s NULLS LAST", sql, strings.ReplaceAll(order, ",", " NULLS LAST,"))
}

// countAttempts returns the number of attempts of some phases, from their statistics; 0 on an engine in this process, which
// does not need it.
func countAttempts(ctx context.Context, eng engine.Engine, phaseStats string) (n int64, err error) {
	if _, many := eng.(engine.RemoteRunner); !many {
		return 0, nil
	}
	return count(ctx, eng, "SELECT CAST(coalesce(sum(attempts), 0) AS BIGINT) AS n FROM ("+phaseStats+") AS s")
}

// count returns the number n that a query returns in one row.
func count(ctx context.Context, eng engine.Engine, sql string) (n int64, err error) {
	for r, err := range engine.Read[struct {
		N int64 `col:"n"`
	}](ctx, eng, sql) {
		if err != nil {
			return 0, err
		}
		n = r.N
	}
	return n, nil
}

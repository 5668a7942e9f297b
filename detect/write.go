package detect

import (
	"context"
	"errors"
	"fmt"
	"iter"
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

// writeRows writes the rows of a query into the transaction in an order that begins with phase_id, each under the key of the
// input that its phase came from. The machines of an engine of many machines write them themselves; attempts is the approximate
// number of attempts that the rows are about.
func writeRows[R any](ctx context.Context, tx *store.Tx, eng engine.Engine, p *part, sql, order string, attempts int64, phaseOf func(*R) schema.Key) error {
	if many, ok := eng.(engine.RemoteRunner); ok {
		r := copies.Rows{Table: schema.TableOf[R](), SQL: sql, Order: order, Partitions: int(attempts/fileAttempts) + 1, Tool: tx.Tool(), Inputs: p.inputsByBlock()}
		if err := r.Write(ctx, tx, many); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return appendRows(tx, p, engine.Read[R](ctx, eng, ordered(sql, order)), phaseOf)
}

// appendRows appends rows, each under the key of the input that its phase came from.
func appendRows[R any](tx *store.Tx, p *part, from iter.Seq2[*R, error], phaseOf func(*R) schema.Key) error {
	rows := inputRows[R]{tx: tx, p: p}
	for r, err := range from {
		if err != nil {
			return err
		}
		if err := rows.add(phaseOf(r), *r); err != nil {
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

// ordered returns the rows of a query in an order.
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

func phaseOfStats(s *schema.PhaseStats) schema.Key     { return s.PhaseID }
func phaseOfOutlier(o *schema.Outlier) schema.Key      { return o.PhaseID }
func phaseOfHistory(h *schema.StageHistory) schema.Key { return h.PhaseID }

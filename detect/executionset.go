package detect

import (
	"cmp"
	"context"
	"iter"
	"sort"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// executionSet holds the executions of the part and those that they are compared with, and then what is usual for them: it is
// phaseRuns or stageTables.
type executionSet interface {
	// byStage returns the executions stage by stage, in the order of places, in reused memory.
	byStage(ctx context.Context) iter.Seq2[[]stageExecution, error]

	// marked reports whether the executions that later ones may be compared with have been marked; else byStage marks them.
	marked() bool

	// expect keeps what is usual.
	expect(ctx context.Context, eng engine.Loader, usual iter.Seq2[[]expectation, error]) error

	// write writes stage_history.
	write(ctx context.Context, tx *store.Tx) error
}

// stageTables are the tables detected_own, detected_stages and detected_usual.
type stageTables struct {
	part  *part
	eng   engine.Engine
	again []schema.Key // phases whose history is rewritten
}

func (t *stageTables) marked() bool { return false }

func (t *stageTables) byStage(ctx context.Context) iter.Seq2[[]stageExecution, error] {
	executions := engine.Read[stageExecution](ctx, t.eng, "SELECT * FROM detected_stages ORDER BY stage_id NULLS LAST, place NULLS LAST")
	return func(yield func([]stageExecution, error) bool) {
		var held []stageExecution
		for e, err := range executions {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(held) > 0 && held[0].StageID != e.StageID {
				t.part.setStrides(held)
				if !yield(held, nil) {
					return
				}
				held = held[:0]
			}
			e.phase = -1
			if i, found := findScanned(t.part.scanned, e.PhaseID); found {
				e.phase = int32(i)
			}
			held = append(held, *e)
		}
		if len(held) > 0 {
			t.part.setStrides(held)
			yield(held, nil)
		}
	}
}

func (t *stageTables) expect(ctx context.Context, eng engine.Loader, usual iter.Seq2[[]expectation, error]) error {
	return engine.Load(ctx, eng, "detected_usual", usual)
}

func (t *stageTables) write(ctx context.Context, tx *store.Tx) error {
	own := "SELECT " + ownColumns + ", note FROM detected_own"
	if len(t.again) > 0 {
		own += " UNION ALL SELECT " + ownColumns + ", NULL AS note FROM stage_history WHERE phase_id IN (" + schema.KeyList(t.again) + ")"
	}
	return engine.UseParts(ctx, t.eng, "detected_history", stageHistorySQL, func(sql string) error {
		return historyRows.write(ctx, t.part.output(tx, t.eng), sql)
	}, engine.Seen{Table: "detected_own", SQL: own})
}

// findPlace finds the execution at a place among the first n of a stage, which are ordered and may have gaps.
func findPlace(n int, place int64, of func(int) int64) (int, bool) {
	if k := place - 1; k < int64(n) && of(int(k)) == place {
		return int(k), true
	}
	return sort.Find(n, func(k int) int { return cmp.Compare(place, of(k)) })
}

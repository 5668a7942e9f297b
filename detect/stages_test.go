package detect

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/duckdb"
	"straggler/engine/enginetest"
	"straggler/schema"
)

// numberedRun is an execution of one of two stages; at is when its application started, or -1.
type numberedRun struct {
	phase            schema.Key
	stage, at        int
	isNew, gone      bool
	executions       int
	wantPlace        int64
	wantTodo, earned bool // earned: others that are to do are compared with it
}

func byStart(a, b *numberedRun) int {
	last := func(k *numberedRun) uint { return uint(k.at) } // -1 becomes the greatest
	return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(last(a), last(b)), cmp.Compare(a.phase, b.phase))
}

// stages.sql agrees with numbering all executions, and lacks none that is to do or that one to do is compared with: after
// nights, late logs and removed logs, with few executions and with more than are compared with.
func TestStagesOfWhatChanged(t *testing.T) {
	eng, err := duckdb.Open(t.Context(), enginetest.Store(t), engine.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	if err := loadStrides(t.Context(), eng); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 77))
	left, compared := 0, 0
	for n := range 25 {
		all := someExecutions(r)
		type row struct {
			PhaseID schema.Key `col:"phase_id"`
			StageID schema.Key `col:"stage_id"`
			Place   int64      `col:"place"`
			Known   int64      `col:"known"`
			Todo    int64      `col:"todo"`
		}
		for name, isNew := range map[string]bool{"detected_own": true, "detected_before": false} {
			if err := eng.Materialize(t.Context(), name, valuesOf(all, isNew)); err != nil {
				t.Fatal(err)
			}
		}
		got := make(map[schema.Key]row)
		stages := make(map[schema.Key]int)
		for _, g := range enginetest.ReadAll[row](t, eng, "SELECT phase_id, stage_id, place, known, todo FROM ("+stagesSQL+") AS s") {
			if _, twice := got[g.PhaseID]; twice {
				t.Fatalf("case %d: phase %d is there twice", n, g.PhaseID)
			}
			got[g.PhaseID] = g
		}
		for _, k := range all {
			g, ok := got[k.phase]
			delete(got, k.phase)
			switch {
			case !ok && !k.gone && (k.wantTodo || k.earned):
				t.Errorf("case %d: no execution at place %d of stage %d, to do %v", n, k.wantPlace, k.stage, k.wantTodo)
			case !ok:
				left++
			case k.gone || g.Place != k.wantPlace || (g.Todo == 1) != k.wantTodo || (g.Known == 0) != k.isNew:
				t.Errorf("case %d: %+v of %+v", n, g, *k)
			default:
				if s, seen := stages[g.StageID]; seen && s != k.stage {
					t.Errorf("case %d: two stages have the id %d", n, g.StageID)
				}
				stages[g.StageID] = k.stage
				if k.earned {
					compared++
				}
			}
		}
		if len(got) > 0 || len(stages) > 2 {
			t.Errorf("case %d: %d executions from nowhere, %d stages", n, len(got), len(stages))
		}
	}
	if left < 500 || compared < 500 {
		t.Errorf("%d executions were left out and %d compared with: the law was hardly tried", left, compared)
	}
}

// someExecutions returns executions of two stages, the expected results, and, for executions known from earlier results, what
// these contain.
func someExecutions(r *rand.Rand) (all []*numberedRun) {
	horizon := 1 + r.IntN(400)
	for stage := range 2 {
		late := r.IntN(3) == 0 // new or removed executions are anywhere
		for range r.IntN(400) {
			k := &numberedRun{stage: stage, at: r.IntN(horizon), gone: late && r.IntN(150) == 0}
			if r.IntN(60) == 0 {
				k.at = -1
			}
			all = append(all, k)
		}
		for range r.IntN([]int{2, 10, 200}[r.IntN(3)]) {
			k := &numberedRun{stage: stage, at: horizon + r.IntN(3) - 1, isNew: true}
			if late {
				k.at = r.IntN(horizon+1) - 1
			}
			all = append(all, k)
		}
	}
	for i, key := range r.Perm(len(all)) {
		all[i].phase = schema.Key(key + 1)
	}
	slices.SortFunc(all, byStart)
	for stage := range 2 {
		before, place, changed := 0, int64(0), false
		var standing []*numberedRun
		for _, k := range all {
			if k.stage != stage {
				continue
			}
			if changed = changed || k.isNew || k.gone; !k.gone {
				place++
				k.wantPlace, k.wantTodo = place, changed
				standing = append(standing, k)
			}
			if !k.isNew {
				k.executions = before
				before++
			}
		}
		for _, k := range standing {
			if k.wantTodo {
				for p := range earlierPlaces(k.wantPlace) {
					standing[p-1].earned = true
				}
			}
		}
	}
	return all
}

// valuesOf formats executions as rows of detected_own, or of detected_before.
func valuesOf(all []*numberedRun, isNew bool) string {
	var rows []string
	for _, k := range all {
		if k.isNew == isNew {
			at := "NULL"
			if k.at >= 0 {
				at = fmt.Sprintf("make_timestamptz(%d)", k.at)
			}
			rows = append(rows, fmt.Sprintf("(%d, 'stage %d', %s, %d, %v)", k.phase, k.stage, at, k.executions, !k.gone))
		}
	}
	where := ""
	if len(rows) == 0 {
		rows, where = []string{"(1, '', NULL, 0, TRUE)"}, " WHERE FALSE"
	}
	return "SELECT phase_id, 'p' AS program, stage AS identity, 'map' AS kind, 1 AS ordinal, CAST(started AS TIMESTAMPTZ) AS run_start_time, 1 AS tasks, 1e0 AS median_s, 0e0 AS spread," +
		" 1e0 AS input_bytes, 1e0 AS input_records, 1e0 AS cpu_s, 1e0 AS wait_s, 0e0 AS tick_s, CAST(executions AS BIGINT) AS executions, stands" +
		" FROM (VALUES " + strings.Join(rows, ", ") + ") AS v(phase_id, stage, started, executions, stands)" + where
}

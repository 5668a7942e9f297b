package causes

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strings"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

//go:embed phases.sql
var phasesSQL string

// phaseRow is a row of phases.sql.
type phaseRow struct {
	ID          schema.Key               `col:"phase_id"`
	Job         schema.Key               `col:"job_id"`
	Application schema.Key               `col:"application_id"`
	Native      string                   `col:"native_id"`
	Program     schema.Null[string]      `col:"program"` // with kind and name what executions of a stage share
	Kind        string                   `col:"kind"`
	Name        schema.Null[string]      `col:"name"`
	Start       schema.Null[schema.Time] `col:"start_time"`
	Finish      schema.Null[schema.Time] `col:"finish_time"`
	Number      int32                    `col:"attempt"`
	Attempts    int64                    `col:"attempts"`
	signature   uint64                   // of program, kind and name; 0 of a program without a name
	work        workOn
	outliers    bool        // it is worked on, and some of its attempts are outliers
	kept        bool        // it is of an input whose results are kept
	usual       *usualStage // what earlier runs of its stage took; nil where it is not compared with any in this process
}

// readPhases reads all phases of the store: of those whose results are kept, too, the executions of each stage are counted.
func (r *run) readPhases(ctx context.Context) error {
	names := map[string]string{} // each once: they repeat, and one keeps what was read with it in memory
	once := func(s string) string {
		kept, ok := names[s]
		if !ok {
			kept = strings.Clone(s)
			names[kept] = kept
		}
		return kept
	}
	for p, err := range engine.Read[phaseRow](ctx, r.eng, phasesSQL) {
		if err != nil {
			return err
		}
		q := *p
		q.Native, q.Program.V, q.Kind, q.Name.V = once(q.Native), once(q.Program.V), once(q.Kind), once(q.Name.V)
		if q.Program.OK {
			q.signature = signature(q.Program.V, q.Kind, q.Name.V)
		}
		r.phases = append(r.phases, q)
	}
	return r.markPhases(ctx)
}

// markPhases says what is to be done with each phase.
func (r *run) markPhases(ctx context.Context) error {
	kept := store.OwnersOf(r.part.kept)
	for i := range r.phases {
		p := &r.phases[i]
		if p.work = learnt; !r.part.whole {
			p.work = r.part.work[r.part.inputOf("phases", p.ID)]
			_, p.kept = kept.Of("phases", p.ID)
		}
	}
	type outlying struct {
		Phase schema.Key `col:"phase_id"`
	}
	for o, err := range engine.Read[outlying](ctx, r.eng, "SELECT DISTINCT phase_id FROM causes_outliers WHERE again IS NOT NULL") {
		if err != nil {
			return err
		}
		if p := r.phase(o.Phase); p != nil {
			p.outliers = p.work != nothing
		}
	}
	return nil
}

// phase is the phase with a key; nil where there is none.
func (r *run) phase(key schema.Key) *phaseRow {
	at, ok := slices.BinarySearchFunc(r.phases, key, func(p phaseRow, key schema.Key) int { return cmp.Compare(p.ID, key) })
	if !ok {
		return nil
	}
	return &r.phases[at]
}

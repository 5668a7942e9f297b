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
	// Names are kept once: they repeat, and one keeps what was read with it in memory.
	natives, stages := map[string]string{}, map[stageNames]*namedStage{}
	for p, err := range engine.Read[phaseRow](ctx, r.eng, phasesSQL) {
		if err != nil {
			return err
		}
		names := stageNames{p.Program, p.Kind, p.Name}
		stage := stages[names]
		if stage == nil {
			stage = names.named()
			stages[stage.stageNames] = stage
		}
		native, ok := natives[p.Native]
		if !ok {
			native = strings.Clone(p.Native)
			natives[native] = native
		}
		r.phases = append(r.phases, *p)
		q := &r.phases[len(r.phases)-1]
		q.Native, q.Program, q.Kind, q.Name, q.signature = native, stage.program, stage.kind, stage.name, stage.signature
	}
	return nil
}

// stageNames are what executions of a stage share.
type stageNames struct {
	program schema.Null[string]
	kind    string
	name    schema.Null[string]
}

// namedStage has the signature of its names.
type namedStage struct {
	stageNames
	signature uint64
}

// named copies the names.
func (n stageNames) named() *namedStage {
	n.program.V, n.kind, n.name.V = strings.Clone(n.program.V), strings.Clone(n.kind), strings.Clone(n.name.V)
	s := &namedStage{stageNames: n}
	if n.program.OK {
		s.signature = signature(n.program.V, n.kind, n.name.V)
	}
	return s
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

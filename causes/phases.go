package causes

import (
	"cmp"
	"context"
	_ "embed"
	"slices"

	"straggler/engine"
	"straggler/schema"
)

//go:embed phases.sql
var phasesSQL string

// phaseRow is a phase to process.
type phaseRow struct {
	ID          schema.Key
	Job         schema.Key
	Application schema.Key
	Start       schema.Null[schema.Time]
	Finish      schema.Null[schema.Time]
	Attempts    int64
	JobS        schema.Null[float64] // how long its job ran
	signature   uint64               // of program, kind and name; 0 of a program without a name
	work        workOn
	outliers    bool        // some of its attempts are outliers
	saved       savedAt     // position of its savings without each cause
	usual       *usualStage // what earlier runs of its stage took; nil where it is not compared with any in this process
}

// readPhases reads the phases to process.
func (r *run) readPhases(ctx context.Context) error {
	type row struct {
		ID          schema.Key               `col:"phase_id"`
		Job         schema.Key               `col:"job_id"`
		Application schema.Key               `col:"application_id"`
		Program     schema.Null[string]      `col:"program"`
		Kind        string                   `col:"kind"`
		Name        schema.Null[string]      `col:"name"`
		Start       schema.Null[schema.Time] `col:"start_time"`
		Finish      schema.Null[schema.Time] `col:"finish_time"`
		Attempts    int64                    `col:"attempts"`
		JobS        schema.Null[float64]     `col:"job_s"`
	}
	r.phases = nil
	stages := namedStages{}
	for p, err := range engine.ReadParts[row](ctx, r.eng, "causes_phases", phasesSQL, r.seenPhases()...) {
		if err != nil {
			return err
		}
		q := phaseRow{ID: p.ID, Job: p.Job, Application: p.Application, Start: p.Start, Finish: p.Finish, Attempts: p.Attempts, JobS: p.JobS,
			signature: stages.of(stageNames{p.Program, p.Kind, p.Name}).signature}
		if q.work = learnt; !r.part.whole {
			q.work = r.part.work[r.part.inputOf("phases", q.ID)]
		}
		r.phases = append(r.phases, q)
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

// phase returns the phase with a key, or nil if there is none.
func (r *run) phase(key schema.Key) *phaseRow {
	at, ok := slices.BinarySearchFunc(r.phases, key, func(p phaseRow, key schema.Key) int { return cmp.Compare(p.ID, key) })
	if !ok {
		return nil
	}
	return &r.phases[at]
}

package report

import (
	"context"
	"errors"
	"fmt"
	"math"

	"straggler/engine"
	"straggler/schema"
)

// Scope narrows a document to one row of a table, given by its key: the narrowest one that is not 0. Its lists of phases,
// outliers and timelines are then those of that row; its totals and causes are those of the job that a phase or an attempt
// belongs to. For a query it has the losses and the plan. A document on less than an application omits what applies to whole
// applications only: what was read, machines, recurring skew, policies, advice, and reliability.
type Scope struct {
	Application, Query, Job, Phase, Attempt schema.Key
}

// ErrNoRow is returned when the store has no row with the key of a Scope.
var ErrNoRow = errors.New("no such row in the store")

// Lists of a document on a job or less are longer than those of a whole store.
const (
	scopedPhases   = 60
	scopedOutliers = 100
)

// narrow reports whether the document is on less than an application.
func (s Scope) narrow() bool { return s.Job != 0 || s.Phase != 0 || s.Attempt != 0 }

// hasJob and hasPhase report whether a job or a phase is part of what the document is about.
func (s Scope) hasJob(job schema.Key) bool { return s.Job == 0 || s.Job == job }

func (s Scope) hasPhase(phase schema.Key) bool { return s.Phase == 0 || s.Phase == phase }

// resolve finds what the row of a scope belongs to: the phase of an attempt, the job of a phase, the application of a job.
func (b *builder) resolve() error {
	s := &b.o.Scope
	for _, step := range []struct {
		table, key string
		of         *schema.Key
		parent     string
		to         *schema.Key
	}{
		{"attempts", "attempt_id", &s.Attempt, "phase_id", &s.Phase},
		{"phases", "phase_id", &s.Phase, "job_id", &s.Job},
		{"jobs", "job_id", &s.Job, "application_id", &s.Application},
		{"queries", "query_id", &s.Query, "application_id", &s.Application},
		{"applications", "application_id", &s.Application, "application_id", &s.Application},
	} {
		if *step.of == 0 {
			continue
		}
		found := false
		sql := fmt.Sprintf("SELECT %s AS parent FROM %s WHERE %s = %d", step.parent, step.table, step.key, *step.of)
		for r, err := range engine.Read[struct {
			Parent schema.Key `col:"parent"`
		}](b.ctx, b.eng, sql) {
			if err != nil {
				return err
			}
			*step.to, found = r.Parent, true
		}
		if !found {
			return fmt.Errorf("%w: %s %d of table %s", ErrNoRow, step.key, *step.of, step.table)
		}
	}
	return nil
}

// scopedCounts counts what a job, a phase or an attempt consists of.
func (b *builder) scopedCounts() error {
	of := fmt.Sprintf("SELECT phase_id FROM phases WHERE job_id = %d", b.o.Scope.Job)
	if b.o.Scope.Phase != 0 {
		of = fmt.Sprintf("SELECT phase_id FROM phases WHERE phase_id = %d", b.o.Scope.Phase)
	}
	if err := b.materialize("report_scope_phases", of); err != nil {
		return err
	}
	return read(b, "scoped_counts", func(c *Counts) error { b.doc.Trust.Counts = *c; return nil })
}

// Overview builds the document on a whole store: every application with its losses, the machines, and what policies would have
// saved. The rest of the document is empty. It creates session tables like Build.
func Overview(ctx context.Context, eng engine.Engine) (*Document, error) {
	b := &builder{ctx: ctx, eng: eng, o: Options{Top: 1}, doc: &Document{}, apps: math.MaxInt}
	for _, step := range []step{{"selecting applications", b.selectRows}, {"adding up losses", b.losses}, {"counts", b.counts},
		{"applications", b.applications}, {"machines", b.machines}, {"replays of policies", b.whatif}} {
		if err := step.do(); err != nil {
			return nil, fmt.Errorf("report: overview: %s: %w", step.what, err)
		}
	}
	return b.doc, nil
}

// ListApplications returns every application of a store without its losses, which take longer to add up.
func ListApplications(ctx context.Context, eng engine.Engine) ([]Application, error) {
	b := &builder{ctx: ctx, eng: eng}
	if err := eng.Materialize(ctx, "report_picked_apps", "SELECT application_id FROM applications"); err != nil {
		return nil, fmt.Errorf("report: applications: %w", err)
	}
	rows, err := collect[ApplicationRow](b, "applications")
	if err != nil {
		return nil, fmt.Errorf("report: applications: %w", err)
	}
	apps := make([]Application, len(rows))
	for i, r := range rows {
		apps[i].ApplicationRow = r
	}
	return apps, nil
}

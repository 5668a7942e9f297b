package report

import (
	"errors"
	"fmt"

	"straggler/engine"
	"straggler/schema"
)

// copiedAttempts is the largest number of attempts for which the rows of a document are copied into session tables: a million
// take about 200 MB. Beyond it, queries read the files and skip the rows of other applications.
const (
	copiedAttempts = 1 << 20
	unrestricted   = -1 // for tests: every query sees the whole store
)

// attemptColumns are the columns that the queries of a document read.
const attemptColumns = "attempt_id, phase_id, job_id, application_id, task, number, native_id, machine, rack, executor, start_time, finish_time, duration_s, " +
	"status, speculative, recompute, input_bytes"

// restrict hides the rows of other applications from the queries of a document on some applications, or on a part of one: a
// document runs some forty queries, each of which would read columns of the whole store. What a document on a job or less needs
// of its application beyond the job is read by readStore.
func (b *builder) restrict() error {
	s := b.o.Scope
	if s.Application == 0 && b.o.Apps.All() || b.copied == unrestricted {
		return nil
	}
	own := fmt.Sprintf("application_id = %d", s.Application)
	if s.Application == 0 {
		keys, err := b.o.Apps.Keys(b.ctx, b.eng)
		if err != nil {
			return err
		}
		own = "application_id IN (" + schema.KeyList(keys) + ")"
	}
	attempts := "FROM attempts WHERE " + own
	phases := fmt.Sprintf("SELECT p.* FROM phases p SEMI JOIN (SELECT job_id FROM jobs WHERE %s) j ON j.job_id = p.job_id", own)
	if s.Job != 0 {
		attempts += fmt.Sprintf(" AND job_id = %d", s.Job)
		phases = fmt.Sprintf("SELECT * FROM phases WHERE job_id = %d", s.Job)
	}
	n := int64(0)
	for r, err := range engine.Read[struct {
		N int64 `col:"n"`
	}](b.ctx, b.eng, "SELECT count(*) AS n "+attempts) {
		if err != nil {
			return err
		}
		n = r.N
	}
	ofPhases := func(table string) string {
		return fmt.Sprintf("SELECT x.* FROM %s x SEMI JOIN report_own_phases p ON p.phase_id = x.phase_id", table)
	}
	for _, t := range []struct {
		table, sql string
		copied     bool
	}{
		{"phases", phases, true},
		{"phase_stats", ofPhases("phase_stats"), true},
		{"attempts", "SELECT " + attemptColumns + " " + attempts, n <= b.copied},
		{"attributions", ofPhases("attributions"), n <= b.copied},
		{"outliers", ofPhases("outliers"), n <= b.copied},
	} {
		if t.copied {
			name := "report_own_" + t.table
			if err := b.eng.Materialize(b.ctx, name, t.sql); err != nil {
				return err
			}
			t.sql = "SELECT * FROM " + name
		}
		b.seen = append(b.seen, engine.Seen{Table: t.table, SQL: t.sql})
	}
	return nil
}

// unrestrict drops the copied rows, even if the document could not be built.
func (b *builder) unrestrict() error {
	ctx, cancel := engine.Closing(b.ctx)
	defer cancel()
	var errs []error
	for _, s := range b.seen {
		errs = append(errs, b.eng.Drop(ctx, "report_own_"+s.Table))
	}
	return errors.Join(errs...)
}

// materialize makes a session table of rows that the document is about.
func (b *builder) materialize(name, sql string) error {
	return engine.MaterializeParts(b.ctx, b.eng, name, sql, b.seen...)
}

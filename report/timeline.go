package report

import (
	"fmt"

	"straggler/engine"
	"straggler/report/prose"
	"straggler/schema"
)

const (
	timelineMachines = 48   // as timeline.sql takes them
	timelineLanes    = 96   // slots drawn in one timeline
	timelineBars     = 6000 // ordinary bars in one timeline; more are merged further
	timelinePixels   = 1500 // bars narrower than this part of the length are merged with a near neighbour
	machineLanes     = 16   // slots of one machine
)

// timelines draws the jobs that lost most and, where there are several jobs, the application that lost most.
func (b *builder) timelines() error {
	jobs := b.doc.Cost.Jobs.Rows
	for i := range jobs {
		if len(b.doc.Timelines) == topTimelines {
			break
		}
		j := &jobs[i]
		title := prose.Upper(JobTitle(j.NativeID))
		if n := prose.MaybeName(j.Name); n != "" {
			title += " · " + n
		}
		if app := AppOf(b.doc, j.Application); app != "" {
			title += " · " + app
		}
		if err := b.pick("report_picked_jobs", "job_id", []schema.Key{j.JobID}); err != nil {
			return err
		}
		t := Timeline{Title: title, ApplicationID: j.ApplicationID, Application: j.Application, JobID: schema.Some(j.JobID),
			SQL: fmt.Sprintf("SELECT * FROM attempts WHERE job_id = %d ORDER BY machine NULLS LAST, start_time NULLS LAST", j.JobID)}
		if err := b.timeline(t); err != nil {
			return err
		}
	}
	apps := b.doc.Trust.Applications.Rows
	if len(apps) == 0 || len(jobs) < 2 || apps[0].Jobs < 2 {
		return nil
	}
	a := &apps[0]
	if err := b.eng.Materialize(b.ctx, "report_picked_jobs", fmt.Sprintf("SELECT job_id FROM jobs WHERE application_id = %d", a.ApplicationID)); err != nil {
		return err
	}
	return b.timeline(Timeline{Title: "All jobs of " + prose.Name(a.NativeID), ApplicationID: a.ApplicationID, Application: a.NativeID,
		SQL: fmt.Sprintf("SELECT * FROM attempts WHERE application_id = %d ORDER BY machine NULLS LAST, start_time NULLS LAST", a.ApplicationID)})
}

// nearPicked lets queries about report_picked_jobs, where they would see the whole store, see the rows of large tables that lie between the first phase
// of these jobs and their last, until it is undone: engines leave out what they need not read of files in the order of phases.
func (b *builder) nearPicked() (undo func(), err error) {
	undo = func() {}
	if len(b.seen) > 0 {
		return undo, nil
	}
	type bounds struct {
		Low  schema.Null[schema.Key] `col:"low"`
		High schema.Null[schema.Key] `col:"high"`
	}
	for r, err := range engine.Read[bounds](b.ctx, b.eng, "SELECT min(p.phase_id) AS low, max(p.phase_id) AS high FROM phases p SEMI JOIN report_picked_jobs r ON r.job_id = p.job_id") {
		if err != nil || !r.Low.OK {
			return undo, err
		}
		for _, table := range []string{"attempts", "attributions", "outliers"} {
			b.seen = append(b.seen, engine.Seen{Table: table, SQL: fmt.Sprintf("SELECT * FROM %s WHERE phase_id BETWEEN %d AND %d", table, r.Low.V, r.High.V)})
		}
	}
	return func() { b.seen = nil }, nil
}

// timeline fills t from the jobs in report_picked_jobs.
func (b *builder) timeline(t Timeline) error {
	undo, err := b.nearPicked()
	if err != nil {
		return err
	}
	defer undo()
	if err := b.keep("report_timeline_machines", "timeline_machines"); err != nil {
		return err
	}
	if err := b.timelineMachines(&t); err != nil || t.LengthS <= 0 {
		return err
	}
	drawn := map[schema.Key]markRow{}
	if err := read(b, "timeline_marks", func(r *markRow) error {
		drawn[r.AttemptID] = *r
		return nil
	}); err != nil {
		return err
	}
	d := drawing{t: &t, pixel: t.LengthS / timelinePixels, drawn: drawn}
	if err := read(b, "timeline", func(r *attemptRow) error {
		d.add(r)
		return nil
	}); err != nil {
		return err
	}
	d.finish()
	if err := read(b, "timeline_phases", func(r *struct {
		NativeID   string      `col:"native_id"`
		Attempt    int32       `col:"attempt"`
		StartTime  schema.Time `col:"start_time"`
		FinishTime schema.Time `col:"finish_time"`
	}) error {
		from, to := r.StartTime.Sub(t.StartTime), r.FinishTime.Sub(t.StartTime)
		if to >= from && from >= 0 && to <= t.LengthS*1.001 {
			t.Phases = append(t.Phases, Span{Phase: PhaseShort(r.NativeID, r.Attempt), FromS: from, ToS: to})
		}
		return nil
	}); err != nil {
		return err
	}
	b.doc.Timelines = append(b.doc.Timelines, t)
	return nil
}

// timelineMachines measures the timeline and counts the machines that it has no room for.
func (b *builder) timelineMachines(t *Timeline) error {
	var end schema.Time
	for r, err := range engine.Read[struct {
		Place      int64       `col:"place"`
		Attempts   int64       `col:"attempts"`
		StartTime  schema.Time `col:"start_time"`
		FinishTime schema.Time `col:"finish_time"`
		Marks      int64       `col:"marks"`
	}](b.ctx, b.eng, "SELECT place, attempts, start_time, finish_time, marks FROM report_timeline_machines ORDER BY place NULLS LAST") {
		if err != nil {
			return err
		}
		if t.Attempts == 0 || r.StartTime < t.StartTime {
			t.StartTime = r.StartTime
		}
		if t.Attempts == 0 || r.FinishTime > end {
			end = r.FinishTime
		}
		t.Attempts += r.Attempts
		t.Marks += r.Marks
		if r.Place > timelineMachines {
			t.MoreMachines++
		}
	}
	t.LengthS = end.Sub(t.StartTime)
	return nil
}

// attemptRow is an attempt of a timeline.
type attemptRow struct {
	AttemptID  schema.Key               `col:"attempt_id"`
	Machine    string                   `col:"machine"`
	StartTime  schema.Time              `col:"start_time"`
	FinishTime schema.Null[schema.Time] `col:"finish_time"`
}

// markRow is what is said of an attempt that is drawn by itself.
type markRow struct {
	AttemptID    schema.Key                `col:"attempt_id"`
	Task         int64                     `col:"task"`
	Number       int32                     `col:"number"`
	Status       schema.AttemptStatus      `col:"status"`
	Speculative  bool                      `col:"speculative"`
	Recompute    bool                      `col:"recompute"`
	Phase        string                    `col:"phase"`
	PhaseAttempt int32                     `col:"phase_attempt"`
	Cause        schema.Null[schema.Cause] `col:"cause"`
	ExcessS      schema.Null[float64]      `col:"excess_s"`
}

package report

import (
	"fmt"

	"straggler/engine"
	"straggler/report/prose"
	"straggler/schema"
)

// Timeline shows which attempts ran when, on the slots of machines. Times are seconds from its start.
type Timeline struct {
	Title         string                  `col:"title"`
	ApplicationID schema.Key              `col:"application_id"`
	Application   string                  `col:"application"`
	JobID         schema.Null[schema.Key] `col:"job_id" doc:"NULL = the whole application"`
	StartTime     schema.Time             `col:"start_time"`
	LengthS       float64                 `col:"length_s" unit:"s"`
	PixelS        float64                 `col:"pixel_s" unit:"s" doc:"bars closer than this are drawn as one"`
	Lanes         []Lane                  `col:"lanes"`
	Marks         int64                   `col:"marks" doc:"outliers, copies, retries, recomputations and failures, drawn or not"`
	Drawn         int64                   `col:"drawn" doc:"marks that are drawn"`
	Replayed      bool                    `col:"replayed" doc:"it is of a replay"`
	Copies        int64                   `col:"copies" doc:"copies in a replay"`
	Killed        int64                   `col:"killed" doc:"attempts killed in a replay"`
	Attempts      int64                   `col:"attempts"`
	MoreMachines  int64                   `col:"more_machines" doc:"machines left out"`
	Phases        []Span                  `col:"phases" doc:"when each phase ran, in order of start"`
	SQL           string                  `col:"sql"`
	Note          string                  `col:"note"`
}

// Lane is one slot of a machine.
type Lane struct {
	Machine string `col:"machine"`
	Slot    int    `col:"slot" doc:"from 1, assigned here: each attempt takes the lowest free slot"`
	Busy    []Bar  `col:"busy" doc:"ordinary attempts, merged where they are too short to see"`
	Marks   []Mark `col:"marks" doc:"attempts drawn individually: outliers, copies, retries, recomputations, failures"`
}

// Bar is a stretch of time in which a slot was busy.
type Bar struct {
	FromS float64 `col:"from_s" unit:"s"`
	ToS   float64 `col:"to_s" unit:"s"`
	N     int64   `col:"n" doc:"attempts in it"`
}

// Span is the time of a phase.
type Span struct {
	Phase string  `col:"phase"`
	FromS float64 `col:"from_s" unit:"s"`
	ToS   float64 `col:"to_s" unit:"s"`
}

// Mark is an attempt that is drawn by itself.
type Mark struct {
	AttemptID schema.Key           `col:"attempt_id" doc:"0 where it was replayed"`
	Phase     string               `col:"phase"`
	Task      int64                `col:"task"`
	Number    int32                `col:"number"`
	FromS     float64              `col:"from_s" unit:"s"`
	ToS       float64              `col:"to_s" unit:"s"`
	Open      bool                 `col:"open" doc:"the log stops before its end"`
	Status    schema.AttemptStatus `col:"status"`
	Copy      bool                 `col:"copy" doc:"a speculative copy"`
	Retry     bool                 `col:"retry" doc:"not the first attempt of its task, and no copy"`
	Recompute bool                 `col:"recompute"`
	Cause     schema.Cause         `col:"cause" doc:"verdict; empty where it is no outlier"`
	ExcessS   schema.Null[float64] `col:"excess_s" unit:"s"`
}

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

// nearPicked restricts queries about report_picked_jobs that would see the whole store to the rows of large tables between the
// first and the last phase of these jobs, until it is undone. Files are in the order of phases, so engines skip most of them.
func (b *builder) nearPicked() (undo func(), err error) {
	undo = func() {}
	if len(b.seen) > 0 {
		return undo, nil
	}
	type bounds struct {
		Low  schema.Null[schema.Key] `col:"low"`
		High schema.Null[schema.Key] `col:"high"`
	}
	for r, err := range engine.Read[bounds](b.ctx, b.eng,
		"SELECT min(p.phase_id) AS low, max(p.phase_id) AS high FROM phases p SEMI JOIN report_picked_jobs r ON r.job_id = p.job_id") {
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

// markRow describes an attempt that is drawn individually.
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

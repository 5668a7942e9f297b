package laws

import "straggler/schema"

// The rows here are those of a table joined with what the laws need of the rows that they refer to; if there are no such rows,
// their columns are NULL, or the row is left out. Package verify reads them by their column names.

// AttemptInPhase is an attempt whose phase exists.
type AttemptInPhase struct {
	AttemptID      schema.Key               `col:"attempt_id"`
	PhaseID        schema.Key               `col:"phase_id"`
	JobID          schema.Key               `col:"job_id"`
	ApplicationID  schema.Key               `col:"application_id"`
	Task           int64                    `col:"task"`
	StartTime      schema.Null[schema.Time] `col:"start_time"`
	FinishTime     schema.Null[schema.Time] `col:"finish_time"`
	Quality        int64                    `col:"quality"`
	PhaseJob       schema.Key               `col:"phase_job"`
	PhaseStatus    schema.RunStatus         `col:"phase_status"`
	PhaseStart     schema.Null[schema.Time] `col:"phase_start"`
	PhaseFinish    schema.Null[schema.Time] `col:"phase_finish"`
	PhaseAttempt   int32                    `col:"phase_attempt"`
	PhaseRecompute bool                     `col:"phase_recompute"`
	TaskCount      schema.Null[int64]       `col:"task_count"`
	JobApplication schema.Null[schema.Key]  `col:"job_application"` // of job_id
}

// Check checks an attempt against its phase and job.
func (a *AttemptInPhase) Check(report Report) {
	if a.JobID != a.PhaseJob {
		report.add("attempts", a.AttemptID, "job_id", Owner, "%d, and its phase's is %d", a.JobID, a.PhaseJob)
	} else if a.JobApplication.OK && a.JobApplication.V != a.ApplicationID {
		report.add("attempts", a.AttemptID, "application_id", Owner, "%d, and its job's is %d", a.ApplicationID, a.JobApplication.V)
	}
	if a.PhaseStatus == schema.RunSkipped {
		report.add("attempts", a.AttemptID, "phase_id", SkippedPhase, "phase %d was skipped", a.PhaseID)
	}
	if a.StartTime.OK && a.PhaseStart.OK && a.StartTime.V < a.PhaseStart.V {
		report.add("attempts", a.AttemptID, "start_time", Window, "%d is before its phase's %d", a.StartTime.V, a.PhaseStart.V)
	}
	if a.FinishTime.OK && a.PhaseFinish.OK && a.FinishTime.V > a.PhaseFinish.V {
		report.add("attempts", a.AttemptID, "finish_time", Window, "%d is after its phase's %d", a.FinishTime.V, a.PhaseFinish.V)
	}
	// A resubmission runs only the missing tasks and keeps their indexes, so its task_count does not bound them.
	whole := a.PhaseAttempt == 0 && !a.PhaseRecompute && schema.Quality(a.Quality)&schema.TaskUnknown == 0
	if whole && a.TaskCount.OK && a.Task >= a.TaskCount.V {
		report.add("attempts", a.AttemptID, "task", TaskIndex, "%d of a phase of %d tasks", a.Task, a.TaskCount.V)
	}
}

// PhaseTasks is a phase and the number of different tasks with attempts in it.
type PhaseTasks struct {
	PhaseID   schema.Key         `col:"phase_id"`
	TaskCount schema.Null[int64] `col:"task_count"`
	Tasks     int64              `col:"tasks"`
}

// Check checks that they are no more than were planned.
func (p *PhaseTasks) Check(report Report) {
	if p.TaskCount.OK && p.Tasks > p.TaskCount.V {
		report.add("phases", p.PhaseID, "task_count", TaskIndex, "%d tasks have attempts and %d were planned", p.Tasks, p.TaskCount.V)
	}
}

// EdgeOfPhases is an edge with the jobs and applications of its phases.
type EdgeOfPhases struct {
	Component       schema.Key              `col:"component"` // edges that share a phase have the same
	JobID           schema.Key              `col:"job_id"`
	FromPhase       schema.Key              `col:"from_phase"`
	ToPhase         schema.Key              `col:"to_phase"`
	FromApplication schema.Null[schema.Key] `col:"from_application"`
	ToJob           schema.Null[schema.Key] `col:"to_job"`
	ToApplication   schema.Null[schema.Key] `col:"to_application"`
}

// Check checks an edge against its phases.
func (e *EdgeOfPhases) Check(report Report) {
	if e.ToJob.OK && e.ToJob.V != e.JobID {
		report.add("edges", e.JobID, "to_phase", Owner, "phase %d belongs to job %d", e.ToPhase, e.ToJob.V)
	}
	if e.FromApplication.OK && e.ToApplication.OK && e.FromApplication.V != e.ToApplication.V {
		report.add("edges", e.JobID, "from_phase", Owner, "phases %d and %d belong to different applications", e.FromPhase, e.ToPhase)
	}
}

// ProgressOfAttempt is a progress sample whose attempt exists.
type ProgressOfAttempt struct {
	AttemptID  schema.Key               `col:"attempt_id"`
	Time       schema.Time              `col:"time"`
	StartTime  schema.Null[schema.Time] `col:"start_time"`
	FinishTime schema.Null[schema.Time] `col:"finish_time"`
}

// Check checks that the sample was taken while the attempt ran.
func (p *ProgressOfAttempt) Check(report Report) {
	if p.StartTime.OK && p.Time < p.StartTime.V || p.FinishTime.OK && p.Time > p.FinishTime.V {
		report.add("progress", p.AttemptID, "time", Window, "%d is outside its attempt's %d to %d", p.Time, p.StartTime.V, p.FinishTime.V)
	}
}

// LossOfAttempt is a lost output with what is known of the attempt that made it and of the one that recomputed it.
type LossOfAttempt struct {
	PhaseID          schema.Key               `col:"phase_id"`
	Task             int64                    `col:"task"`
	AttemptID        schema.Null[schema.Key]  `col:"attempt_id"`
	RecomputedBy     schema.Null[schema.Key]  `col:"recomputed_by"`
	Time             schema.Null[schema.Time] `col:"time"`
	AttemptPhase     schema.Null[schema.Key]  `col:"attempt_phase"`
	AttemptTask      schema.Null[int64]       `col:"attempt_task"`
	RecomputedFinish schema.Null[schema.Time] `col:"recomputed_finish"`
}

// Check checks a loss against its attempts.
func (l *LossOfAttempt) Check(report Report) {
	if l.AttemptPhase.OK && (l.AttemptPhase.V != l.PhaseID || l.AttemptTask.V != l.Task) {
		report.add("losses", l.PhaseID, "attempt_id", LostOutput, "attempt %d is task %d of phase %d, the lost output task %d of phase %d",
			l.AttemptID.V, l.AttemptTask.V, l.AttemptPhase.V, l.Task, l.PhaseID)
	}
	if l.AttemptID.OK && l.RecomputedBy == l.AttemptID {
		report.add("losses", l.PhaseID, "recomputed_by", LostOutput, "attempt %d made the output of task %d, and made it again", l.AttemptID.V, l.Task)
	}
	if l.Time.OK && l.RecomputedFinish.OK && l.RecomputedFinish.V < l.Time.V {
		report.add("losses", l.PhaseID, "recomputed_by", LostOutput, "task %d was made again at %d, before the loss at %d",
			l.Task, l.RecomputedFinish.V, l.Time.V)
	}
}

// NodeOfPlan is a row about an operator with what the law of plans needs of another: an operator and the one that reads it, or
// an operator and a row that places it in a phase.
type NodeOfPlan struct {
	Table     string           `col:"table_name"` // plan_nodes or node_phases
	NodeID    schema.Key       `col:"node_id"`
	QueryID   schema.Key       `col:"query_id"`
	Plan      schema.PlanStage `col:"plan"`
	Position  int32            `col:"position"`
	OtherOf   schema.Key       `col:"other_query"`
	OtherPlan schema.PlanStage `col:"other_plan"`
	OtherAt   int32            `col:"other_position"`
}

// Check checks a row against the operator that it names.
func (n *NodeOfPlan) Check(report Report) {
	column := "parent_id"
	if n.Table != "plan_nodes" {
		column = "node_id"
	}
	if n.OtherOf != n.QueryID || n.OtherPlan != n.Plan {
		report.add(n.Table, n.NodeID, column, PlanOrder,
			"it names an operator of the %s plan of query %d, and is of the %s plan of %d", n.OtherPlan, n.OtherOf, n.Plan, n.QueryID)
	} else if n.Table == "plan_nodes" && n.OtherAt >= n.Position {
		report.add(n.Table, n.NodeID, column, PlanOrder, "at %d, and what reads it is at %d", n.Position, n.OtherAt)
	}
}

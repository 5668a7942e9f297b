package ray

import (
	"cmp"
	"errors"

	"straggler/ingest/read"
	"straggler/schema"
)

// taskState is an attempt in the state API; times are epoch milliseconds, null until they are reached.
type taskState struct {
	TaskID   string   `json:"task_id"`
	Attempt  int64    `json:"attempt_number"`
	Name     string   `json:"name"`
	Function string   `json:"func_or_class_name"`
	State    string   `json:"state"`
	JobID    string   `json:"job_id"`
	NodeID   string   `json:"node_id"`
	WorkerID string   `json:"worker_id"`
	Error    string   `json:"error_type"`
	Created  *float64 `json:"creation_time_ms"`
	Start    *float64 `json:"start_time_ms"`
	End      *float64 `json:"end_time_ms"`
}

// state turns a state into an attempt.
func (r *reader) state(s *taskState) error {
	phase := r.Phase(r.Job(s.JobID), cmp.Or(s.Function, s.Name), "function")
	task, known := r.tasks[s.TaskID]
	if !known {
		if len(r.tasks) >= maxTasks {
			return errTooMany
		}
		task = r.Task(phase)
		r.tasks[s.TaskID] = task
	}
	row := r.Attempt(phase)
	row.Task, row.Number, row.NativeID = task, int32(min(max(s.Attempt, 0), 1<<30)), read.Text(s.TaskID)
	row.Machine, row.Executor, row.Reason = read.NullText(s.NodeID), read.NullText(s.WorkerID), read.NullText(s.Error)
	row.QueuedTime, row.StartTime, row.FinishTime = millis(s.Created), millis(s.Start), millis(s.End)
	row.Speculative = schema.Some(false)
	switch s.State {
	case "FINISHED":
		row.Status = schema.Success
	case "FAILED":
		row.Status = schema.Failed
		if s.Error == "WORKER_DIED" || s.Error == "NODE_DIED" {
			row.Status = schema.Lost
		}
		if s.Error == "TASK_CANCELLED" {
			row.Status = schema.Killed
		}
	default:
		row.Status = schema.Running
		if !row.StartTime.OK { // it waited and never ran
			return nil
		}
	}
	id := attemptID{s.TaskID, int64(row.Number)}
	switch {
	case r.listed[id]:
		return errListed
	case len(r.listed) >= 2*maxTasks: // few tasks are retried
		return errTooMany
	}
	r.listed[id] = true
	return r.add(phase, &row)
}

// errListed is the error for an attempt that is in the file twice, for instance in concatenated lists of several moments.
var errListed = errors.New("the same attempt of the same task stands in the file before, and is taken from there")

// add completes the times of a row, whose attempt has no metrics, and emits it.
func (r *reader) add(phase int, row *schema.Attempt) error {
	row.Quality |= schema.MetricsMissing
	if row.StartTime.OK && row.FinishTime.OK && row.FinishTime.V < row.StartTime.V {
		row.FinishTime = schema.Null[schema.Time]{}
		row.Quality |= schema.TimeRepaired
	}
	if row.StartTime.OK && row.FinishTime.OK {
		row.DurationS = schema.Some(row.FinishTime.V.Sub(row.StartTime.V))
	} else {
		row.Quality |= schema.PartialRow
	}
	row.DropLongParts()
	return r.Add(phase, row)
}

func millis(ms *float64) schema.Null[schema.Time] {
	if ms == nil {
		return schema.Null[schema.Time]{}
	}
	return read.RoundMicros(*ms * 1000)
}

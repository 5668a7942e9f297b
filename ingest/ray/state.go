package ray

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest/read"
	"straggler/schema"
)

// taskState is what the state API says of an attempt; times are epoch milliseconds, null while they have not come.
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

func (r *reader) state(v jsontext.Value) error {
	var s taskState
	if err := json.Unmarshal(v, &s, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		return read.JSONError(err)
	}
	return r.take(&s)
}

// take makes an attempt of a state.
func (r *reader) take(s *taskState) error {
	name := s.Function
	if name == "" {
		name = s.Name
	}
	n := r.phaseOf(s.JobID, name)
	p := &r.trace.Phases[n]
	task, known := r.tasks[s.TaskID]
	if !known {
		if len(r.tasks) >= maxTasks {
			return errTooMany
		}
		task = r.counts[n]
		r.tasks[s.TaskID] = task
		r.counts[n]++
	}
	row := schema.Attempt{
		AttemptID: r.attempts.Next(), PhaseID: p.PhaseID, JobID: p.JobID, ApplicationID: r.app, Task: task, Number: int32(min(max(s.Attempt, 0), 1<<30)),
		NativeID: read.Text(s.TaskID), Machine: read.NullText(s.NodeID), Executor: read.NullText(s.WorkerID), Reason: read.NullText(s.Error),
		QueuedTime: millis(s.Created), StartTime: millis(s.Start), FinishTime: millis(s.End), Speculative: schema.Some(false),
		Quality: schema.RackUnknown | schema.MetricsMissing,
	}
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
		if !row.StartTime.OK { // it waits and never ran
			return nil
		}
	}
	r.add(p, &row)
	return nil
}

// add completes the times of a row and keeps it.
func (r *reader) add(p *schema.Phase, row *schema.Attempt) {
	if row.StartTime.OK && row.FinishTime.OK && row.FinishTime.V < row.StartTime.V {
		row.FinishTime = schema.Null[schema.Time]{}
		row.Quality |= schema.TimeRepaired
	}
	if row.StartTime.OK && row.FinishTime.OK {
		row.DurationS = schema.Some(row.FinishTime.V.Sub(row.StartTime.V))
	} else {
		row.Quality |= schema.PartialRow
	}
	p.Cover(row)
	r.trace.Attempts = append(r.trace.Attempts, *row)
}

func millis(ms *float64) schema.Null[schema.Time] {
	if ms == nil || !(*ms > 0 && *ms < 2.5e14) {
		return schema.Null[schema.Time]{}
	}
	return schema.Some(schema.Time(*ms*1000 + 0.5))
}

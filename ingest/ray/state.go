package ray

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest/read"
	"straggler/schema"
)

// taskState is an attempt in the state API; times are null until they are reached.
type taskState struct {
	TaskID   string  `json:"task_id"`
	Attempt  int64   `json:"attempt_number"`
	Name     string  `json:"name"`
	Function string  `json:"func_or_class_name"`
	State    string  `json:"state"`
	JobID    string  `json:"job_id"`
	NodeID   string  `json:"node_id"`
	WorkerID string  `json:"worker_id"`
	Error    string  `json:"error_type"`
	Created  moment  `json:"creation_time_ms"`
	Start    moment  `json:"start_time_ms"`
	End      moment  `json:"end_time_ms"`
	Profile  profile `json:"profiling_data"` // in milliseconds

	deserialize, store schema.Null[float64] // seconds, from the profile
}

// moment is a time: epoch milliseconds in the answers of the dashboard and of Python's API, and text without a zone in what the
// commands print.
type moment struct {
	schema.Null[schema.Time]
	local bool
}

func (m *moment) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var s scalar
	if err := s.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	if ms, err := strconv.ParseFloat(string(s), 64); err == nil {
		m.Null = read.RoundMicros(ms * 1000)
	} else {
		m.Null = read.ParseTime(string(s), time.DateTime)
		m.local = m.OK
	}
	return nil
}

// profile lists the spans of an attempt, by the process that recorded them.
type profile struct {
	Kind      string `json:"component_type"`
	Component string `json:"component_id"`
	Spans     []struct {
		Name  string `json:"event_name"`
		Start scalar `json:"start_time"`
		End   scalar `json:"end_time"`
	} `json:"events"`
}

// profiled adds what a profile records: the worker, and seconds of parts of the attempt. The spans' times are in a unit.
func (s *taskState) profiled(p *profile, unitS float64) {
	if p.Kind == "worker" { // the states of actors that are created do not name it
		s.WorkerID = cmp.Or(s.WorkerID, plainID(p.Component))
	}
	for _, e := range p.Spans {
		start, err1 := strconv.ParseFloat(string(e.Start), 64)
		end, err2 := strconv.ParseFloat(string(e.End), 64)
		part, ok := partOf("", e.Name)
		if !ok || err1 != nil || err2 != nil || !(end >= start) {
			continue
		}
		switch took := math.Round((end-start)*unitS*1e6) / 1e6; part {
		case "deserialize":
			s.deserialize = schema.Some(s.deserialize.Or(0) + took)
		case "store":
			s.store = schema.Some(s.store.Or(0) + took)
		}
	}
}

// element turns an element of a list of states into an attempt.
func (r *reader) element(s *taskState) error {
	s.profiled(&s.Profile, 1e-3)
	r.elements++
	if s.Created.local || s.Start.local || s.End.local {
		r.local++
	}
	if !s.Created.OK && !s.Start.OK && !s.End.OK {
		r.timeless++
	}
	return r.state(s)
}

// state turns a state into an attempt.
func (r *reader) state(s *taskState) error {
	phase := r.Phase(r.Job(s.JobID), cmp.Or(s.Function, s.Name), "function")
	of := taskID{phase, s.TaskID}
	task, known := r.tasks[of]
	if !known {
		if len(r.tasks) >= maxTasks {
			return errTooMany
		}
		task = r.Task(phase)
		r.tasks[of] = task
	}
	row := r.Attempt(phase)
	row.Task, row.Number, row.NativeID = task, int32(min(max(s.Attempt, 0), 1<<30)), read.Text(s.TaskID)
	row.Machine, row.Executor, row.Reason = read.NullText(s.NodeID), read.NullText(s.WorkerID), read.NullText(s.Error)
	row.QueuedTime, row.StartTime, row.FinishTime = s.Created.Null, s.Start.Null, s.End.Null
	row.DeserializeS, row.ResultS = s.deserialize, s.store
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
	row.DropLateQueue()
	if row.StartTime.OK && row.FinishTime.OK {
		row.DurationS = schema.Some(row.FinishTime.V.Sub(row.StartTime.V))
	} else {
		row.Quality |= schema.PartialRow
	}
	row.DropLongParts()
	return r.Add(phase, row)
}

package ray

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"straggler/ingest/read"
	"straggler/schema"
)

// exported is an event of either export: EXPORT_TASK events of the export API (event_EXPORT_TASK.log, since Ray 2.36), whose
// states are numbers of the enum TaskStatus with times in nanoseconds; or events posted since 2.49, with names and RFC 3339
// times. Both are protobuf as JSON: 64-bit numbers are strings, ids are base64. The history of an attempt is spread over
// several events, and in the export API over files: each process writes its own, so that the file of the process that submitted a
// task has the task's end, and that of the worker the start.
type exported struct {
	SourceType string `json:"source_type"`
	Data       struct {
		TaskID  string `json:"task_id"`
		Attempt int64  `json:"attempt_number"`
		JobID   string `json:"job_id"`
		Info    struct {
			Function string `json:"func_or_class_name"`
		} `json:"task_info"`
		Updates struct {
			NodeID   string            `json:"node_id"`
			WorkerID string            `json:"worker_id"`
			Times    map[string]scalar `json:"state_ts_ns"`
			Error    struct {
				Type scalar `json:"error_type"`
			} `json:"error_info"`
		} `json:"state_updates"`
		Profile profile `json:"profile_events"` // in nanoseconds
	} `json:"event_data"`

	Type            string     `json:"eventType"`
	Definition      definition `json:"taskDefinitionEvent"`
	ActorDefinition definition `json:"actorTaskDefinitionEvent"`
	Lifecycle       struct {
		TaskID   string `json:"taskId"`
		Attempt  int64  `json:"taskAttempt"`
		JobID    string `json:"jobId"`
		NodeID   string `json:"nodeId"`
		WorkerID string `json:"workerId"`
		Error    struct {
			Type scalar `json:"errorType"`
		} `json:"rayErrorInfo"`
		Transitions []struct {
			State string    `json:"state"`
			Time  time.Time `json:"timestamp"`
		} `json:"stateTransitions"`
	} `json:"taskLifecycleEvent"`
}

type definition struct {
	TaskID    string `json:"taskId"`
	Attempt   int64  `json:"taskAttempt"`
	JobID     string `json:"jobId"`
	Name      string `json:"taskName"`
	ActorName string `json:"actorTaskName"`
}

// attemptID identifies the attempt of an event.
type attemptID struct {
	task    string
	attempt int64
}

// taskStatus lists the values of TaskStatus (common.proto) whose times are used.
var taskStatus = map[string]string{"1": "PENDING_ARGS_AVAIL", "2": "PENDING_NODE_ASSIGNMENT", "8": "RUNNING", "11": "FINISHED", "12": "FAILED"}

// exportedEvent adds an event to the state of its attempt.
func (r *reader) exportedEvent(e *exported) error {
	switch d, l := &e.Data, &e.Lifecycle; {
	case e.SourceType == "EXPORT_TASK":
		s, err := r.gathered(d.TaskID, d.Attempt, d.JobID)
		if err != nil {
			return err
		}
		s.Function = cmp.Or(s.Function, d.Info.Function)
		s.ran(d.Updates.NodeID, d.Updates.WorkerID, string(d.Updates.Error.Type))
		s.profiled(&d.Profile, 1e-9)
		for state, at := range d.Updates.Times {
			if ns, err := strconv.ParseInt(string(at), 10, 64); err == nil {
				s.reached(taskStatus[state], read.Micros(ns/1000))
			}
		}
	case e.Type == "TASK_DEFINITION_EVENT", e.Type == "ACTOR_TASK_DEFINITION_EVENT":
		d := e.Definition
		if d.TaskID == "" {
			d = e.ActorDefinition
		}
		s, err := r.gathered(d.TaskID, d.Attempt, d.JobID)
		if err != nil {
			return err
		}
		s.Function = cmp.Or(s.Function, d.Name, d.ActorName)
	case e.Type == "TASK_LIFECYCLE_EVENT":
		s, err := r.gathered(l.TaskID, l.Attempt, l.JobID)
		if err != nil {
			return err
		}
		s.ran(l.NodeID, l.WorkerID, string(l.Error.Type))
		for _, t := range l.Transitions {
			s.reached(t.State, read.Micros(t.Time.UnixMicro()))
		}
	}
	return nil
}

var errNoTask = errors.New("the event names no task")

// gathered returns the state of an attempt as far as it is known from events.
func (r *reader) gathered(task string, attempt int64, job string) (*taskState, error) {
	if task == "" {
		return nil, errNoTask
	}
	id := attemptID{plainID(task), attempt}
	n, ok := r.gathering[id]
	if !ok {
		if len(r.exported) >= maxTasks {
			return nil, errTooMany
		}
		n = len(r.exported)
		r.gathering[id] = n
		r.exported = append(r.exported, taskState{TaskID: id.task, Attempt: attempt})
	}
	s := &r.exported[n]
	s.JobID = cmp.Or(s.JobID, plainID(job))
	return s, nil
}

func (s *taskState) ran(node, worker, problem string) {
	s.NodeID, s.WorkerID, s.Error = cmp.Or(s.NodeID, plainID(node)), cmp.Or(s.WorkerID, plainID(worker)), cmp.Or(s.Error, problem)
}

// reached records the time at which an attempt entered a state.
func (s *taskState) reached(state string, at schema.Null[schema.Time]) {
	switch state {
	case "PENDING_ARGS_AVAIL", "PENDING_NODE_ASSIGNMENT":
		if !s.Created.OK || at.OK && at.V < s.Created.V {
			s.Created.Null = at
		}
	case "RUNNING":
		s.Start.Null = at
	case "FINISHED", "FAILED":
		s.End.Null, s.State = at, state
	}
}

// endExport turns the collected states into attempts.
func (r *reader) endExport() error {
	for i := range r.exported {
		s := &r.exported[i]
		if strings.HasPrefix(s.TaskID, driverTask) {
			continue
		}
		if s.Start.OK != s.End.OK {
			r.halves++
		}
		if err := r.state(s); err != nil && !errors.Is(err, errListed) {
			return err
		}
	}
	return nil
}

// driverTask is how the id of the task begins that stands for a driver as a whole; Ray does not list it among the tasks.
var driverTask = strings.Repeat("f", 40)

// plainID converts an id to the hexadecimal form that Ray prints.
func plainID(id string) string {
	if _, err := hex.DecodeString(id); err == nil {
		return id
	}
	b, err := base64.StdEncoding.DecodeString(id)
	if err != nil {
		return id
	}
	return hex.EncodeToString(b)
}

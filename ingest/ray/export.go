package ray

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"time"
)

// exported is an event of either export: EXPORT_TASK events of the export API (event_EXPORT_TASK.log, since Ray 2.36), whose
// states are numbers of the enum TaskStatus with times in nanoseconds; or events posted since 2.49, with names and RFC 3339
// times. Both are protobuf as JSON: 64-bit numbers are strings, ids are base64. The history of an attempt is spread over
// several events.
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
		for state, at := range d.Updates.Times {
			if ns, err := strconv.ParseInt(string(at), 10, 64); err == nil {
				s.reached(taskStatus[state], float64(ns/1000)/1000)
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
			s.reached(t.State, float64(t.Time.UnixMicro())/1000)
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
func (s *taskState) reached(state string, ms float64) {
	switch state {
	case "PENDING_ARGS_AVAIL", "PENDING_NODE_ASSIGNMENT":
		if s.Created == nil || ms < *s.Created {
			s.Created = &ms
		}
	case "RUNNING":
		s.Start = &ms
	case "FINISHED", "FAILED":
		s.End, s.State = &ms, state
	}
}

// endExport turns the collected states into attempts.
func (r *reader) endExport() error {
	for i := range r.exported {
		if err := r.state(&r.exported[i]); err != nil && !errors.Is(err, errListed) {
			return err
		}
	}
	return nil
}

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

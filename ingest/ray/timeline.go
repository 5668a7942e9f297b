package ray

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest/read"
	"straggler/schema"
)

// traceEvent is an event of a Chrome trace; ts and dur are microseconds. pid is the node and tid the worker: as strings, or in what
// the dashboard serves as numbers, which events of phase M name.
type traceEvent struct {
	Phase    string    `json:"ph"`
	Category string    `json:"cat"`
	Name     string    `json:"name"`
	PID      scalar    `json:"pid"`
	TID      scalar    `json:"tid"`
	TS       float64   `json:"ts"`
	Dur      float64   `json:"dur"`
	Args     eventArgs `json:"args"`
}

type eventArgs struct {
	TaskID   scalar `json:"task_id"`
	Attempt  int64  `json:"attempt_number"`
	Function scalar `json:"func_or_class_name"`
	Name     scalar `json:"name"`
	JobID    scalar `json:"job_id"`
}

// lane is a process, or a thread of one.
type lane struct{ pid, tid scalar }

// scalar is a string, or a number as a string; other values become "".
type scalar string

func (s *scalar) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case '"', '0':
		t, err := dec.ReadToken()
		if err == nil {
			*s = scalar(t.String())
		}
		return err
	}
	return dec.SkipValue()
}

// event is a span of a worker.
type event struct {
	start, end   schema.Time
	worker, node string
	name         string
	id           attemptID // its task is "" if the event does not name it
	job          string
	part         string // deserialize or store: a part of the task around it; "" for a task
}

func (r *reader) event(e *traceEvent) error {
	if e.Phase == "M" && len(r.named) < maxTasks {
		if node, ok := strings.CutPrefix(string(e.Args.Name), "Node "); ok && e.Name == "process_name" {
			r.named[lane{pid: e.PID}] = node
		} else if e.Name == "thread_name" {
			r.named[lane{e.PID, e.TID}] = string(e.Args.Name)
		}
	}
	if e.Phase != "X" || !(e.TS > 0 && e.Dur >= 0 && e.TS+e.Dur < 2.5e17) {
		return nil
	}
	part, ok := partOf(e.Category, e.Name)
	if !ok {
		return nil
	}
	if len(r.events) >= maxTasks {
		return errTooMany
	}
	name := e.Category
	if name = strings.TrimPrefix(name, "task::"); name == e.Category || name == "" {
		name = cmp.Or(string(e.Args.Name), e.Name)
	}
	r.events = append(r.events, event{
		start: schema.Time(e.TS + 0.5), end: schema.Time(e.TS + e.Dur + 0.5), worker: string(e.TID), node: string(e.PID),
		name: cmp.Or(string(e.Args.Function), strings.TrimPrefix(name, "task::")),
		id:   attemptID{string(e.Args.TaskID), e.Args.Attempt}, job: string(e.Args.JobID), part: part,
	})
	return nil
}

// partOf reports whether an event is a task (""), a part of one, or neither.
func partOf(category, name string) (part string, ok bool) {
	for _, word := range []string{category, name} {
		switch {
		case strings.HasPrefix(word, "task:deserialize"):
			return "deserialize", true
		case strings.HasPrefix(word, "task:store"):
			return "store", true
		case strings.HasPrefix(word, "task:execute"):
			return "execute", true
		}
	}
	return "", category == "task" || strings.HasPrefix(category, "task::")
}

// endTimeline turns spans into attempts. A part belongs to the attempt that it names, or else to the one around it on its worker.
func (r *reader) endTimeline() error {
	slices.SortFunc(r.events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.worker, b.worker), cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end),
			cmp.Compare(a.part, b.part), cmp.Compare(a.name, b.name), cmp.Compare(a.id.task, b.id.task), cmp.Compare(a.id.attempt, b.id.attempt))
	})
	r.events = slices.Compact(r.events) // concatenated timelines
	parts := map[attemptID][]*event{}
	for i := range r.events {
		if e := &r.events[i]; e.part != "" && e.id.task != "" {
			parts[e.id] = append(parts[e.id], e)
		}
	}
	for i := 0; i < len(r.events); {
		task := &r.events[i]
		if i++; task.part != "" { // a part without its task
			continue
		}
		phase := r.Phase(r.Job(task.job), task.name, "function")
		row := r.Attempt(phase)
		row.Task, row.Number, row.NativeID, row.Status = r.taskOf(phase, task), int32(min(max(task.id.attempt, 0), 1<<30)), read.Text(task.id.task), schema.Success
		row.Machine = read.NullText(cmp.Or(r.named[lane{pid: scalar(task.node)}], task.node))
		row.Executor = read.NullText(cmp.Or(r.named[lane{scalar(task.node), scalar(task.worker)}], task.worker))
		row.StartTime, row.FinishTime = schema.Some(task.start), schema.Some(task.end)
		for _, e := range parts[task.id] {
			e.addTo(&row)
		}
		for ; i < len(r.events) && r.events[i].part != ""; i++ {
			if e := &r.events[i]; e.id.task == "" && e.worker == task.worker && e.node == task.node && e.end <= task.end {
				e.addTo(&row)
			}
		}
		if err := r.add(phase, &row); err != nil {
			return err
		}
	}
	return nil
}

// taskOf returns the index of the task of an event: that of another attempt of the task, if the event has its number.
func (r *reader) taskOf(phase int, e *event) int64 {
	of := taskID{phase, e.id.task}
	task, known := r.tasks[of]
	if e.id.task == "" || !known || r.listed[e.id] {
		task = r.Task(phase)
		r.tasks[of] = task
	}
	r.listed[e.id] = true
	return task
}

// addTo adds the time of a part to the row of its task.
func (e *event) addTo(row *schema.Attempt) {
	switch s := e.end.Sub(e.start); e.part {
	case "deserialize":
		row.DeserializeS = schema.Some(row.DeserializeS.Or(0) + s)
	case "store":
		row.ResultS = schema.Some(row.ResultS.Or(0) + s)
	}
}

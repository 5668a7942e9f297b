package ray

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest/read"
	"straggler/schema"
)

// traceEvent is an event of a Chrome trace; ts and dur are microseconds. pid is the node and tid the worker, as strings.
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
	TaskID scalar `json:"task_id"`
	Name   scalar `json:"name"`
	JobID  scalar `json:"job_id"`
}

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
	id, job      string
	part         string // deserialize or store: a part of the task around it; "" for a task
}

func (r *reader) event(e *traceEvent) error {
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
		name: strings.TrimPrefix(name, "task::"), id: string(e.Args.TaskID), job: string(e.Args.JobID), part: part,
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

// endTimeline turns spans into attempts. On a worker, a part lies within its task.
func (r *reader) endTimeline() error {
	slices.SortFunc(r.events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.worker, b.worker), cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end),
			cmp.Compare(a.part, b.part), cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
	})
	for i := 0; i < len(r.events); {
		task := &r.events[i]
		if i++; task.part != "" { // a part without its task
			continue
		}
		phase := r.Phase(r.Job(task.job), task.name, "function")
		row := r.Attempt(phase)
		row.Task, row.NativeID, row.Status = r.Task(phase), read.Text(task.id), schema.Success
		row.Machine, row.Executor = read.NullText(task.node), read.NullText(task.worker)
		row.StartTime, row.FinishTime = schema.Some(task.start), schema.Some(task.end)
		for ; i < len(r.events) && r.events[i].part != ""; i++ {
			if e := &r.events[i]; e.worker == task.worker && e.node == task.node && e.end <= task.end {
				e.addTo(&row)
			}
		}
		if err := r.add(phase, &row); err != nil {
			return err
		}
	}
	return nil
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

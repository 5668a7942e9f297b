package ray

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/ingest/read"
)

// Format returns the format of a list of task states, or a timeline.
func Format() ingest.Format {
	return ingest.Format{
		Name: "ray",
		Doc:  "Ray task states (ray list tasks --format json --detail, or from the dashboard), exported task events and timelines (ray timeline)",
		Detail: `A function or method is a phase, an attempt of a task is an attempt, a Ray job is a job. A parent is not a dependency, so there are
no edges. Bytes are in none of the sources. A cluster drops task events under load without recording it.
Task states: queued_time is creation_time_ms, machine is node_id, executor is worker_id, number is attempt_number. Print them with
--limit 10000: without it there are at most 100. Times that the command prints have no zone and are taken as UTC, with a caveat.
Exported events (event_EXPORT_TASK_*.log, one file per process, or those posted since Ray 2.49) contain the same, event by event;
their ids are converted to the hexadecimal form that Ray prints. The files of one directory are one export.
Timelines: events of category task or task::…; machine is pid (the node), executor is tid (the worker). They have no failures, and
attempts only if they come from the dashboard; spans within a task (deserialize arguments, store outputs) fill deserialize_s and
result_s.`,
		Claim:   claim,
		Sniff:   sniff,
		Instead: instead,
		Read:    readLog,
	}
}

// claim groups the files of one export, of which each process of the cluster wrote one. Those of other tables hold no tasks.
func claim(dir ingest.Dir) []ingest.Group {
	var g ingest.Group
	for _, name := range dir.Names {
		switch {
		case strings.HasSuffix(name, "/"):
		case strings.HasPrefix(name, "event_EXPORT_TASK"):
			g.Names = append(g.Names, name)
		case strings.HasPrefix(name, "event_EXPORT_"):
			g.Drop = append(g.Drop, name)
		}
	}
	if len(g.Names) == 0 {
		return nil
	}
	return []ingest.Group{g}
}

func sniff(h ingest.Head) ingest.Match {
	b := bytes.TrimLeft(h.Bytes, " \t\r\n")
	has := func(key string) bool { return bytes.Contains(b, []byte(`"`+key+`"`)) }
	if len(b) == 0 || b[0] != '[' && b[0] != '{' {
		return ingest.Match{}
	}
	switch {
	case has("EXPORT_TASK") && has("event_data"), has("taskLifecycleEvent"), has("taskDefinitionEvent"):
		return ingest.Match{Confidence: ingest.Certain, Why: "exported task events"}
	case has("ph") && has("cat") && has("dur") &&
		(bytes.Contains(b, []byte(`"task::`)) || bytes.Contains(b, []byte(`"task:`)) || bytes.Contains(b, []byte(`"worker:`))):
		return ingest.Match{Confidence: ingest.Certain, Why: "trace events of category task"}
	case has("task_id") && has("attempt_number") && (has("func_or_class_name") || has("creation_time_ms") || has("state")):
		return ingest.Match{Confidence: ingest.Certain, Why: "objects with task_id and attempt_number"}
	}
	return ingest.Match{}
}

// instead names the option of 'ray list tasks' that prints JSON; with --detail alone it prints YAML, and a table without it.
func instead(h ingest.Head) string {
	has := func(word string) bool { return bytes.Contains(h.Bytes, []byte(word)) }
	if has("task_id: ") && has("attempt_number: ") || has("TASK_ID ") && has("ATTEMPT_NUMBER ") {
		return "the YAML or the table that 'ray list tasks' prints; give what it prints with --detail --format json --limit 10000"
	}
	return ""
}

func readLog(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	r := &reader{Application: read.NewApplication(in, out, "ray"), out: out, tasks: map[taskID]int64{},
		gathering: map[attemptID]int{}, listed: map[attemptID]bool{}, named: map[lane]string{}}
	var errs []error
	for _, p := range in.Parts {
		errs = append(errs, r.part(ctx, p))
	}
	errs = append(errs, r.endExport(), r.endTimeline())
	r.Widen()
	if r.elements == 100 || r.elements == 10_000 {
		r.CaveatOf(r.elements, "list_may_end_early", "this is how many tasks 'ray list tasks' prints at most, 100 unless --limit says more and never more than 10000: others may be missing")
	}
	if r.timeless == r.elements {
		r.CaveatOf(r.timeless, "no_times", "the list has no times; 'ray list tasks' prints them with --detail")
	}
	r.CaveatOf(r.local, "time_zone_unknown", "times have no zone and are taken as UTC")
	r.CaveatOf(r.halves, "history_in_parts", "attempts have a start or an end, and not both: they still ran, or another process recorded the rest, in a file that belongs in the same directory, or was killed before it did")
	r.Caveat("events_may_miss", "under load Ray drops task events without a word: tasks may be missing")
	r.Caveat("no_bytes", "Ray's events have no bytes and no records: slowness is judged by duration alone")
	r.Caveat("no_edges", "Ray says which task started another and not which waited for which")
	return errors.Join(append(errs, r.Emit())...)
}

type reader struct {
	*read.Application
	out       *ingest.Sink
	tasks     map[taskID]int64   // index of a task in its phase
	exported  []taskState        // from exported events, in the order of their first ones
	gathering map[attemptID]int  // position in exported
	listed    map[attemptID]bool // attempts that have a row
	events    []event            // of a timeline
	named     map[lane]string    // what the timeline calls its processes and threads
	elements  int64              // of lists of states
	local     int64              // those whose times have no zone
	timeless  int64              // those without times
	halves    int64              // exported attempts with a start or an end, and not both
}

// taskID identifies a task. What attempts of one task say about its function may differ, so the phase is a part of it.
type taskID struct {
	phase int
	id    string
}

// maxTasks bounds the memory for the ids of tasks and the events of a timeline.
const maxTasks = 5_000_000

var errTooMany = errors.New("more than five million tasks in one file; split it")

// part reads a list of objects, an object that contains the list as result (the answer of the state API), or concatenated
// objects. A timeline may lack its closing bracket.
func (r *reader) part(ctx context.Context, p ingest.Part) error {
	f, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	br := bufio.NewReader(read.JSONNumbers(f))
	head, _ := br.Peek(1024)
	dec := read.NewJSON(br)
	if wrapsList(head) {
		if err := intoList(dec); err != nil {
			return read.Broken(p, dec, r.out, err)
		}
	}
	return read.EachObject(ctx, p, dec, r.out, r.object)
}

// object reads a state, an exported event, or an event of a timeline.
func (r *reader) object(v jsontext.Value) (unusable, err error) {
	var take func() error
	switch {
	case bytes.Contains(v, []byte(`"eventType"`)), bytes.Contains(v, []byte(`"event_data"`)):
		var e exported
		unusable, take = read.UnmarshalJSON(v, &e), func() error { return r.exportedEvent(&e) }
	case read.HasKeys(v, "ph"): // its arguments may be those of a state
		var e traceEvent
		unusable, take = read.UnmarshalJSON(v, &e), func() error { return r.event(&e) }
	case read.HasKeys(v, "task_id", "attempt_number"):
		var s taskState
		unusable, take = read.UnmarshalJSON(v, &s), func() error { return r.element(&s) }
	default:
		return errNoEvent, nil
	}
	if unusable != nil {
		return unusable, nil
	}
	if err = take(); errors.Is(err, errNoTask) || errors.Is(err, errListed) {
		return err, nil
	}
	return nil, err
}

var errNoEvent = errors.New("neither a task's state nor an event of a timeline")

// wrappers are the members that may contain the list: {"traceEvents": […]} in Chrome's traces, and {"data": {"result":
// {"result": […]}}} in the dashboard's answers.
var wrappers = []string{"traceEvents", "data", "result", "tasks"}

// intoList moves the decoder to the list inside an object.
func intoList(dec *jsontext.Decoder) error {
	for dec.PeekKind() == '{' {
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		for dec.PeekKind() == '"' {
			t, err := dec.ReadToken()
			if err != nil {
				return err
			}
			name := t.String()
			if k := dec.PeekKind(); slices.Contains(wrappers, name) && (k == '[' || k == '{') {
				break
			}
			if err := dec.SkipValue(); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrapsList reports whether a file starts with one of the wrappers, before any task or event.
func wrapsList(head []byte) bool {
	for _, key := range []string{`"task_id"`, `"ph"`, `"cat"`, `"pid"`} {
		if i := bytes.Index(head, []byte(key)); i >= 0 {
			head = head[:i]
		}
	}
	for _, w := range wrappers {
		if bytes.Contains(head, []byte(`"`+w+`"`)) {
			return len(bytes.TrimLeft(head, " \t\r\n")) > 0 && bytes.TrimLeft(head, " \t\r\n")[0] == '{'
		}
	}
	return false
}

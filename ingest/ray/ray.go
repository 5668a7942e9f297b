// Package ray takes what Ray says of its tasks and gives rows.
//
//  1. ray.go recognises the shapes and has what they share.
//  2. state.go reads task states, as 'ray list tasks --format json --detail' prints them.
//  3. export.go gathers the states that exported events tell one by one.
//  4. timeline.go reads the timeline, as 'ray timeline' writes it.
//
// Start with ray.go. No real file was available to the tests; the layouts are those of Ray's documentation.
package ray

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// Format is a list of task states, or a timeline.
func Format() ingest.Format {
	return ingest.Format{
		Name: "ray",
		Doc:  "Ray task states (ray list tasks --format json --detail, or as the dashboard gives them), exported task events and timelines (ray timeline)",
		Detail: `A function or method is a phase, an attempt of a task an attempt, a Ray job a job. From task states: queued_time is
creation_time_ms, machine is node_id, executor is worker_id, numbers are attempt_number. Exported events
(event_EXPORT_TASK.log, or those posted since Ray 2.49) tell the same one by one; their ids are put as Ray prints them, in
hexadecimal. From a timeline: events of category task or task::…; machine is pid (the node), executor is tid (the
worker); it knows no attempts and no failures, and spans within a task (deserialise arguments, store outputs) set
deserialize_s and result_s. A parent is not a dependency, so there are no edges. Bytes are in none of them. A cluster
drops task events under load, which they do not say. No real file was available; the layouts are those of Ray's documentation.`,
		Sniff: sniff,
		Read:  readLog,
	}
}

func sniff(h ingest.Head) ingest.Match {
	b := bytes.TrimLeft(h.Bytes, " \t\r\n")
	has := func(key string) bool { return bytes.Contains(b, []byte(`"`+key+`"`)) }
	if len(b) == 0 || b[0] != '[' && b[0] != '{' {
		return ingest.Match{}
	}
	switch {
	case has("EXPORT_TASK") && has("event_data"), has("taskLifecycleEvent"), has("taskDefinitionEvent"):
		return ingest.Match{Confidence: 3, Why: "exported task events"}
	case has("task_id") && has("attempt_number") && (has("func_or_class_name") || has("creation_time_ms") || has("state")):
		return ingest.Match{Confidence: 3, Why: "objects with task_id and attempt_number"}
	case has("ph") && has("cat") && has("dur") && (bytes.Contains(b, []byte(`"task::`)) || bytes.Contains(b, []byte(`"task:`)) || bytes.Contains(b, []byte(`"worker:`))):
		return ingest.Match{Confidence: 3, Why: "trace events of category task"}
	}
	return ingest.Match{}
}

func readLog(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	r := newReader(in, out)
	var errs []error
	for _, p := range in.Parts {
		errs = append(errs, r.part(ctx, p))
	}
	errs = append(errs, r.endExport())
	r.endTimeline()
	r.finish()
	return errors.Join(append(errs, ingest.EmitTrace(out, &r.trace))...)
}

type reader struct {
	out      *ingest.Sink
	app      schema.Key
	input    schema.Key
	attempts *schema.Keys
	jobs     map[string]int
	phases   map[phaseName]int
	tasks    map[string]int64 // index of a task by its id
	counts   []int64          // tasks of each phase
	events   []event
	trace    schema.Trace

	gathering map[attemptID]int // position in exported
	exported  []taskState       // as far as the events tell, in the order of their first ones
}

type phaseName struct{ job, name string }

// maxTasks bounds what the ids of tasks and the events of a timeline may cost.
const maxTasks = 5_000_000

var (
	errTooMany = errors.New("more than five million tasks in one file; split it")
	errNoTask  = errors.New("the event names no task")
)

func newReader(in *ingest.Input, out *ingest.Sink) *reader {
	r := &reader{
		out: out, input: in.Key, app: schema.NewKeys(in.Key, "applications").Nth(0), attempts: schema.NewKeys(in.Key, "attempts"),
		jobs: map[string]int{}, phases: map[phaseName]int{}, tasks: map[string]int64{},
		gathering: map[attemptID]int{},
	}
	r.trace.Applications = []schema.Application{{
		ApplicationID: r.app, NativeID: in.Base, Framework: "ray", Status: schema.RunUnknown, SourceFile: in.Name, Complete: true, TimeOrigin: "epoch",
	}}
	return r
}

// part reads a list of objects, or an object that holds the list as result (the state API's own answer), or one
// object after the other. A timeline may lack the bracket at its end.
func (r *reader) part(ctx context.Context, p ingest.Part) error {
	f, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	br := bufio.NewReader(read.JSONNumbers(f))
	head, _ := br.Peek(1024)
	wrapped := wrapsList(head)
	dec := jsontext.NewDecoder(br, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err := intoList(dec, wrapped); err != nil {
		return r.broken(p, dec, err)
	}
	for dec.PeekKind() == '{' {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := dec.InputOffset()
		v, err := dec.ReadValue()
		if err != nil {
			return r.broken(p, dec, err)
		}
		if err := r.object(v); err != nil {
			if errors.Is(err, errTooMany) {
				return err
			}
			r.out.Reject(schema.Reject{SourceFile: p.Name, ByteOffset: at, Reason: err.Error(), Sample: string(v[:min(len(v), 256)])})
			continue
		}
		r.out.Decoded(1)
	}
	if dec.StackDepth() > 0 {
		if _, err := dec.ReadToken(); err != nil {
			return r.broken(p, dec, err)
		}
	}
	return nil
}

// wrappers are the members that lead to a list: {"traceEvents": […]} of Chrome's traces, and the dashboard's
// {"data": {"result": {"result": […]}}}.
var wrappers = []string{"traceEvents", "data", "result", "tasks"}

// intoList moves to the first element of a list, or of what wraps one.
func intoList(dec *jsontext.Decoder, wrapped bool) error {
	for wrapped && dec.PeekKind() == '{' {
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
	if dec.PeekKind() != '[' {
		return nil
	}
	_, err := dec.ReadToken()
	return err
}

// wrapsList says whether a file starts as those do that wrap a list: with one of the wrappers, before any task or event.
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

func (r *reader) broken(p ingest.Part, dec *jsontext.Decoder, err error) error {
	rest := dec.UnreadBuffer()
	r.out.Reject(schema.Reject{SourceFile: p.Name, ByteOffset: dec.InputOffset(), Sample: string(rest[:min(len(rest), 256)]),
		Reason: "the list can not be decoded from here on: " + err.Error()})
	return fmt.Errorf("%s: byte %d: %w", p.Name, dec.InputOffset(), err)
}

func (r *reader) object(v jsontext.Value) error {
	if bytes.Contains(v, []byte(`"eventType"`)) || bytes.Contains(v, []byte(`"event_data"`)) {
		return r.exportedEvent(v)
	}
	if bytes.Contains(v, []byte(`"task_id"`)) && bytes.Contains(v, []byte(`"attempt_number"`)) {
		return r.state(v)
	}
	return r.event(v)
}

func (r *reader) jobOf(native string) int {
	n, ok := r.jobs[native]
	if !ok {
		n = len(r.trace.Jobs)
		r.jobs[native] = n
		r.trace.Jobs = append(r.trace.Jobs, schema.Job{
			JobID: schema.HashKey(r.input, "jobs", []byte(native)), ApplicationID: r.app, NativeID: read.Text(native), Status: schema.RunUnknown,
		})
	}
	return n
}

func (r *reader) phaseOf(job, name string) int {
	k := phaseName{job, name}
	n, ok := r.phases[k]
	if !ok {
		n = len(r.trace.Phases)
		r.phases[k] = n
		r.counts = append(r.counts, 0)
		r.trace.Phases = append(r.trace.Phases, schema.Phase{
			PhaseID: schema.HashKey(r.input, "phases", []byte(job), []byte(name)), JobID: r.trace.Jobs[r.jobOf(job)].JobID,
			NativeID: read.Text(name), Name: read.NullText(name), Kind: "function", Status: schema.RunUnknown,
		})
	}
	return n
}

// finish sets the windows of jobs and what to know.
func (r *reader) finish() {
	app := &r.trace.Applications[0]
	for k, i := range r.phases {
		p := &r.trace.Phases[i]
		p.TaskCount = schema.Some(r.counts[i])
		job := &r.trace.Jobs[r.jobs[k.job]]
		widen(&job.StartTime, &job.FinishTime, p)
		widen(&app.StartTime, &app.FinishTime, p)
	}
	r.trace.Caveats = append(r.trace.Caveats,
		schema.Caveat{ApplicationID: r.app, Code: "events_may_miss", Detail: "under load Ray drops task events without a word: tasks may be missing"},
		schema.Caveat{ApplicationID: r.app, Code: "no_bytes", Detail: "Ray's events have no bytes and no records: slowness is judged by duration alone"},
		schema.Caveat{ApplicationID: r.app, Code: "no_edges", Detail: "Ray says which task started another and not which waited for which"})
}

func widen(start, finish *schema.Null[schema.Time], p *schema.Phase) {
	if p.StartTime.OK && (!start.OK || p.StartTime.V < start.V) {
		*start = p.StartTime
	}
	if p.FinishTime.OK && (!finish.OK || p.FinishTime.V > finish.V) {
		*finish = p.FinishTime
	}
}

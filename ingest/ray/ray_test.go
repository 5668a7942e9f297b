package ray

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// states has a task with two attempts, one that is still running, one that waits, and a value that is not a task.
const states = `[{"task_id":"t1","attempt_number":0,"name":"f","func_or_class_name":"f","state":"FAILED","job_id":"01","node_id":"n1","worker_id":"w1","error_type":"WORKER_DIED","creation_time_ms":1000,"start_time_ms":2000,"end_time_ms":2500},
{"task_id":"t1","attempt_number":1,"name":"f","func_or_class_name":"f","state":"FINISHED","job_id":"01","node_id":"n2","worker_id":"w2","error_type":null,"creation_time_ms":1000,"start_time_ms":3000,"end_time_ms":7000},
{"task_id":"t2","attempt_number":0,"name":"g","func_or_class_name":"g","state":"RUNNING","job_id":"01","node_id":"n2","worker_id":"w2","creation_time_ms":1000,"start_time_ms":3000,"end_time_ms":null},
{"task_id":"t3","attempt_number":0,"name":"g","func_or_class_name":"g","state":"PENDING_NODE_ASSIGNMENT","job_id":"01","creation_time_ms":1000,"start_time_ms":null},
{"task_id":"t4","attempt_number":"many"}]`

func rows(r *ingesttest.Result) []string {
	var got []string
	for _, a := range r.Attempts {
		got = append(got, fmt.Sprint(a.NativeID, " ", a.Task, ".", a.Number, " ", a.Machine.V, " ", a.Status, " ", a.DurationS,
			" ", a.DeserializeS, " ", a.ResultS))
	}
	return got
}

func TestStates(t *testing.T) {
	r := ingesttest.Bytes(t, Format(), "tasks.json", []byte(states))
	if r.Err != nil || r.Decoded != 4 || r.Counts.Rejects != 1 {
		t.Fatalf("error %v, %d decoded, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	want := []string{
		"t1 0.0 n1 lost {0.5 true} {0 false} {0 false}", "t1 0.1 n2 success {4 true} {0 false} {0 false}", "t2 0.0 n2 running {0 false} {0 false} {0 false}",
	}
	if d := cmp.Diff(want, rows(&r)); d != "" {
		t.Error(d)
	}
	if j := r.Jobs; len(j) != 1 || j[0].NativeID != "01" || j[0].StartTime != schema.Some(schema.Time(2e6)) || len(r.Phases) != 2 {
		t.Errorf("jobs %+v, %d phases", j, len(r.Phases))
	}
}

// A timeline without its closing bracket, as is common.
const timeline = `[{"cat":"task::f","name":"task::f","ph":"X","pid":"10.0.0.1","tid":"worker:a1","ts":5000000.5,"dur":3000000,"cname":"x","args":{"task_id":"t1","job_id":"01"}},
{"cat":"task:deserialize_arguments","name":"task:deserialize_arguments","ph":"X","pid":"10.0.0.1","tid":"worker:a1","ts":5000000.5,"dur":500000,"args":{}},
{"cat":"task:store_outputs","name":"task:store_outputs","ph":"X","pid":"10.0.0.1","tid":"worker:a1","ts":7500000,"dur":250000,"args":{}},
{"cat":"task:store_outputs","name":"task:store_outputs","ph":"X","pid":"10.0.0.1","tid":"worker:b2","ts":7500000,"dur":250000,"args":{}},
{"name":"process_name","ph":"M","pid":"10.0.0.1","args":{"name":"Node"}},
{"cat":"worker_idle","name":"idle","ph":"X","pid":"10.0.0.1","tid":"worker:a1","ts":9000000,"dur":1,"args":{}}`

// An attempt that is listed twice, for instance in concatenated lists of two moments, is one attempt.
func TestListedTwice(t *testing.T) {
	once := ingesttest.Bytes(t, Format(), "tasks.json", []byte(states))
	r := ingesttest.Bytes(t, Format(), "tasks.json", []byte(states+"\n"+states))
	if d := cmp.Diff(rows(&once), rows(&r)); r.Err != nil || d != "" || r.Counts.Rejects != 2*once.Counts.Rejects+3 {
		t.Errorf("error %v, rejects %+v, %s", r.Err, r.Trace.Rejects, d)
	}
}

func TestTimeline(t *testing.T) {
	r := ingesttest.Bytes(t, Format(), "timeline.json", []byte(timeline))
	if r.Err == nil || r.Decoded != 6 || len(r.Trace.Rejects) != 1 {
		t.Fatalf("error %v, %d decoded, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	if d := cmp.Diff([]string{"t1 0.0 10.0.0.1 success {3 true} {0.5 true} {0.25 true}"}, rows(&r)); d != "" {
		t.Error(d)
	}
	if whole := ingesttest.Bytes(t, Format(), "timeline.json", []byte(timeline+"]")); whole.Err != nil || len(whole.Trace.Rejects) != 0 {
		t.Errorf("error %v, rejects %+v", whole.Err, whole.Trace.Rejects)
	}
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte(states))
	f.Add([]byte(timeline))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, a := range ingesttest.Bytes(t, Format(), "x.json", b).Attempts {
			if a.DurationS.OK && !(a.DurationS.V >= 0) {
				t.Errorf("%+v", a)
			}
		}
	})
}

// The list may be wrapped, as in the dashboard's answers or in Chrome's traces.
func TestWrappedLists(t *testing.T) {
	plain := ingesttest.Bytes(t, Format(), "tasks.json", []byte(states))
	in := []byte(`{"result":true,"msg":"","data":{"result":{"total":5,"num_after_truncation":5,"result":` + states + `,"partial_failure_warning":""}}}`)
	r := ingesttest.Bytes(t, Format(), "tasks.json", in)
	if r.Err != nil || len(r.Trace.Rejects) != 1 {
		t.Fatalf("error %v, rejects %+v", r.Err, r.Trace.Rejects)
	}
	if d := cmp.Diff(rows(&plain), rows(&r)); d != "" {
		t.Error(d)
	}
	lines := ingesttest.Bytes(t, Format(), "tasks.jsonl", []byte(strings.Trim(strings.ReplaceAll(states, "},\n", "}\n"), "[]")))
	if d := cmp.Diff(rows(&plain), rows(&lines)); d != "" || lines.Err != nil {
		t.Error(d, lines.Err)
	}
	chrome := ingesttest.Bytes(t, Format(), "timeline.json", []byte(`{"displayTimeUnit":"ms","traceEvents":`+timeline+`]}`))
	if chrome.Err != nil || len(chrome.Attempts) != 1 {
		t.Errorf("error %v, attempts %+v", chrome.Err, chrome.Attempts)
	}
	if m := sniff(ingest.Head{Bytes: in}); m.Confidence != 3 {
		t.Errorf("recognised as %+v", m)
	}
}

// exportLog has the layout that MessageToJsonString gives ExportTaskEventData; posted is the example in Ray's documentation,
// followed by later events of its task.
const exportLog = `{"event_id":"a","timestamp":1724,"source_type":"EXPORT_TASK","event_data":{"task_id":"yO9FzNARJXH///////////////8BAAAA","attempt_number":0,"job_id":"AQAAAA==","task_info":{"type":"NORMAL_TASK","func_or_class_name":"f"},"state_updates":{"state_ts_ns":{"1":"1724000000000000000","2":"1724000000500000000"}}}}
{"event_id":"b","timestamp":1725,"source_type":"EXPORT_TASK","event_data":{"task_id":"yO9FzNARJXH///////////////8BAAAA","attempt_number":0,"job_id":"AQAAAA==","state_updates":{"node_id":"AQID","worker_id":"BAUG","state_ts_ns":{"8":"1724000001000000000","12":"1724000003250000000"},"error_info":{"error_message":"x","error_type":"WORKER_DIED"}}}}
{"event_id":"c","timestamp":1725,"source_type":"EXPORT_NODE","event_data":{"node_id":"AQID"}}
{"event_id":"d","timestamp":1725,"source_type":"EXPORT_TASK","event_data":{"attempt_number":0}}
`

const posted = `[{"eventId":"a","sourceType":"CORE_WORKER","eventType":"TASK_LIFECYCLE_EVENT","taskLifecycleEvent":{"taskId":"yO9FzNARJXH///////////////8BAAAA","stateTransitions":[{"state":"PENDING_NODE_ASSIGNMENT","timestamp":"2025-09-03T18:52:14.467402Z"},{"state":"PENDING_ARGS_AVAIL","timestamp":"2025-09-03T18:52:14.467290Z"},{"state":"RUNNING","timestamp":"2025-09-03T18:52:15.467290Z"}],"nodeId":"AQID","workerId":"BAUG","jobId":"AQAAAA==","taskAttempt":0,"workerPid":0}},
{"eventId":"b","eventType":"TASK_DEFINITION_EVENT","taskDefinitionEvent":{"taskId":"yO9FzNARJXH///////////////8BAAAA","taskName":"test_task","requiredResources":{"CPU":NaN},"jobId":"AQAAAA==","taskAttempt":0}},
{"eventId":"c","eventType":"TASK_LIFECYCLE_EVENT","taskLifecycleEvent":{"taskId":"yO9FzNARJXH///////////////8BAAAA","stateTransitions":[{"state":"FINISHED","timestamp":"2025-09-03T18:52:17.717290Z"}],"jobId":"AQAAAA==","taskAttempt":0}}]`

func TestExportedEvents(t *testing.T) {
	const task = "c8ef45ccd0112571ffffffffffffffffffffffff01000000"
	for _, c := range []struct {
		name, log, want, phase string
		rejects                int64
	}{
		{"event_EXPORT_TASK.log", exportLog, task + " 0.0 010203 lost {2.25 true} {0 false} {0 false}", "f", 1},
		{"posted.json", posted, task + " 0.0 010203 success {2.25 true} {0 false} {0 false}", "test_task", 0},
	} {
		r := ingesttest.Conformance(t, Format(), ingesttest.Input(c.name, []byte(c.log)))
		if r.Err != nil || r.Counts.Rejects != c.rejects || len(r.Attempts) != 1 {
			t.Fatalf("%s: error %v, rejects %+v, %d attempts", c.name, r.Err, r.Trace.Rejects, len(r.Attempts))
		}
		if d := cmp.Diff([]string{c.want}, rows(&r)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		a := r.Attempts[0]
		if a.Executor != schema.Some("040506") || a.StartTime.V.Sub(a.QueuedTime.V) != 1 || r.Phases[0].NativeID != c.phase || r.Jobs[0].NativeID != "01000000" {
			t.Errorf("%s: %+v of %+v", c.name, a, r.Phases[0])
		}
		if m := sniff(ingest.Head{Bytes: []byte(c.log), Whole: true}); m.Confidence != 3 {
			t.Errorf("%s is recognised as %+v", c.name, m)
		}
	}
}

// printed has the layout of 'ray list tasks --detail --format json' of Ray 2.60: times are text without a zone, an attempt whose
// worker died has no start, and the profile says how long its parts took.
const printed = `[
{"task_id": "t1", "attempt_number": 0, "name": "f", "state": "FINISHED", "job_id": "01", "actor_id": null, "type": "NORMAL_TASK", "func_or_class_name": "f", "node_id": "n1", "worker_id": "w1", "error_type": null, "events": [{"state": "RUNNING", "created_ms": "2026-11-28 11:14:20.211000"}], "profiling_data": {"component_type": "worker", "component_id": "w1", "events": [{"start_time": 1795864460318.0508, "end_time": 1795864460568.0508, "extra_data": {}, "event_name": "task:deserialize_arguments"}, {"start_time": 1795864460318.0098, "end_time": 1795864462163.4724, "event_name": "task::f"}]}, "creation_time_ms": "2026-11-28 11:14:19.126000", "start_time_ms": "2026-11-28 11:14:20", "end_time_ms": "2026-11-28 11:14:22.500000"},
{"task_id": "t2", "attempt_number": 0, "name": "f", "state": "FAILED", "job_id": "01", "func_or_class_name": "f", "node_id": "n1", "worker_id": "w2", "error_type": "WORKER_DIED", "profiling_data": {}, "creation_time_ms": "2026-11-28 11:14:27.049000", "start_time_ms": null, "end_time_ms": "2026-11-28 11:14:27.264000"},
{"task_id": "t3", "attempt_number": 0, "name": "A.__init__", "state": "FINISHED", "job_id": "01", "type": "ACTOR_CREATION_TASK", "func_or_class_name": "A.__init__", "node_id": null, "worker_id": null, "profiling_data": {"component_type": "worker", "component_id": "w3", "events": null}, "creation_time_ms": "2026-11-28 11:14:27.049000", "start_time_ms": "2026-11-28 11:14:28.000000", "end_time_ms": "2026-11-28 11:14:28.250000"}
]`

func codes(r *ingesttest.Result) string {
	var s []string
	for _, c := range r.Caveats {
		s = append(s, c.Code)
	}
	return strings.Join(s, " ")
}

func TestPrintedList(t *testing.T) {
	r := ingesttest.Conformance(t, Format(), ingesttest.Input("tasks.json", []byte(printed)))
	want := []string{
		"t1 0.0 n1 success {2.5 true} {0.25 true} {0 false}", "t2 1.0 n1 lost {0 false} {0 false} {0 false}",
		"t3 0.0  success {0.25 true} {0 false} {0 false}",
	}
	if d := cmp.Diff(want, rows(&r)); d != "" || r.Err != nil || r.Counts.Rejects != 0 {
		t.Fatal(d, r.Err, r.Trace.Rejects)
	}
	start := time.Date(2026, 11, 28, 11, 14, 20, 0, time.UTC).UnixMicro()
	if a := r.Attempts; a[0].StartTime != schema.Some(schema.Time(start)) || a[2].Executor != schema.Some("w3") {
		t.Errorf("%+v", a)
	}
	if got := codes(&r); !strings.Contains(got, "time_zone_unknown") {
		t.Error(got)
	}
	without := regexp.MustCompile(`("(?:creation|start|end)_time_ms"): "[^"]*"`).ReplaceAllString(printed, "$1: null")
	if r := ingesttest.Bytes(t, Format(), "tasks.json", []byte(without)); !strings.Contains(codes(&r), "no_times") || len(r.Attempts) != 3 {
		t.Error(codes(&r), len(r.Attempts))
	}
	var hundred strings.Builder
	for i := range 100 {
		fmt.Fprintf(&hundred, `{"task_id":"t%d","attempt_number":0,"state":"FINISHED","start_time_ms":1000,"end_time_ms":2000}`, i)
	}
	if r := ingesttest.Bytes(t, Format(), "tasks.json", []byte(hundred.String())); !strings.Contains(codes(&r), "list_may_end_early") {
		t.Error(codes(&r))
	}
}

// Times in milliseconds may be texts, as 64-bit numbers are in protobuf's JSON.
func TestNumbersAsText(t *testing.T) {
	const task = `[{"task_id":"t1","attempt_number":0,"state":"FINISHED","creation_time_ms":"1724000000000","start_time_ms":"1724000001000","end_time_ms":"1724000003000"}]`
	r := ingesttest.Conformance(t, Format(), ingesttest.Input("tasks.json", []byte(task)))
	if len(r.Attempts) != 1 || r.Attempts[0].DurationS != schema.Some(2.0) || strings.Contains(codes(&r), "time_zone_unknown") {
		t.Errorf("%+v %s", r.Attempts, codes(&r))
	}
}

// Attempts of one task that name different functions are tasks of both.
func TestFunctionOfAttempts(t *testing.T) {
	for _, text := range []string{
		`[{"task_id":"t1","attempt_number":0,"state":"FAILED","func_or_class_name":"f","start_time_ms":2000,"end_time_ms":4000},
{"task_id":"t1","attempt_number":1,"state":"FINISHED","start_time_ms":5000,"end_time_ms":6000}]`,
		`[{"cat":"task::f","name":"task::f","pid":"n1","tid":"w1","ts":1000000,"dur":1000000,"ph":"X","args":{"task_id":"t1","attempt_number":0,"func_or_class_name":"f"}},
{"cat":"task::g","name":"task::g","pid":"n1","tid":"w1","ts":3000000,"dur":1000000,"ph":"X","args":{"task_id":"t1","attempt_number":1}}]`,
	} {
		if r := ingesttest.Conformance(t, Format(), ingesttest.Input("tasks.json", []byte(text))); len(r.Attempts) != 2 || len(r.Phases) != 2 {
			t.Errorf("%d attempts, %d phases", len(r.Attempts), len(r.Phases))
		}
	}
}

// The process that submits a task and the one that runs it may have different clocks.
func TestQueuedByAnotherClock(t *testing.T) {
	const task = `[{"task_id":"t1","attempt_number":0,"state":"FINISHED","creation_time_ms":3000,"start_time_ms":2000,"end_time_ms":4000},
{"task_id":"t2","attempt_number":0,"state":"FAILED","creation_time_ms":5000,"start_time_ms":null,"end_time_ms":4000}]`
	r := ingesttest.Conformance(t, Format(), ingesttest.Input("tasks.json", []byte(task)))
	if len(r.Attempts) != 2 || r.Attempts[0].QueuedTime.OK || r.Attempts[1].QueuedTime.OK || r.Attempts[0].DurationS != schema.Some(2.0) {
		t.Errorf("%+v", r.Attempts)
	}
}

// Each process of a cluster exports the events that it saw: the end of a task is in another file than its start. The task that
// stands for the driver is none.
func TestExportOfSeveralProcesses(t *testing.T) {
	const owner = `{"event_data":{"attempt_number":0,"job_id":"AQAAAA==","state_updates":{"state_ts_ns":{"8":"1724000000000000000"}},"task_id":"////////////////////////////////AQAAAA=="},"source_type":"EXPORT_TASK"}
{"event_data":{"attempt_number":0,"job_id":"AQAAAA==","task_info":{"func_or_class_name":"f"},"state_updates":{"node_id":"AQID","worker_id":"BAUG","state_ts_ns":{"1":"1724000000000000000","5":"1724000000600000000"}},"task_id":"yO9FzNARJXH///////////////8BAAAA"},"source_type":"EXPORT_TASK"}
{"event_data":{"attempt_number":0,"job_id":"AQAAAA==","state_updates":{"state_ts_ns":{"11":"1724000003250000000"}},"task_id":"yO9FzNARJXH///////////////8BAAAA"},"source_type":"EXPORT_TASK"}
`
	const worker = `{"event_data":{"attempt_number":0,"job_id":"AQAAAA==","profile_events":{"component_id":"BAUG","component_type":"worker","events":[{"end_time":"1724000001500000000","event_name":"task:deserialize_arguments","start_time":"1724000001250000000"}]},"state_updates":{"state_ts_ns":{"8":"1724000001000000000"}},"task_id":"yO9FzNARJXH///////////////8BAAAA"},"source_type":"EXPORT_TASK"}
`
	got := claim(ingest.Dir{Names: []string{"event_EXPORT_ACTOR.log", "event_EXPORT_NODE.log", "event_EXPORT_TASK_12.log", "event_EXPORT_TASK_7.log", "raylet.out"}})
	want := []ingest.Group{{Names: []string{"event_EXPORT_TASK_12.log", "event_EXPORT_TASK_7.log"}, Drop: []string{"event_EXPORT_ACTOR.log", "event_EXPORT_NODE.log"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	in := ingesttest.Input("event_EXPORT_TASK_12.log", []byte(worker))
	in.Parts = append(in.Parts, ingesttest.Input("event_EXPORT_TASK_7.log", []byte(owner)).Parts...)
	r := ingesttest.Conformance(t, Format(), in)
	const task = "c8ef45ccd0112571ffffffffffffffffffffffff01000000"
	if d := cmp.Diff([]string{task + " 0.0 010203 success {2.25 true} {0.25 true} {0 false}"}, rows(&r)); d != "" || len(r.Phases) != 1 {
		t.Errorf("%d phases, %s", len(r.Phases), d)
	}
	if r := ingesttest.Bytes(t, Format(), "event_EXPORT_TASK_7.log", []byte(owner)); !strings.Contains(codes(&r), "history_in_parts") {
		t.Error(codes(&r))
	}
}

// The timeline that the dashboard serves numbers nodes and workers, and its events name their attempts, whose parts may overlap on
// the thread of an asynchronous actor.
func TestDashboardTimeline(t *testing.T) {
	const args = `"args":{"task_id":"t%d","job_id":"01","attempt_number":%d,"func_or_class_name":"A.m"}`
	var b strings.Builder
	b.WriteString("[")
	for _, e := range []struct{ task, attempt, from, to int }{{1, 0, 1, 9}, {2, 1, 2, 8}, {2, 0, 1, 2}} {
		of := fmt.Sprintf(args, e.task, e.attempt)
		fmt.Fprintf(&b, `{"cat":"task:deserialize_arguments","name":"task:deserialize_arguments","pid":0,"tid":1,"ts":%d000000,"dur":%d00000,"ph":"X",%s},`, e.from, e.task, of)
		fmt.Fprintf(&b, `{"cat":"task::named","name":"m","pid":0,"tid":1,"ts":%d000000,"dur":%d000000,"ph":"X",%s},`, e.from, e.to-e.from, of)
	}
	b.WriteString(`{"name":"process_name","args":{"name":"Node 10.0.0.1"},"pid":0,"tid":null,"ph":"M"},{"name":"thread_name","args":{"name":"worker:a1"},"pid":0,"tid":1,"ph":"M"}]`)
	if m := sniff(ingest.Head{Bytes: []byte(b.String())}); !strings.HasPrefix(m.Why, "trace events") {
		t.Errorf("%+v", m)
	}
	r := ingesttest.Conformance(t, Format(), ingesttest.Input("timeline.json", []byte(b.String())))
	want := []string{
		"t1 0.0 10.0.0.1 success {8 true} {0.1 true} {0 false}", "t2 1.0 10.0.0.1 success {1 true} {0.2 true} {0 false}",
		"t2 1.1 10.0.0.1 success {6 true} {0.2 true} {0 false}",
	}
	got := rows(&r)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" || r.Err != nil || r.Counts.Rejects != 0 {
		t.Error(d, r.Err, r.Trace.Rejects)
	}
	if len(r.Phases) != 1 || r.Phases[0].NativeID != "A.m" || r.Attempts[0].Executor != schema.Some("worker:a1") {
		t.Errorf("%+v, %+v", r.Phases, r.Attempts[0])
	}
}

func TestInstead(t *testing.T) {
	for head, want := range map[string]bool{
		"---\n-   task_id: 1631\n    attempt_number: 0\n":                            true,
		"\n======== List: 2026-11-28 ========\n    TASK_ID   ATTEMPT_NUMBER  NAME\n": true,
		"task_id\thash\n": false,
	} {
		if got := instead(ingest.Head{Bytes: []byte(head)}); strings.Contains(got, "--format json") != want {
			t.Errorf("%q: %s", head, got)
		}
	}
}

package archives

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// Tasks, run times and dependencies are compared with those in the raw JSON.
func TestRealWorkflows(t *testing.T) {
	for name, b := range ingesttest.CorpusFiles(t, "wfcommons/*.json") {
		t.Run(name, func(t *testing.T) {
			r := ingesttest.Bytes(t, WfCommons(), name, b)
			if r.Err != nil || r.Decoded != 1 {
				t.Fatalf("error %v, %d decoded", r.Err, r.Decoded)
			}
			var raw struct {
				Workflow struct {
					Execution struct {
						Tasks []struct {
							Runtime float64 `json:"runtimeInSeconds"`
						} `json:"tasks"`
						Machines []any `json:"machines"`
					} `json:"execution"`
				} `json:"workflow"`
			}
			if err := json.Unmarshal(b, &raw); err != nil {
				t.Fatal(err)
			}
			want, got := 0.0, 0.0
			for _, task := range raw.Workflow.Execution.Tasks {
				want += task.Runtime
			}
			seen := map[string]bool{}
			for _, a := range r.Attempts {
				got += a.DurationS.V
				if seen[a.NativeID] {
					t.Errorf("task %s twice", a.NativeID)
				}
				seen[a.NativeID] = true
			}
			if len(r.Attempts) != len(raw.Workflow.Execution.Tasks) || math.Abs(got-want) > 1e-6*want {
				t.Errorf("%d attempts of %v s, the file has %d of %v s", len(r.Attempts), got, len(raw.Workflow.Execution.Tasks), want)
			}
			if len(r.Machines) != len(raw.Workflow.Execution.Machines) {
				t.Errorf("%d machines, the file has %d", len(r.Machines), len(raw.Workflow.Execution.Machines))
			}
			if len(r.Phases) == 0 || len(r.Phases) >= len(r.Attempts) {
				t.Errorf("%d phases for %d tasks", len(r.Phases), len(r.Attempts))
			}
		})
	}
}

// Version 1.3 has one list, parents by name, and memory in units of 1000 bytes; so are read bytes, except for Pegasus.
func TestOldWorkflow(t *testing.T) {
	const instance = `{"name":"w","schemaVersion":"1.3","wms":{"name":"Makeflow","version":"7"},"workflow":{"makespan":10,"executedAt":"20200402T045538+0000",
"machines":[{"nodeName":"m1","cpu":{"count":4},"memory":1000}],
"tasks":[{"name":"split_ID0001","id":"1","runtime":2.5,"bytesRead":3,"memory":7,"machine":"m1","executedAt":"2020-04-02T04:55:39+00:00"},
{"name":"work_ID0002","id":"2","parents":["split_ID0001"],"runtime":1,"files":[{"name":"a","size":40,"link":"input"},{"name":"b","size":2,"link":"output"}]},
{"name":"split_ID0003","id":"3","parents":["2"],"runtime":0}]}}`
	r := ingesttest.Bytes(t, WfCommons(), "w.json", []byte(instance))
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	a := r.Attempts[0]
	if a.InputBytes != schema.Some(int64(3000)) || a.PeakMemoryBytes != schema.Some(int64(7000)) || a.Machine != schema.Some("m1") {
		t.Errorf("read %+v, memory %+v, machine %+v", a.InputBytes, a.PeakMemoryBytes, a.Machine)
	}
	if !a.FinishTime.OK || a.FinishTime.V.Sub(a.StartTime.V) != 2.5 {
		t.Errorf("from %+v to %+v", a.StartTime, a.FinishTime)
	}
	if b := r.Attempts[1]; b.InputBytes != schema.Some(int64(40)) || b.Quality&schema.BytesEstimated == 0 || b.StartTime.OK {
		t.Errorf("read %+v, quality %d, start %+v", b.InputBytes, b.Quality, b.StartTime)
	}
	// The edge work → split would close the cycle split → work → split.
	if len(r.Phases) != 2 || len(r.Edges) != 1 || r.Edges[0].FromPhase != a.PhaseID {
		t.Errorf("%d phases, edges %+v", len(r.Phases), r.Edges)
	}
	var codes []string
	for _, c := range r.Caveats {
		codes = append(codes, c.Code)
	}
	if !strings.Contains(strings.Join(codes, " "), "phase_cycle") {
		t.Errorf("caveats %v", codes)
	}
}

// Text after a workflow is not silently ignored.
func TestTextAfterWorkflow(t *testing.T) {
	const instance = `{"name":"w","schemaVersion":"1.5","workflow":{"tasks":[{"name":"a","id":"1","runtime":2}]}}`
	for after, rejects := range map[string]int{"": 0, " \n": 0, instance: 1, "\n" + instance: 1, "garbage": 1, "]": 1} {
		r := ingesttest.Bytes(t, WfCommons(), "w.json", []byte(instance+after))
		if r.Err != nil || len(r.Attempts) != 1 || len(r.Trace.Rejects) != rejects {
			t.Errorf("%q: %v, %d attempts, rejects %+v", after, r.Err, len(r.Attempts), r.Trace.Rejects)
		} else if rejects > 0 && (r.Trace.Rejects[0].ByteOffset != int64(len(instance)) ||
			!strings.HasPrefix(strings.TrimSpace(after), strings.TrimSpace(r.Trace.Rejects[0].Sample))) {
			t.Errorf("%q: %+v", after, r.Trace.Rejects[0])
		}
	}
}

// A workflow larger than the limit is reported as such, not as one that is still being written.
func TestLargeWorkflow(t *testing.T) {
	const instance = `{"schemaVersion":"1.5","name":"w"}`
	part := ingesttest.Input("w.json", []byte(instance)).Parts[0]
	for limit, want := range map[int64]error{int64(len(instance)): nil, int64(len(instance)) - 1: ingest.ErrLimit} {
		w, err := readInstance(t.Context(), part, ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { return nil }), limit)
		if !errors.Is(err, want) || ingest.IsCut(err) || (err == nil) != (w != nil && w.Name == "w") {
			t.Errorf("at most %d bytes: %+v, error %v, want %v", limit, w, err, want)
		}
	}
}

func TestRealSWIM(t *testing.T) {
	for name, b := range ingesttest.CorpusFiles(t, "swim/*.tsv") {
		t.Run(name, func(t *testing.T) {
			r := ingesttest.Bytes(t, SWIM(), name, b)
			lines := bytes.Count(b, []byte("\n"))
			if r.Err != nil || r.Counts.Rejects != 0 || len(r.Jobs) != lines || int(r.Decoded) != lines || len(r.Settings) != 3*lines {
				t.Errorf("error %v, %d rejects, %d jobs, %d settings in %d lines", r.Err, r.Counts.Rejects, len(r.Jobs), len(r.Settings), lines)
			}
		})
	}
}

func TestSWIMRejects(t *testing.T) {
	r := ingesttest.Bytes(t, SWIM(), "x.tsv", []byte("job0\t49\t49\t740773\t2339561\t627471\njob1\t-1\t0\t0\t0\t0\n\njob2\t50\t1\t1\t1\t1\tin\t\t\n"))
	if len(r.Jobs) != 2 || r.Counts.Rejects != 1 || r.Trace.Rejects[0].Line.V != 2 || r.Decoded != 3 {
		t.Errorf("%d jobs, %d decoded, rejects %+v", len(r.Jobs), r.Decoded, r.Trace.Rejects)
	}
}

func TestSWF(t *testing.T) {
	const trace = `; Version: 2.2
; UnixStartTime: 749433603
; MaxProcs: 128
  1   0   5 100.5 8 90 1024 8 200 -1 1 3 1 7 0 -1 -1 -1
  2  10  -1  -1 -1 -1   -1 4 100 -1 5 4 1 -1 1 -1 1 10
  3  20   0   0  1  0   -1 1  10 -1 0 4 1 -1 1 -1 -1 -1
not a job
  4  30   1   9  1  9   -1 1  10 -1 -1 4 1 -1 1 -1 -1 -1
`
	r := ingesttest.Bytes(t, SWF(), "x.swf", []byte(trace))
	if r.Err != nil || r.Counts.Rejects != 1 || r.Trace.Rejects[0].Line.V != 7 {
		t.Fatalf("error %v, rejects %+v", r.Err, r.Trace.Rejects)
	}
	type got struct {
		status  schema.AttemptStatus
		seconds schema.Null[float64]
		cpu     schema.Null[float64]
		memory  schema.Null[int64]
	}
	var rows []got
	for _, a := range r.Attempts {
		rows = append(rows, got{a.Status, a.DurationS, a.CPUS, a.PeakMemoryBytes})
	}
	want := []got{
		{schema.Success, schema.Some(100.5), schema.Some(720.0), schema.Some(int64(8 << 20))},
		{schema.Killed, schema.Null[float64]{}, schema.Null[float64]{}, schema.Null[int64]{}},
		{schema.Failed, schema.Some(0.0), schema.Some(0.0), schema.Null[int64]{}},
		{schema.UnknownStatus, schema.Some(9.0), schema.Some(9.0), schema.Null[int64]{}},
	}
	if d := cmp.Diff(want, rows, cmp.AllowUnexported(got{})); d != "" {
		t.Error(d)
	}
	if at := r.Attempts[0].StartTime; at != schema.Some(schema.Time(749433608*1e6)) || r.Applications[0].TimeOrigin != "epoch" || !r.Phases[0].Gang {
		t.Errorf("starts at %+v from %s", at, r.Applications[0].TimeOrigin)
	}
}

// Most jobs of the archive's logs of NASA and LCG say how long they ran, and not how long they waited.
func TestSWFUnknownWait(t *testing.T) {
	r := ingesttest.Bytes(t, SWF(), "x.swf", []byte("; UnixStartTime: 749458803\n1 0 -1 1451 128 -1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1\n2 1460 -1 -1 128 -1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1\n"))
	a, b := r.Attempts[0], r.Attempts[1]
	if a.DurationS != schema.Some(1451.0) || a.StartTime.OK || a.FinishTime.OK || a.Quality&schema.PartialRow == 0 {
		t.Errorf("a job that ran for 1451 s: %+v", a)
	}
	if b.DurationS.OK || b.Quality&schema.PartialRow == 0 {
		t.Errorf("a job that nothing is known of: %+v", b)
	}
	if c := r.Caveats[len(r.Caveats)-1]; c.Code != "no_start" || c.Count != schema.Some(int64(1)) {
		t.Errorf("caveats %+v", r.Caveats)
	}
}

func FuzzArchives(f *testing.F) {
	f.Add([]byte("job0\t49\t49\t740773\t2339561\t627471\n"))
	f.Add([]byte("; UnixStartTime: 5\n1 0 5 100.5 8 90 1024 8 200 -1 1 3 1 7 0 -1 -1 -1\n"))
	f.Add([]byte(`{"schemaVersion":"1.5","workflow":{"specification":{"tasks":[{"name":"a","id":"a_1","parents":["a_1"]}],"files":[{"id":"f","sizeInBytes":1e300}]},"execution":{"tasks":[{"id":"a_1","runtimeInSeconds":1e-300,"executedAt":"1"}]}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, format := range []struct {
			name string
			rows func() ingesttest.Result
		}{
			{"swim", func() ingesttest.Result { return ingesttest.Bytes(t, SWIM(), "x", b) }},
			{"swf", func() ingesttest.Result { return ingesttest.Bytes(t, SWF(), "x", b) }},
			{"wfcommons", func() ingesttest.Result { return ingesttest.Bytes(t, WfCommons(), "x", b) }},
		} {
			r := format.rows()
			for _, a := range r.Attempts {
				if a.DurationS.OK && (a.DurationS.V < 0 || math.IsNaN(a.DurationS.V) || math.IsInf(a.DurationS.V, 0)) {
					t.Errorf("%s: duration %v", format.name, a.DurationS.V)
				}
				if a.StartTime.OK && a.FinishTime.OK && a.FinishTime.V < a.StartTime.V {
					t.Errorf("%s: ends before it starts", format.name)
				}
			}
		}
	})
}

// The columns of a real trace, compared with those read by another Parquet reader (DuckDB): 460 tasks in 20 workflows.
func TestRealWTA(t *testing.T) {
	for name, b := range ingesttest.CorpusFiles(t, "wta/*/tasks/schema-1.0/*.parquet") {
		r := ingesttest.Bytes(t, WTA(), name, b)
		if r.Err != nil || r.Counts.Rejects != 0 {
			t.Fatalf("error %v, rejects %+v", r.Err, r.Trace.Rejects)
		}
		if len(r.Jobs) != 20 || len(r.Attempts) != 460 || r.Decoded != 460 {
			t.Errorf("%d jobs, %d attempts, %d decoded", len(r.Jobs), len(r.Attempts), r.Decoded)
		}
		for _, a := range r.Attempts {
			if !a.DurationS.OK || a.DurationS.V < 0 || a.QueuedTime.V > a.StartTime.V {
				t.Errorf("%+v", a)
			}
		}
		if len(r.Edges) == 0 || len(r.Phases) <= len(r.Jobs) {
			t.Errorf("%d edges, %d phases", len(r.Edges), len(r.Phases))
		}
		for cut := range 50 {
			ingesttest.Bytes(t, WTA(), name, b[:len(b)*cut/50])
		}
	}
}

// Damaged Parquet bytes give an error or rows, but no panic.
func TestCorruptParquet(t *testing.T) {
	for name, b := range ingesttest.CorpusFiles(t, "wta/*/tasks/schema-1.0/*.parquet") {
		for i := 0; i < len(b); i += 997 {
			spoilt := bytes.Clone(b)
			spoilt[i] ^= 0xff
			ingesttest.Bytes(t, WTA(), name, spoilt)
		}
	}
}

// A trace may write the resources of a task as a list in a text, and not know how long a task waited.
func TestResourcesAsText(t *testing.T) {
	type task struct {
		ID       int64  `parquet:"id"`
		Workflow int64  `parquet:"workflow_id"`
		Submit   int64  `parquet:"ts_submit"`
		Wait     int64  `parquet:"wait_time"`
		Runtime  int64  `parquet:"runtime"`
		Resource string `parquet:"resource_used"`
	}
	var buf bytes.Buffer
	if err := parquet.Write(&buf, []task{{0, 1, 0, -1, 7184, "[]"}, {1, 1, 0, 5, 100, "[3]"}, {2, 1, 0, 5, 100, "[3, 4]"}, {3, 1, 0, 5, 100, "12"}}); err != nil {
		t.Fatal(err)
	}
	r := ingesttest.Conformance(t, WTA(), ingesttest.Input("part.0.parquet", buf.Bytes()))
	var got []schema.Null[string]
	for _, a := range r.Attempts {
		got = append(got, a.Machine)
	}
	want := []schema.Null[string]{{}, schema.Some("3"), {}, schema.Some("12")}
	if d := cmp.Diff(want, got); d != "" || r.Err != nil {
		t.Error(d, r.Err)
	}
	if c := r.Caveats[len(r.Caveats)-1]; c.Code != "no_start" || c.Count != schema.Some(int64(1)) {
		t.Errorf("%+v", r.Caveats)
	}
}

package hadoop

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// corpus gives the decompressed files of the real logs below a folder.
func corpus(tb testing.TB, glob string) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{}
	for _, p := range ingesttest.Corpus(tb, glob) {
		b, err := os.ReadFile(p)
		if err != nil {
			tb.Fatal(err)
		}
		if strings.HasSuffix(p, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				tb.Fatal(err)
			}
			if b, err = io.ReadAll(z); err != nil {
				tb.Fatal(err)
			}
		}
		files[filepath.Base(p)] = b
	}
	return files
}

// counts are what a log holds, counted by other means than the reader's.
type counts struct{ jobs, tasks, attempts int }

func rowCounts(r *ingesttest.Result) counts {
	tasks := map[string]bool{}
	for _, a := range r.Attempts {
		tasks[fmt.Sprint(a.PhaseID, " ", a.Task)] = true
	}
	return counts{len(r.Jobs), len(tasks), len(r.Attempts)}
}

func distinct(b []byte, pattern string) int {
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(b, -1) {
		seen[string(m[1])] = true
	}
	return len(seen)
}

func checkValid(t *testing.T, r *ingesttest.Result) {
	t.Helper()
	for _, a := range r.Attempts {
		if a.DurationS.OK && (a.DurationS.V < 0 || a.DurationS.V != a.FinishTime.V.Sub(a.StartTime.V)) {
			t.Errorf("%s lasts %v s from %d to %d", a.NativeID, a.DurationS.V, a.StartTime.V, a.FinishTime.V)
		}
		if a.InputBytes.OK && a.LocalBytes.OK && a.RemoteBytes.OK && a.LocalBytes.V+a.RemoteBytes.V != a.InputBytes.V {
			t.Errorf("%s: %d local and %d remote of %d bytes", a.NativeID, a.LocalBytes.V, a.RemoteBytes.V, a.InputBytes.V)
		}
	}
	last := map[schema.Key]float64{}
	for _, p := range r.Trace.Progress {
		if p.Progress <= 0 || p.Progress > 1 {
			t.Errorf("progress %v of attempt %d", p.Progress, p.AttemptID)
		}
		last[p.AttemptID] = max(last[p.AttemptID], p.Progress)
	}
	for _, a := range r.Attempts {
		if p, ok := last[a.AttemptID]; ok && a.Status == schema.Success && p != 1 {
			t.Errorf("%s succeeded with progress %v", a.NativeID, p)
		}
	}
}

func TestRealJobHistories(t *testing.T) {
	for name, b := range corpus(t, "jhist/*/*.jhist") {
		t.Run(name, func(t *testing.T) {
			r := ingesttest.Bytes(t, JobHistory(), name, b)
			if r.Err != nil || r.Counts.Rejects > 0 {
				t.Fatalf("error %v, rejects %v", r.Err, r.Trace.Rejects)
			}
			events := bytes.Count(b, []byte(`"event":{"`)) + bytes.Count(b, []byte(`"event" : {"`))
			if int(r.Decoded) != events {
				t.Errorf("%d events read, the file has %d", r.Decoded, events)
			}
			want := counts{1, distinct(b, `"attemptId":"attempt_(\d+_\d+_[mr]_\d+)_`), distinct(b, `"attemptId":"(attempt_[^"]*)"`)}
			if got := rowCounts(&r); got != want {
				t.Errorf("jobs, tasks, attempts: %v, want %v", got, want)
			}
			checkValid(t, &r)
		})
	}
}

// A history re-encoded as Avro-Binary gives the same rows.
func TestBinaryEqualsJSON(t *testing.T) {
	for name, b := range corpus(t, "jhist/*/*.jhist") {
		t.Run(name, func(t *testing.T) {
			binary := toBinary(t, b)
			in := ingesttest.Input(name, b)
			want := ingesttest.Read(t, JobHistory(), in, ingest.Limits{})
			again := ingesttest.Input(name, binary)
			again.Key = in.Key
			got := ingesttest.Read(t, JobHistory(), again, ingest.Limits{})
			if d := cmp.Diff(want.Trace, got.Trace); d != "" {
				t.Error(d)
			}
			if want.Decoded != got.Decoded || got.Decoded == 0 {
				t.Errorf("%d events in JSON, %d in binary", want.Decoded, got.Decoded)
			}
			for _, cut := range []int{len(binary) - 1, len(binary) - 1000} {
				r := ingesttest.Bytes(t, JobHistory(), name, binary[:cut])
				if len(r.Trace.Rejects) != 1 || r.Decoded == 0 {
					t.Errorf("cut at %d: %d events, rejects %v", cut, r.Decoded, r.Trace.Rejects)
				}
			}
		})
	}
}

// toBinary encodes the events of an Avro-JSON history as the Avro specification has it.
func toBinary(t *testing.T, b []byte) []byte {
	t.Helper()
	parts := bytes.SplitN(b, []byte("\n"), 3)
	typ, err := parseAvro(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	out := append([]byte("Avro-Binary\n"), parts[1]...)
	out = append(out, '\n')
	dec := json.NewDecoder(bytes.NewReader(parts[2]))
	dec.UseNumber()
	for {
		var v any
		if err := dec.Decode(&v); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = appendAvro(t, out, typ, v)
	}
}

func appendAvro(t *testing.T, out []byte, typ *avroType, v any) []byte {
	t.Helper()
	count := func(n int) { out = binary.AppendVarint(out, int64(n)) } // which is zig-zag too
	switch v := v.(type) {
	case bool:
		if v {
			return append(out, 1)
		}
		return append(out, 0)
	case json.Number:
		n, err := v.Int64()
		if err != nil {
			t.Fatal(err)
		}
		return binary.AppendVarint(out, n)
	case string:
		if typ.kind == "enum" {
			count(slices.Index(typ.symbols, v))
			return out
		}
		count(len(v))
		return append(out, v...)
	case []any:
		if count(len(v)); len(v) == 0 {
			return out
		}
		for _, item := range v {
			out = appendAvro(t, out, typ.items, item)
		}
		count(0)
		return out
	case map[string]any:
		switch typ.kind {
		case "record":
			for _, f := range typ.fields {
				out = appendAvro(t, out, f.typ, v[f.name])
			}
			return out
		case "map":
			for _, name := range slices.Sorted(maps.Keys(v)) {
				count(1) // a block of its own
				out = appendAvro(t, out, &avroType{kind: "string"}, name)
				out = appendAvro(t, out, typ.items, v[name])
			}
			count(0)
			return out
		}
	}
	if typ.kind != "union" {
		t.Fatalf("%v is no %s", v, typ.kind)
	}
	for i, branch := range typ.union {
		if v == nil && branch.kind == "null" {
			count(i)
			return out
		}
		for name, value := range asObject(v) {
			if name == branch.name || name == branch.kind {
				count(i)
				return appendAvro(t, out, branch, value)
			}
		}
	}
	t.Fatalf("%v is of no branch", v)
	return nil
}

func asObject(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// The examples of the Avro specification: zig-zag numbers, a record, an array and a union.
func TestAvroSpecification(t *testing.T) {
	for _, c := range []struct{ typ, datum, want string }{
		{`"long"`, "\x00", `0`}, {`"long"`, "\x01", `-1`}, {`"long"`, "\x02", `1`}, {`"long"`, "\x7f", `-64`}, {`"long"`, "\x80\x01", `64`},
		{`{"type":"record","name":"test","fields":[{"name":"a","type":"long"},{"name":"b","type":"string"}]}`, "\x36\x06foo", `{"a":27,"b":"foo"}`},
		{`{"type":"array","items":"long"}`, "\x04\x06\x36\x00", `[3,27]`},
		{`["null","string"]`, "\x00", `null`}, {`["null","string"]`, "\x02\x02\x61", `"a"`},
		// Not an example: a block that says its size, and an enum.
		{`{"type":"array","items":"long"}`, "\x03\x04\x06\x36\x00", `[3,27]`}, {`{"type":"enum","name":"E","symbols":["A","B"]}`, "\x02", `"B"`},
	} {
		typ, err := parseAvro([]byte(`{"type":"record","name":"R","fields":[{"name":"v","type":` + c.typ + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		d := avroDecoder{schema: typ}
		text, n, err := d.json([]byte(c.datum + "more"))
		if want := `{"v":` + c.want + `}`; err != nil || string(text) != want || n != len(c.datum) {
			t.Errorf("%s of %x: %s and %d bytes, error %v; want %s", c.typ, c.datum, text, n, err, want)
		}
	}
}

// A schema may make a few bytes stand for any number of values; what they are put into is bounded.
func TestAvroBombs(t *testing.T) {
	for _, c := range []struct{ typ, datum string }{
		{`{"type":"array","items":"null"}`, string(binary.AppendVarint(nil, 1<<40))},
		{`{"type":"array","items":{"type":"record","name":"E","fields":[]}}`, string(binary.AppendVarint(nil, 1<<40))},
		{`{"type":"array","items":{"type":"enum","name":"E","symbols":["` + strings.Repeat("x", 1<<20) + `"]}}`, "\xfe\xff\x03" + strings.Repeat("\x00", 1<<20)},
		{`{"type":"record","name":"D","fields":[{"name":"a","type":["null","D"]}]}`, strings.Repeat("\x02", 16<<20)},
	} {
		typ, err := parseAvro([]byte(`{"type":"record","name":"R","fields":[{"name":"v","type":` + c.typ + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		d := avroDecoder{schema: typ}
		if _, _, err := d.json([]byte(c.datum)); !errors.Is(err, errAvroDatum) || len(d.text) > 2*maxRecord {
			t.Errorf("%.60s: error %v, %d bytes of text", c.typ, err, len(d.text))
		}
	}
}

func TestRealJobTrackerHistories(t *testing.T) {
	for name, b := range corpus(t, "hadoop-jobtracker-log/*") {
		t.Run(name, func(t *testing.T) {
			r := ingesttest.Bytes(t, JobTracker(), name, b)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			want := counts{
				distinct(b, `JOBID="(job_\d+_\d+)"`), distinct(b, `Attempt TASK_TYPE="[A-Z]+" TASKID="(\w+)"`),
				distinct(b, `TASK_ATTEMPT_ID="(\w+)"`),
			}
			if got := rowCounts(&r); got != want {
				t.Errorf("jobs, tasks, attempts: %v, want %v", got, want)
			}
			// Every line belongs to a record, a mark, a configuration, or a reject; stack traces join lines.
			lines := bytes.Count(b, []byte("\n"))
			if n := int(r.Decoded + r.Counts.Rejects); n > lines+1 || n < lines-60 {
				t.Errorf("%d records in %d lines", n, lines)
			}
			for _, rej := range r.Trace.Rejects {
				line := bytes.Split(b, []byte("\n"))[rej.Line.V-1]
				if bytes.HasSuffix(bytes.TrimSpace(line), []byte(`" .`)) {
					t.Errorf("line %d is whole and was rejected: %s", rej.Line.V, rej.Reason)
				}
			}
			checkValid(t, &r)
		})
	}
}

func TestRealRumen(t *testing.T) {
	for name, b := range corpus(t, "rumen/*") {
		t.Run(name, func(t *testing.T) {
			r := ingesttest.Bytes(t, Rumen(), name, b)
			if r.Err != nil || r.Counts.Rejects > 0 {
				t.Fatalf("error %v, rejects %v", r.Err, r.Trace.Rejects)
			}
			if strings.Contains(name, "topology") {
				if want := distinct(b, `"name" : "([^"]*)",\s*"children" : null`); len(r.Machines) != want || want == 0 {
					t.Errorf("%d machines, the file has %d leaves", len(r.Machines), want)
				}
				return
			}
			var tasks int
			dec := json.NewDecoder(bytes.NewReader(b))
			for {
				var j map[string]any
				if err := dec.Decode(&j); err != nil {
					break
				}
				for _, k := range []string{"mapTasks", "reduceTasks", "otherTasks"} {
					list, _ := j[k].([]any)
					for _, task := range list {
						if as, _ := task.(map[string]any)["attempts"].([]any); len(as) > 0 {
							tasks++
						}
					}
				}
			}
			want := counts{distinct(b, `"jobID"\s*:\s*"([^"]*)"`), tasks, distinct(b, `"attemptID"\s*:\s*"([^"]*)"`)}
			if got := rowCounts(&r); got != want {
				t.Errorf("jobs, tasks, attempts: %v, want %v", got, want)
			}
			checkValid(t, &r)
			checkWaits(t, &r)
		})
	}
}

// checkWaits checks that each phase of a job waits for what comes before it: what a replay takes away of the reduces ends
// the job earlier only when its cleanup waits for them.
func checkWaits(t *testing.T, r *ingesttest.Result) {
	t.Helper()
	kinds := map[schema.Key]string{}
	jobs := map[schema.Key]map[string]bool{}
	for _, p := range r.Phases {
		if kinds[p.PhaseID] = p.Kind; jobs[p.JobID] == nil {
			jobs[p.JobID] = map[string]bool{}
		}
		jobs[p.JobID][p.Kind] = true
	}
	got := map[schema.Key][]string{}
	for _, e := range r.Edges {
		arrow := " > "
		if e.Barrier {
			arrow = " | "
		}
		got[e.JobID] = append(got[e.JobID], kinds[e.FromPhase]+arrow+kinds[e.ToPhase])
	}
	orders := map[string]int{}
	for id, has := range jobs {
		var want []string
		switch {
		case has["map"] && has["reduce"]:
			want = []string{"setup | map", "map > reduce", "reduce | cleanup"}
		case has["map"]:
			want = []string{"setup | map", "map | cleanup"}
		case has["reduce"]:
			want = []string{"setup | reduce", "reduce | cleanup"}
		}
		want = slices.DeleteFunc(want, func(w string) bool {
			return !has["setup"] && strings.HasPrefix(w, "setup") || !has["cleanup"] && strings.HasSuffix(w, "cleanup")
		})
		if !slices.Equal(got[id], want) {
			t.Errorf("a job with %v has edges %v, want %v", has, got[id], want)
		}
		orders[strings.Join(want, ", ")]++
	}
	t.Log(orders)
}

// lostMap is a job whose map 0 finished on m1 and was run again when a reducer could not fetch from it.
const lostMap = `Avro-Json
{"type":"record","name":"Event","fields":[]}
{"type":"JOB_SUBMITTED","event":{"x.JobSubmitted":{"jobid":"job_1_0001","jobName":"<b>lost</b>","userName":"u","submitTime":1000,"jobQueueName":"q"}}}
{"type":"TASK_STARTED","event":{"x.TaskStarted":{"taskid":"task_1_0001_m_000000","taskType":"MAP","startTime":1500,"splitLocations":"/r1/m1,/r2/m2"}}}
{"type":"MAP_ATTEMPT_STARTED","event":{"x.TaskAttemptStarted":{"taskid":"task_1_0001_m_000000","taskType":"MAP","attemptId":"attempt_1_0001_m_000000_0","startTime":2000,"trackerName":"m1","containerId":"c1","locality":{"string":"NODE_LOCAL"},"avataar":{"string":"VIRGIN"}}}}

{"type":"MAP_ATTEMPT_FINISHED","event":{"x.MapAttemptFinished":{"taskid":"task_1_0001_m_000000","attemptId":"attempt_1_0001_m_000000_0","taskType":"MAP","taskStatus":"SUCCEEDED","mapFinishTime":3900,"finishTime":4000,"hostname":"m1","rackname":"/r1","counters":{"name":"COUNTERS","groups":[{"name":"org.apache.hadoop.mapreduce.FileSystemCounter","counts":[{"name":"FILE_BYTES_READ","value":5},{"name":"HDFS_BYTES_READ","value":700},{"name":"S3A_BYTES_READ","value":11}]}]},"clockSplits":[500,500,500,500]}}}
{"type":"MAP_ATTEMPT_FAILED","event":{"x.TaskAttemptUnsuccessfulCompletion":{"taskid":"task_1_0001_m_000000","taskType":"MAP","attemptId":"attempt_1_0001_m_000000_0","finishTime":4000,"hostname":"m1","rackname":"/r1","status":"FAILED","error":"Too many fetch failures. Failing the attempt. Last failure reported by attempt_1_0001_r_000000_0 from host m3"}}}
{"type":"MAP_ATTEMPT_STARTED","event":{"x.TaskAttemptStarted":{"taskid":"task_1_0001_m_000000","taskType":"MAP","attemptId":"attempt_1_0001_m_000000_1","startTime":9000,"trackerName":"m2","containerId":"c2","locality":"OFF_SWITCH","avataar":"VIRGIN"}}}
not json
{"type":"MAP_ATTEMPT_FINISHED","event":{"x.MapAttemptFinished":{"taskid":"task_1_0001_m_000000","attemptId":"attempt_1_0001_m_000000_1","taskType":"MAP","taskStatus":"SUCCEEDED","mapFinishTime":10000,"finishTime":11000,"hostname":"m2","rackname":"/default-rack"}}}
{"type":"NEVER_SEEN","event":{"x.NeverSeen":{"jobid":"job_1_0001","deep":[[[1]]]}}}
{"type":"JOB_FINISHED","event":{"x.JobFinished":{"jobid":"job_1_0001","finishTime":12000,"finishedMaps":1}}}
`

func TestLostMapOutput(t *testing.T) {
	r := ingesttest.Bytes(t, JobHistory(), "job_1_0001.jhist", []byte(lostMap))
	if r.Err != nil || r.Decoded != 9 || r.Counts.Rejects != 1 || r.Trace.Rejects[0].Line.V != 10 {
		t.Fatalf("error %v, %d events, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	first, second := r.Attempts[0], r.Attempts[1]
	if first.Status != schema.Success || first.Recompute || second.Status != schema.Success || !second.Recompute {
		t.Errorf("first %v %v, second %v %v", first.Status, first.Recompute, second.Status, second.Recompute)
	}
	want := []schema.Loss{{
		PhaseID: first.PhaseID, AttemptID: schema.Some(first.AttemptID), Machine: schema.Some("m1"),
		Time: schema.Some(schema.FromMillis(9000)), RecomputedBy: schema.Some(second.AttemptID),
	}}
	if d := cmp.Diff(want, r.Losses); d != "" {
		t.Error(d)
	}
	if first.InputBytes != schema.Some(int64(711)) || first.LocalBytes != first.InputBytes {
		t.Errorf("input %+v, local %+v; the local file system's bytes do not count", first.InputBytes, first.LocalBytes)
	}
	if second.Rack.OK || second.Quality&schema.RackUnknown == 0 || first.Rack != schema.Some("r1") {
		t.Errorf("racks %+v and %+v", first.Rack, second.Rack)
	}
	if n := len(r.Trace.Progress); n != 4 || r.Trace.Progress[0].Time != schema.FromMillis(2500) || r.Trace.Progress[0].Progress != 0.25 {
		t.Errorf("progress %+v", r.Trace.Progress)
	}
}

// A reduce without splits has done a third when all is copied and two thirds when all is sorted.
func TestProgressAnchors(t *testing.T) {
	row := schema.Attempt{AttemptID: 7, DurationS: schema.Some(9.0), Status: schema.Success}
	for _, x := range []struct {
		what string
		kind kind
		a    attempt
		want []schema.Progress
	}{
		{"a reduce", reduceTask, attempt{start: 1000, copied: 4000, sorted: 5000, finish: 10_000}, []schema.Progress{
			{AttemptID: 7, Time: schema.FromMillis(4000), Progress: 1.0 / 3, Source: schema.Reported},
			{AttemptID: 7, Time: schema.FromMillis(5000), Progress: 2.0 / 3, Source: schema.Reported},
			{AttemptID: 7, Time: schema.FromMillis(10_000), Progress: 1, Source: schema.Reported}}},
		{"a map", mapTask, attempt{start: 1000, copied: 4000, sorted: 5000, finish: 10_000}, nil},
		{"an end that is not known", reduceTask, attempt{start: 1000, sorted: 5000, finish: 10_000}, nil},
		{"a sort before the copy", reduceTask, attempt{start: 1000, copied: 6000, sorted: 5000, finish: 10_000}, nil},
	} {
		b := &jobRows{rows: &rows{}}
		b.progress(&row, x.kind, &x.a)
		if d := cmp.Diff(x.want, b.out.Progress); d != "" {
			t.Errorf("%s: %s", x.what, d)
		}
	}
}

// An attempt that starts while another of its task runs is a copy, where the log has no word for it.
func TestSpeculationInferred(t *testing.T) {
	const log = `Meta VERSION="1" .
Job JOBID="job_1_0001" JOBNAME="a \"quoted\" name\." USER="u" SUBMIT_TIME="1000" .
Task TASKID="task_1_0001_m_000000" TASK_TYPE="MAP" START_TIME="1500" SPLITS="/r1/m1" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_0001_m_000000" TASK_ATTEMPT_ID="attempt_1_0001_m_000000_0" START_TIME="2000" TRACKER_NAME="tracker_m1:localhost/127\.0\.0\.1:1" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_0001_m_000000" TASK_ATTEMPT_ID="attempt_1_0001_m_000000_1" START_TIME="5000" TRACKER_NAME="tracker_m2:localhost/127\.0\.0\.1:1" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_0001_m_000000" TASK_ATTEMPT_ID="attempt_1_0001_m_000000_1" TASK_STATUS="SUCCESS" FINISH_TIME="6000" HOSTNAME="/r2/m2" COUNTERS="{(FileSystemCounters)(FileSystemCounters)[(HDFS_BYTES_READ)(HDFS_BYTES_READ)(42)]}{(org\.apache\.hadoop\.mapred\.Task$Counter)(Map-Reduce Framework)[(MAP_INPUT_RECORDS)(Map input \(records\))(7)]}" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_0001_m_000000" TASK_ATTEMPT_ID="attempt_1_0001_m_000000_0" TASK_STATUS="KILLED" FINISH_TIME="6500" HOSTNAME="/r1/m1" ERROR="killed
  at over = \"two\" lines" .
Job JOBID="job_1_0001" FINISH_TIME="7000" JOB_STATUS="SUCCESS" .
`
	r := ingesttest.Bytes(t, JobTracker(), "history", []byte(log))
	if r.Err != nil || r.Counts.Rejects > 0 || r.Decoded != 8 {
		t.Fatalf("error %v, %d records, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	original, copied := r.Attempts[0], r.Attempts[1]
	if original.Speculative != schema.Some(false) || copied.Speculative != schema.Some(true) {
		t.Errorf("speculative: original %+v, copy %+v", original.Speculative, copied.Speculative)
	}
	if original.Status != schema.Killed || original.Reason != schema.Some("killed") {
		t.Errorf("original %v %+v", original.Status, original.Reason)
	}
	if original.Locality != schema.Some(schema.NodeLocal) || copied.Locality != schema.Some(schema.AnyLocality) {
		t.Errorf("locality: original %+v, copy %+v", original.Locality, copied.Locality)
	}
	if copied.InputBytes != schema.Some(int64(42)) || copied.InputRecords != schema.Some(int64(7)) || copied.RemoteBytes != schema.Some(int64(42)) {
		t.Errorf("input %+v, records %+v, remote %+v", copied.InputBytes, copied.InputRecords, copied.RemoteBytes)
	}
	if r.Jobs[0].Name != schema.Some(`a "quoted" name.`) || r.Jobs[0].Status != schema.RunSucceeded {
		t.Errorf("job %+v", r.Jobs[0])
	}
}

func TestSLS(t *testing.T) {
	const log = `{"num.nodes":2,"num.racks":1}
{"am.type":"mapreduce","job.start.ms":0,"job.end.ms":9000,"job.queue.name":"q","job.id":"job_1","job.user":"u","job.tasks":[
 {"count":2,"container.host":"/r1/n1","container.start.ms":0,"container.end.ms":4000,"container.priority":20,"container.type":"map"},
 {"container.host":"/r1/n2","container.start.ms":4000,"duration.ms":5000,"container.type":"reduce"}]}
{"rack":"r1","nodes":[{"node":"n1"},{"node":"n2"}]}
`
	r := ingesttest.Bytes(t, SLS(), "sls.json", []byte(log))
	if r.Err != nil || r.Decoded != 3 || r.Counts.Rejects != 0 {
		t.Fatalf("error %v, %d objects, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	var durations []float64
	for _, a := range r.Attempts {
		durations = append(durations, a.DurationS.V)
		if a.InputBytes.OK || !a.StartTime.OK || a.Rack != schema.Some("r1") {
			t.Errorf("attempt %+v", a)
		}
	}
	if d := cmp.Diff([]float64{4, 4, 5}, durations); d != "" {
		t.Error(d)
	}
	if len(r.Caveats) != 2 || r.Caveats[1].Code != "no_bytes" {
		t.Errorf("caveats %+v", r.Caveats)
	}
	if len(r.Machines) != 2 || len(r.Phases) != 2 || r.Applications[0].TimeOrigin != "trace" {
		t.Errorf("%d machines, %d phases, origin %s", len(r.Machines), len(r.Phases), r.Applications[0].TimeOrigin)
	}
}

// What the samples of Hadoop's own simulator have (hadoop-sls/src/test/resources: sls_dag.json, nodes-with-resources.json, nodes.json).
func TestSLSVariants(t *testing.T) {
	const log = `{"yarn.sls.am.type":"dag","job.start.ms":2000,"job.id":"job_1","job.tasks":[
 {"container.request.delay":1000,"container.start.ms":6664,"container.end.ms":23707,"container.execution.type":"GUARANTEED"},
 {"container.duration.ms":1500},
 {"container.start.ms":6664}]}
{"rack":"rack1","nodes":[{"node":"node1","memory-mb":2048,"vcores":6},{"node":"node2","labels":"l"},{}]}
`
	r := ingesttest.Bytes(t, SLS(), "x.json", []byte(log))
	if r.Err != nil || r.Counts.Rejects != 0 || len(r.Attempts) != 3 {
		t.Fatalf("error %v, rejects %+v, attempts %+v", r.Err, r.Trace.Rejects, r.Attempts)
	}
	first, timeless, endless := r.Attempts[0], r.Attempts[1], r.Attempts[2]
	if first.QueuedTime != schema.Some(schema.FromMillis(3000)) || first.DurationS != schema.Some(17.043) || first.Status != schema.Success {
		t.Errorf("%+v", first)
	}
	if timeless.DurationS != schema.Some(1.5) || timeless.StartTime.OK || timeless.QueuedTime.OK {
		t.Errorf("%+v", timeless)
	}
	if endless.Status != schema.UnknownStatus || endless.DurationS.OK {
		t.Errorf("a container without an end: %+v", endless)
	}
	want := []schema.Machine{
		{Machine: "node1", Rack: schema.Some("rack1"), Cores: schema.Some(6.0), MemoryBytes: schema.Some[int64](2 << 30)},
		{Machine: "node2", Rack: schema.Some("rack1")},
	}
	if d := cmp.Diff(want, r.Machines); d != "" {
		t.Error(d)
	}
}

// Only what bears on stragglers passes; a credential never does.
func TestConfigurationKeepsNoSecrets(t *testing.T) {
	const conf = `<?xml version="1.0"?><configuration>
<property><name>mapreduce.map.speculative</name><value>true</value></property>
<property><name>fs.s3a.secret.key</name><value>hunter2</value></property>
<!-- <property><name>mapreduce.job.maps</name><value>1</value></property> -->
<property><name>mapreduce.job.queuename</name><value>a&amp;b&#x41;</value></property>
<property><name>mapreduce.job.reduces</name><value>7</value><source>x</source></property>
</configuration>`
	got, err := readConf([]byte(conf))
	want := []schema.Setting{{Name: "mapreduce.job.queuename", Value: "a&bA"}, {Name: "mapreduce.job.reduces", Value: "7"}, {Name: "mapreduce.map.speculative", Value: "true"}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(err, d)
	}
}

// A file that is cut anywhere gives what stands before the cut and never panics.
func TestCutAnywhere(t *testing.T) {
	for cut := range len(lostMap) {
		r := ingesttest.Bytes(t, JobHistory(), "job_1_0001.jhist", []byte(lostMap[:cut]))
		if len(r.Attempts) > 2 || r.Counts.Rejects > 2 {
			t.Fatalf("cut at %d: %d attempts, %d rejects", cut, len(r.Attempts), r.Counts.Rejects)
		}
	}
}

func FuzzJobHistory(f *testing.F) {
	f.Add([]byte(lostMap))
	for _, b := range corpusOrNone("jhist/hadoop-2015/job_0*.jhist") {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ingesttest.Bytes(t, JobHistory(), "job_1_0001.jhist", b)
		checkValid(t, &r)
	})
}

func FuzzAvroDatum(f *testing.F) {
	f.Add([]byte(`{"type":"record","name":"a.R","fields":[{"name":"type","type":{"type":"enum","name":"T","symbols":["JOB_INITED"]}},{"name":"event","type":["null",{"type":"record","name":"E","fields":[{"name":"jobid","type":"string"},{"name":"m","type":{"type":"map","values":"long"}},{"name":"clockSplits","type":{"type":"array","items":"int"}}]}]}]}`), []byte{0, 2, 2, 'j', 2, 2, 'k', 8, 0, 4, 1, 2, 0})
	f.Add([]byte(`{"type":"record","name":"R","fields":[{"name":"event","type":{"type":"record","name":"Q","fields":[{"name":"a","type":["null","Q"]}]}}]}`), []byte{2, 2, 2, 0})
	f.Fuzz(func(t *testing.T, text, datum []byte) {
		typ, err := parseAvro(text)
		if err != nil {
			return
		}
		d := avroDecoder{schema: typ}
		text, n, err := d.json(datum)
		if err != nil {
			return
		}
		whole := bytes.Clone(text)
		if n <= 0 || n > len(datum) {
			t.Fatalf("%d of %d bytes", n, len(datum))
		}
		// What is read of the datum does not depend on what follows it, and a part of it is no datum.
		if again, m, err := d.json(datum[:n]); err != nil || m != n || !bytes.Equal(whole, again) {
			t.Errorf("%d bytes, then %d, %v: %s and %s", n, m, err, whole, again)
		}
		var e eventDecoder
		if e.event(whole, new(event)); !e.pull.End() {
			t.Errorf("%s: %s", e.pull.Why, whole)
		}
		if _, _, err := d.json(datum[:n-1]); err == nil {
			t.Error("a datum that is cut is read")
		}
	})
}

func FuzzJobTracker(f *testing.F) {
	for _, b := range corpusOrNone("hadoop-jobtracker-log/trunc*") {
		f.Add(b)
	}
	f.Add([]byte("Job JOBID=\"job_1_1\" X=\"a\\\" b\" .\nMapAttempt TASK_TYPE=\"MAP\""))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ingesttest.Bytes(t, JobTracker(), "history", b)
		checkValid(t, &r)
	})
}

func FuzzRumen(f *testing.F) {
	f.Add([]byte(`{"jobID":"job_1_1","mapTasks":[{"taskID":"task_1_1_m_0","attempts":[{"attemptID":"attempt_1_1_m_0_0","startTime":5,"finishTime":9,"clockSplits":[2,2]}]}]}`))
	f.Add([]byte(`{"name":"root","children":[{"name":"r","children":[{"name":"h","children":null}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ingesttest.Bytes(t, Rumen(), "trace.json", b)
		checkValid(t, &r)
	})
}

// corpusOrNone gives seeds where the real logs are at hand.
func corpusOrNone(glob string) [][]byte {
	var out [][]byte
	for _, p := range ingesttest.CorpusOrNone(glob) {
		if b, err := os.ReadFile(p); err == nil {
			out = append(out, b)
		}
	}
	return out
}

func BenchmarkJobHistory(b *testing.B) {
	benchmark(b, JobHistory(), "jhist/hadoop-2015/job_1329348432655_0001-10.jhist")
}
func BenchmarkJobTracker(b *testing.B) {
	benchmark(b, JobTracker(), "hadoop-jobtracker-log/dispatch-sample-v20-jt-log.gz")
}
func BenchmarkRumen(b *testing.B) { benchmark(b, Rumen(), "rumen/19-jobs.trace.json.gz") }

func benchmark(b *testing.B, f ingest.Format, path string) {
	for name, data := range corpus(b, path) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			ingesttest.Bytes(b, f, name, data)
		}
	}
}

// Two attempts of a task whose ids, in a damaged log, say the same number have different ones in the table.
func TestAttemptNumbersAreUnique(t *testing.T) {
	log := strings.ReplaceAll(lostMap, "attempt_1_0001_m_000000_1", "attempt_9_0001_m_000000_0")
	r := ingesttest.Bytes(t, JobHistory(), "job_1_0001.jhist", []byte(log))
	if r.Err != nil || len(r.Attempts) != 2 || r.Attempts[0].Number == r.Attempts[1].Number {
		t.Errorf("error %v, attempts %+v", r.Err, r.Attempts)
	}
}
